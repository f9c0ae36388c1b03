"""A judge's labels from a table."""

from __future__ import annotations

import pytest

from annotation.studies.models.studies import Study
from core.errors import InputError
from core.files.input_files import InputFile
from judging.runs.imports import ratings
from judging.runs.models.runs import JudgeRun, Judgment
from tests.support.factories import ResponsePairFactory

pytestmark = pytest.mark.django_db
TEXT = (
    "item,criterion,value,order,repeat,reason,explanation\n"
    "a,preference,1,AB,1,,clearer\n"
    "a,preference,2,BA,1,,\n"
    "b,preference,,AB,1,refusal,\n"
    "b,preference,,BA,1,,\n"
)


@pytest.fixture
def load(tmp_path):
    for name in ("a", "b"):
        ResponsePairFactory(external_id=name)

    def write_and_load(text: str = TEXT, judge: str = "gpt-x", **options) -> dict:
        path = tmp_path / "j.csv"
        path.write_text(text, encoding="utf-8")
        file = InputFile.from_path(path, "j.csv")
        return ratings.load(by=None, file=file, study="Pilot", judge=judge, **options).to_document()

    return write_and_load


def test_they_become_a_finished_run(load):
    document = load()
    assert document["created"] == {"judges": 1, "judgments": 4}
    assert document["study"] == "Pilot"
    run = JudgeRun.objects.get()
    assert (run.judge.name, run.judge.provider, run.order_policy) == ("gpt-x", "imported", "both")
    assert run.finished_at
    rows = Judgment.objects.order_by("pk").values_list("value", "order", "unscored_reason", "explanation")
    assert list(rows) == [
        ("1", "AB", "", "clearer"),
        ("2", "BA", "", ""),
        ("", "AB", "refusal", ""),
        ("", "BA", "no value", ""),
    ]


def test_a_second_import_changes_nothing(load):
    load()
    assert load()["unchanged"] == {"judges": 1, "judgments": 4}
    assert JudgeRun.objects.count() == 1


def test_other_labels_are_a_new_run_and_another_judge_is_another(load):
    load()
    assert load(TEXT.replace("preference,2", "preference,1"))["created"] == {"judges": 0, "judgments": 4}
    assert load(judge="gpt-y")["created"] == {"judges": 1, "judgments": 4}
    assert JudgeRun.objects.count() == 3


def test_repeats_are_counted(load):
    load("item,criterion,value,repeat\na,preference,1,1\na,preference,2,2\n")
    run = JudgeRun.objects.get()
    assert (run.repeats, run.order_policy) == (2, "random")


def test_a_value_off_the_scale_keeps_nothing(load):
    with pytest.raises(InputError, match=r"j.csv, line 2, field value: '5' is not on the scale"):
        load(TEXT.replace("a,preference,1", "a,preference,5"))
    assert not Study.objects.exists()


@pytest.mark.parametrize("judge", ["", "x" * 121])
def test_a_judge_needs_a_name(load, judge):
    with pytest.raises(InputError, match="field judge"):
        load(judge=judge)
