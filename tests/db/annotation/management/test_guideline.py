"""`manage.py guideline`."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.support.factories import AnnotationFactory, CriterionFactory, StudyFactory, scale

OTHER_SCALE = b'[[categories]]\nvalue="1"\n[[categories]]\nvalue="9"\nlabel="y"'

pytestmark = pytest.mark.django_db


@pytest.fixture
def criterion():
    study = StudyFactory(name="Pilot", slug="pilot")
    return CriterionFactory(study=study, key="fit", guideline="Look.", categories=scale("no", "yes"))


def run(*args: str) -> dict:
    out = StringIO()
    call_command("guideline", "--study", "Pilot", "--criterion", "fit", *args, "--json", stdout=out)
    return json.loads(out.getvalue())


def test_the_versions_of_a_guideline_that_was_never_edited(criterion) -> None:
    AnnotationFactory(criterion=criterion, assignment__item__study=criterion.study)
    found = run()
    assert found["current"] == 1
    assert [(one["version"], one["labels"], one["guideline"]) for one in found["versions"]] == [(1, 1, "Look.")]


def test_a_toml_file_makes_a_version(criterion, tmp_path: Path) -> None:
    file = tmp_path / "new.toml"
    file.write_text(
        'question = "Does it fit?"\n[[categories]]\nvalue = "1"\nguideline = "It does not."\n'
        '[[categories]]\nvalue = "2"\nguideline = "It does."\n'
    )
    found = run("--file", str(file), "--reason", "Clearer")
    assert found["current"] == 2
    newest = found["versions"][0]
    assert (newest["question"], newest["guideline"], newest["reason"]) == ("Does it fit?", "Look.", "Clearer")
    assert [one["label"] for one in newest["categories"]] == ["no", "yes"]


def test_a_text_file_is_the_guideline(criterion, tmp_path: Path) -> None:
    file = tmp_path / "new.txt"
    file.write_text("Look twice. 再看一次\n", encoding="utf-8")
    assert run("--file", str(file), "--reason", "More care")["versions"][0]["guideline"] == "Look twice. 再看一次"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.toml", b"question = ", "a.toml: is not TOML"),
        ("a.toml", b'other = "x"', "says none of question"),
        ("a.toml", b"question = 3", "field question: is a text"),
        ("a.toml", b"categories = 3", "field categories"),
        ("a.toml", OTHER_SCALE, "cannot change any more"),
        ("a.txt", b"Look.", "Nothing was changed"),
        ("a.txt", b"\xff\xfe", "line 1: is not UTF-8"),
        ("a.txt", b" ", "is empty"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(criterion, tmp_path: Path, name: str, text: bytes, message: str) -> None:
    AnnotationFactory(criterion=criterion, assignment__item__study=criterion.study)
    file = tmp_path / name
    file.write_bytes(text)
    with pytest.raises(CommandError) as wrong:
        run("--file", str(file), "--reason", "Clearer")
    assert wrong.value.returncode == 2
    assert message in str(wrong.value)
    criterion.refresh_from_db()
    assert criterion.guideline_version == 1


def test_a_criterion_that_is_not_there_and_a_reason_without_a_file(criterion) -> None:
    with pytest.raises(CommandError, match="there are fit"):
        call_command("guideline", "--study", "Pilot", "--criterion", "other")
    with pytest.raises(CommandError, match="belongs to --file"):
        run("--reason", "Why")
