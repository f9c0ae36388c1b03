"""The commands that may bring labels or judgments with the material."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.corpus.models import ResponsePair
from annotation.studies.models.studies import Study
from core.audit.models import Act
from judging.management.commands.import_personalens import user_numbers
from judging.runs.models.runs import JudgeRun
from tests.support.factories import DialogueFactory, ProjectFactory
from tests.support.personalens_copy import make_copy

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


def run(*arguments) -> dict:
    out = StringIO()
    call_command(*map(str, arguments), "--json", stdout=out)
    return json.loads(out.getvalue())


def test_personalens_with_some_users(tmp_path):
    folder = make_copy(tmp_path / "copy")
    assert run("import_personalens", folder, "--users", "10") == {
        "created": {"profiles": 1, "tasks": 2, "scenarios": 2},
        "updated": {"profiles": 0, "tasks": 0, "scenarios": 0},
        "unchanged": {"profiles": 0, "tasks": 0, "scenarios": 0},
        "skipped": [],
        "warnings": [],
    }


def test_users_that_are_not_there_are_named(tmp_path):
    with pytest.raises(CommandError, match="field users: profile/user0 does not exist"):
        run("import_personalens", make_copy(tmp_path / "copy"), "--users", "0-3,10")


def test_numbers_of_users():
    assert user_numbers("0-3,66") == {0, 1, 2, 3, 66}
    for bad in ("a", "3-", "1,,2", "-2", "5-2", "0-99999999999"):
        with pytest.raises(CommandError):
            call_command("import_personalens", "nowhere", "--users", bad)


@pytest.mark.long
def test_pandalm_names_its_study(shared_data):
    document = run("import_pairs", shared_data / "pandalm", "--format", "pandalm")
    assert document["study"] == "PandaLM"
    assert document["created"]["pairs"] == 999


@pytest.mark.long
def test_personafeedback(shared_data):
    created = run("import_pairs", shared_data / "personafeedback", "--format", "personafeedback")["created"]
    assert created == {"profiles": 40, "pairs": 1547, "benchmarks": 1, "cases": 1547}


def test_pairs_from_jsonl(tmp_path):
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"id": "r", "question": "?", "response_1": "a", "response_2": "b"}')
    assert run("import_pairs", path, "--format", "jsonl", "--source", "mine")["created"] == {"pairs": 1}
    assert ResponsePair.objects.get().source == "mine"


def test_ratings_of_people_and_of_a_judge(tmp_path):
    DialogueFactory(external_id="a")
    path = tmp_path / "r.csv"
    path.write_text("item,rater,criterion,value\na,ann,personalization,3\n")
    assert run("import_ratings", path, "--study", "Pilot")["created"] == {"annotators": 1, "annotations": 1}
    assert run("import_ratings", path, "--study", "Pilot", "--judge", "g")["created"] == {"judges": 1, "judgments": 1}
    assert JudgeRun.objects.get().study == Study.objects.get(name="Pilot")


def test_labels_are_on_record_in_the_project_of_their_study(tmp_path):
    DialogueFactory(external_id="a")
    path = tmp_path / "r.csv"
    path.write_text("item,rater,criterion,value\na,ann,personalization,3\n")
    run("import_ratings", path, "--study", "Pilot")
    ProjectFactory(slug="other")
    home = Study.objects.get(name="Pilot").project
    for judge in ((), ("--judge", "g")):
        run("import_ratings", path, "--study", "Pilot", "--project", home.slug, *judge)
        assert Act.objects.latest("number").project_id == home.pk
        with pytest.raises(CommandError, match="The study is of another project") as refused:
            run("import_ratings", path, "--study", "Pilot", "--project", "other", *judge)
        assert refused.value.returncode == 2


def test_a_rating_off_the_scale_exits_with_2(tmp_path):
    DialogueFactory(external_id="a")
    path = tmp_path / "r.csv"
    path.write_text("item,rater,criterion,value\na,ann,personalization,9\n")
    with pytest.raises(CommandError, match="line 2, field value") as caught:
        run("import_ratings", path, "--study", "Pilot")
    assert caught.value.returncode == 2
