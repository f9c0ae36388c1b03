"""Columns of a finished run are kept, and are those that would be made anew."""

from __future__ import annotations

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.studies.models.studies import Criterion
from judging.assessment.queries import reply_columns
from judging.assessment.queries.assessment_data import JudgeData, StudyData
from judging.runs.models.runs import JudgeRun, Judgment
from tests.db.judging.assessment.services.judged import study

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def worth_keeping(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reply_columns, "WORTH", 1)


@pytest.fixture
def criterion() -> Criterion:
    made = study(n=12)
    JudgeRun.objects.update(finished_at=timezone.now())
    return made


def load(criterion: Criterion) -> tuple[JudgeData, int]:
    """The judge beside people, and how many times judgments were read."""
    with CaptureQueriesContext(
        connection,
    ) as said:
        evidence = StudyData.load(criterion.study)
        (found,) = evidence.load_judges(evidence.judges())
    return found, sum('FROM "judging_judgment"' in one["sql"] for one in said)


def codes(found: JudgeData, criterion: Criterion) -> list[int]:
    return found.evidence[criterion.key].said.codes.tolist()


def test_what_is_kept_is_what_would_be_made(criterion: Criterion) -> None:
    Judgment.objects.filter(item__position=3).update(value="", unscored_reason="unparsable")
    made, n_made = load(criterion)
    kept, n_kept = load(criterion)
    assert (n_made, n_kept) == (1, 0)
    one, other = made.evidence[criterion.key].said, kept.evidence[criterion.key].said
    for name in ("asked", "codes", "score", "confidence", "first", "second", "repeated", "contradicts", "explained"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert made.reasons == kept.reasons == {criterion.key: {"unparsable": 1}}
    assert (made.prompts, made.examples) == (kept.prompts, kept.examples)


def test_a_run_that_goes_on_is_read_again(criterion: Criterion) -> None:
    JudgeRun.objects.update(finished_at=None)
    before, _ = load(criterion)
    Judgment.objects.filter(item__position=1).update(value="4")
    after, n = load(criterion)
    assert n == 1
    assert codes(before, criterion) != codes(after, criterion)


def test_a_run_that_was_asked_again_is_read_again(criterion: Criterion) -> None:
    load(criterion)
    Judgment.objects.filter(item__position=1).update(value="", unscored_reason="refused")
    JudgeRun.objects.update(finished_at=timezone.now())
    found, n = load(criterion)
    assert n == 1
    assert found.reasons == {criterion.key: {"refused": 1}}


def test_other_items_or_names_of_the_scale_make_other_columns(criterion: Criterion) -> None:
    load(criterion)
    criterion.study.items.filter(position=12).delete()
    assert load(criterion)[1] == 1
    assert load(criterion)[1] == 0
    criterion.categories = [dict(one, label=f"{one['label']}!") for one in criterion.categories]
    criterion.save()
    assert load(criterion)[1] == 1


def test_columns_of_few_items_are_made_as_fast_as_looked_up(
    criterion: Criterion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reply_columns, "WORTH", 500)
    load(criterion)
    assert load(criterion)[1] == 1
