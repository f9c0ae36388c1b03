"""Marks of checks and repeats, by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import isnan

import pytest

from annotation.stats.checks import CheckComparison, Mark, marks, mean_mark, record, records, stretches
from annotation.stats.shares import wilson

START = datetime(2026, 1, 1, tzinfo=UTC)


def said(number: int, *same: bool | None, who: str = "ann", kind: str = "accuracy") -> list[CheckComparison]:
    """An item with an answer to each of the criteria a, b, …"""
    return [
        CheckComparison(who, kind, number, "abc"[place], number, START + timedelta(minutes=number), one)
        for place, one in enumerate(same)
    ]


def test_an_item_counts_once_however_many_criteria_it_has() -> None:
    found = record("ann", "accuracy", [*said(1, True, True), *said(2, True, False), *said(3, False, False)])
    # marks 1, 1/2 and 0: mean 1/2 of n = 3; Wilson at 95 %: centre 1/2, half-width
    # 1.96 / (1 + 3.8415/3) * sqrt(0.25/3 + 3.8415/36) = 0.3746
    assert found.overall.value == pytest.approx(0.5)
    assert found.overall.n_items == 3
    assert (found.overall.low, found.overall.high) == pytest.approx((0.1254, 0.8746), abs=1e-4)
    assert found.by_criterion["a"].value == pytest.approx(2 / 3)
    assert found.by_criterion["b"].value == pytest.approx(1 / 3)


def test_a_criterion_asked_of_turns_counts_an_item_once() -> None:
    turns = [
        CheckComparison("ann", "accuracy", item, "a", item, START, one)
        for item, answers in {1: (True, True, True, False), 2: (False, False)}.items()
        for one in answers
    ]
    found = record("ann", "accuracy", turns)
    # item 1 has 3 of 4 turns right, item 2 none: mean of 3/4 and 0, of two items and not of six answers
    assert (found.by_criterion["a"].value, found.by_criterion["a"].n_items) == (0.375, 2)
    assert (found.overall.value, found.overall.n_items) == (0.375, 2)


def test_items_of_one_cluster_are_worth_less_than_as_many_alone() -> None:
    # twelve items of four profiles, which an annotator knows or does not: the interval is that of few profiles
    right = [number % 4 < 2 for number in range(1, 13)]
    alone = [answer for number, one in enumerate(right, start=1) for answer in said(number, one)]
    profiles = [replace(answer, cluster=f"profile {answer.number % 4}") for answer in alone]
    own = [replace(answer, cluster=f"profile {answer.number}") for answer in alone]
    found, shared, single = (record("ann", "accuracy", answers) for answers in (alone, profiles, own))
    assert single == found
    assert shared.overall.value == found.overall.value == 0.5
    assert shared.overall.n_items == 12
    # p (1 - p) / se^2 of four profiles is 3; times (z / t)^2 with 3 degrees of freedom
    n = 3 * (1.959964 / 3.182446) ** 2
    assert (shared.overall.low, shared.overall.high) == pytest.approx(wilson(0.5, n, 0.95), abs=1e-5)
    assert shared.stretches[0].estimate.method == "Wilson, effective n"


def test_a_cluster_that_holds_all_items_gives_no_interval() -> None:
    answers = [replace(answer, cluster="p") for number in range(1, 9) for answer in said(number, number % 2 == 0)]
    found = record("ann", "consistency", [replace(answer, kind="consistency") for answer in answers]).overall
    assert found.value == 0.5
    assert isnan(found.low)
    assert found.reason == "no interval: one cluster"


def test_cannot_judge_is_neither_right_nor_wrong() -> None:
    found = record("ann", "accuracy", [*said(1, True, None), *said(2, None, None)])
    assert found.overall.value == 1.0
    assert found.overall.n_items == 1
    assert found.unscored == 3
    assert set(found.by_criterion) == {"a"}


def test_nothing_scored_is_undefined_with_a_reason() -> None:
    found = record("ann", "consistency", said(1, None, kind="consistency"))
    assert isnan(found.overall.value)
    assert found.overall.reason == "no repeats answered"
    assert found.stretches == ()
    assert mean_mark([], "accuracy").reason == "no checks answered"
    assert found.to_json()["value"] is None


def test_stretches_follow_the_order_in_which_items_were_given() -> None:
    answers = [one for number in range(24, 0, -1) for one in said(number, number <= 10)]
    (found,) = records(answers)
    # 10, then 14: a rest of 4 is shorter than half a stretch
    assert [(part.first, part.last) for part in found.stretches] == [(1, 10), (11, 24)]
    assert [part.estimate.value for part in found.stretches] == [1.0, 0.0]
    assert found.stretches[1].until == START + timedelta(minutes=24)


@pytest.mark.parametrize(("n", "sizes"), [(0, []), (3, [3]), (10, [10]), (14, [14]), (15, [10, 5]), (30, [10, 10, 10])])
def test_a_short_rest_goes_to_the_stretch_before(n: int, sizes: list[int]) -> None:
    assert [len(part) for part in stretches([Mark(one, START, 1.0) for one in range(n)])] == sizes


def test_people_and_kinds_are_kept_apart() -> None:
    answers = [*said(1, True), *said(2, False, who="ben"), *said(3, True, kind="consistency")]
    found = records(answers)
    assert [(one.annotator, one.kind, one.overall.value) for one in found] == [
        ("ann", "accuracy", 1.0),
        ("ann", "consistency", 1.0),
        ("ben", "accuracy", 0.0),
    ]
    assert len(marks(answers)) == 3
    assert records([]) == []
