"""`rubric`, and `study --rubric`."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command

from annotation.studies.criteria import RUBRICS
from annotation.studies.models.studies import Study
from annotation.studies.parsing.rubric_files import read_text, write_rubric
from annotation.studies.queries.criteria import load_rubric
from annotation.studies.services import studies
from tests.support.answer_types import PAIR

pytestmark = pytest.mark.django_db


def run(capsys, *arguments: str) -> dict:
    call_command(*arguments, "--json")
    return json.loads(capsys.readouterr().out)


def test_a_file_is_checked(capsys, tmp_path):
    path = tmp_path / "r.toml"
    path.write_text(write_rubric(RUBRICS["factuality"], "toml"), encoding="utf-8")
    found = run(capsys, "rubric", "check", str(path))
    assert found["types"] == {"claims": "spans", "factual": "choice", "correction": "text"}
    call_command("rubric", "check", str(path))
    assert "types: claims (spans), factual (choice), correction (text)\n" in capsys.readouterr().out
    path.write_text('[[criterion]]\nkey = "c"\nquestion = "?"\ntype = "number"\nlimits = { least = 2, most = 1 }\n')
    with pytest.raises(CommandError, match=r"r.toml, field criterion.c.limits: the least value, 2,") as caught:
        call_command("rubric", "check", str(path))
    assert caught.value.returncode == 2


def test_the_rubric_of_a_study_goes_out_and_in(capfd, tmp_path):
    study = studies.create(by=None, name="Pilot", kind="pair", rubric=PAIR)
    path = tmp_path / "r.yaml"
    assert run(capfd, "rubric", "export", "Pilot", "--format", "yaml", "-o", str(path))["criteria"][0] == "preference"
    assert read_text(path.read_text(encoding="utf-8"), "yaml") == load_rubric(study)
    call_command("rubric", "export", "pilot")
    assert read_text(capfd.readouterr().out, "toml") == load_rubric(study)
    call_command("rubric", "export", "pilot", "-o", "-")
    assert read_text(capfd.readouterr().out, "toml") == load_rubric(study)
    made = run(capfd, "study", "Again", "--rubric", str(path))
    assert (made["kind"], made["criteria"]) == ("pair", [one["key"] for one in PAIR["criterion"]])
    shorter = tmp_path / "shorter.json"
    shorter.write_text(json.dumps({**PAIR, "criterion": PAIR["criterion"][:2]}))
    assert run(capfd, "rubric", "change", "Again", str(shorter))["removed"] == [
        "order",
        "ends",
        "errors",
        "why",
        "better",
    ]


def test_templates_are_listed_written_and_used(capsys):
    listed = run(capsys, "rubric", "templates")["templates"]
    assert [one["template"] for one in listed] == list(RUBRICS)
    call_command("rubric", "templates", "translation_mqm")
    assert read_text(capsys.readouterr().out, "toml") == RUBRICS["translation_mqm"]
    run(capsys, "study", "MQM", "--rubric", "translation_mqm")
    assert Study.objects.get().kind == "pair"


def test_a_rubric_of_another_kind_is_refused(tmp_path):
    studies.create(by=None, name="Pilot", kind="dialogue", criteria=["task_completion"])
    path = tmp_path / "r.json"
    path.write_text(json.dumps(PAIR))
    with pytest.raises(CommandError, match="This rubric is for pairs, and the study has dialogues"):
        call_command("rubric", "change", "Pilot", str(path))
