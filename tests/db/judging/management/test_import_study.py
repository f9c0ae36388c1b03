"""`import_study` and `export` for other tools, as they are typed."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command

from annotation.studies.models.studies import Study
from tests.support.factories import CriterionFactory
from tests.support.labelled import judge_says, people_say, with_items

pytestmark = pytest.mark.django_db


def run(capsys, *args: str) -> dict:
    call_command(*args, "--json")
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def pilot():
    study = with_items(2, name="Pilot")
    people_say(CriterionFactory(study=study, key="nat"), {"bob": ["1", "2"]})
    judge_says(study.criteria.get(), "gpt", ["1", "2"])
    return study


def test_export_and_import(pilot, capsys, tmp_path):
    made = run(capsys, "export", "--study", "Pilot", "--format", "labelstudio", "-o", str(tmp_path / "out.json"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.README.md", "out.config.xml", "out.json"]
    assert (made["people"], made["judges"]) == (2, 2)
    assert "evidence" in made["not_shown_there"]
    told = run(capsys, "import_study", str(tmp_path / "out.json"), "--format", "labelstudio", "--study", "Copy")
    assert told["created"] == {"dialogues": 0, "annotators": 1, "annotations": 2, "judges": 0, "judgments": 2}
    assert Study.objects.get(name="Copy").items.count() == 2


def test_a_folder_for_hugging_face(pilot, capsys, tmp_path):
    made = run(capsys, "export", "--study", "Pilot", "--format", "hf", "-o", str(tmp_path / "set"))
    assert {path.removeprefix(str(tmp_path)) for path in made["files"]} == {
        "/set/README.md",
        "/set/data/items.parquet",
        "/set/data/labels.parquet",
        "/set/study.json",
    }


def test_fields_and_judges_are_told_on_the_command_line(capsys, tmp_path):
    chosen = [
        {"completed_by": who, "result": [{"from_name": "pw", "type": "pairwise", "value": {"selected": "left"}}]}
        for who in ("ann", "gpt")
    ]
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps([{"id": 1, "data": {"x": "A", "y": "B"}, "annotations": chosen}]))
    named = ["--fields", "response_1=x", "response_2=y", "--judges", "gpt"]
    told = run(capsys, "import_study", str(path), "--format", "labelstudio", "--study", "LS", *named)
    assert told["created"] == {"pairs": 1, "annotators": 1, "annotations": 1, "judges": 1, "judgments": 1}


def test_another_text_under_a_known_id_is_refused(pilot, tmp_path):
    item = pilot.items.first().dialogue
    row = {"id": item.external_id, "text": "Something else", "label": ["pos"]}
    path = tmp_path / "bob.jsonl"
    path.write_text(json.dumps(row))
    with pytest.raises(CommandError, match="is there with another text"):
        call_command("import_study", str(path), "--format", "doccano", "--study", "D", "--source", item.source)
    assert not Study.objects.filter(name="D").exists()


def test_a_study_of_dialogues_holds_no_votes(pilot, tmp_path):
    with pytest.raises(CommandError, match="holds pairs only"):
        call_command("export", "--study", "Pilot", "--format", "votes", "-o", str(tmp_path / "v"))
