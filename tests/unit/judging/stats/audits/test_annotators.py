"""The judge beside kinds of annotators: people are compared, not ratings."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from judging.stats.audits.annotators import (
    LEAST_PEOPLE,
    agreement_differences,
    annotator_subgroups,
    compute_differences,
)


def test_differences_of_scores() -> None:
    judge, people = np.array([3.0, np.nan]), np.array([[1.0, np.nan], [2.0, 2.0]])
    found = compute_differences(judge, people)
    assert found[0, 0] == 2
    assert np.isnan(found).sum() == 3


def test_differences_of_agreement_by_hand() -> None:
    # item 1: people say 0, 0, 1 and the judge 0. Person 1: the judge agrees, one of two others does: 1 - 1/2.
    # Person 3: the judge does not, and nobody else does: 0. Item 2 has one person only, item 3 no judge.
    judge = np.array([0, 1, -1])
    people = np.array([[0, 0, 1], [1, -1, -1], [0, 0, 0]])
    found = agreement_differences(judge, people)
    assert found[0].tolist() == [0.5, 0.5, 0.0]
    assert np.isnan(found[1:]).all()


def test_effect_and_interval_by_hand() -> None:
    # Ten items, everybody rates all. Group a is 1, 2, 3 above the person, group b 0, 0, 3 on every item.
    offsets = np.array([1.0, 2.0, 3.0, 0.0, 0.0, 3.0])
    found = annotator_subgroups(np.tile(offsets, (10, 1)), ["a", "a", "a", "b", "b", "b"])
    assert found.effect.value == pytest.approx(1.0)  # 2 - 1, whichever group stands out
    # Welch: variances of the means 1/3 and 3/3, df = (4/3)^2 / ((1/3)^2/2 + 1/2) = 3.2; two groups: level 0.05 / 2
    half = stats.t.ppf(1 - 0.05 / 4, 3.2) * np.sqrt(4 / 3)
    assert found.effect.high - found.effect.value == pytest.approx(half)
    assert found.details["a"].value == pytest.approx(2.0)
    assert (found.effect.n_items, found.effect.n_raters, found.effect.n_ratings) == (10, 7, 60)


def planted(rng: np.random.Generator, *, bias: float, people: int = 16, items: int = 60) -> float:
    """p-value where half of the people, themselves of differing severity, are judged with a bias against them."""
    severity = rng.normal(0, 0.4, people)
    d = severity + rng.normal(0, 1, (items, people)) + bias * (np.arange(people) < people // 2)
    groups = ["young" if one < people // 2 else "old" for one in range(people)]
    return annotator_subgroups(d, groups).p_value


@pytest.mark.long
def test_false_alarms_and_power() -> None:
    rng = np.random.default_rng(11)
    clean = np.mean([planted(rng, bias=0.0) <= 0.05 for _ in range(300)])
    assert clean <= stats.binom.ppf(0.999, 300, 0.05) / 300
    assert np.mean([planted(rng, bias=1.0) <= 0.05 for _ in range(40)]) >= 0.9


def test_one_harsh_person_is_no_group() -> None:
    """A test over ratings would find 300 ratings of one person against 2700 of others and be certain."""
    rng = np.random.default_rng(2)
    d = rng.normal(0, 0.5, (300, 10))
    d[:, 0] += 3
    found = annotator_subgroups(d, ["a"] * 3 + ["b"] * 7)
    assert found.p_value > 0.05
    assert found.effect.low < 0 < found.effect.high


def test_groups_of_few_people_are_left_out() -> None:
    d = np.random.default_rng(1).normal(0, 1, (20, 8))
    found = annotator_subgroups(d, ["a"] * 3 + ["b"] * 3 + ["c"] * 2)
    assert set(found.details) == {"a", "b"}
    assert found.effect.n_raters == 7


@pytest.mark.parametrize(
    ("d", "groups", "reason"),
    [
        (np.ones((20, 5)), ["a", "a", "a", "b", "b"], f"{LEAST_PEOPLE} annotators or more"),
        (np.ones((20, 6)), [None] * 6, "annotators or more"),
        (np.ones((20, 6)), ["a"] * 3 + ["b"] * 3, "the same for every annotator"),
        (np.ones((9, 6)), ["a"] * 3 + ["b"] * 3, "9 items"),
        (np.full((20, 6), np.nan), ["a"] * 3 + ["b"] * 3, "annotators or more"),
        (np.empty((0, 0)), [], "annotators or more"),
    ],
)
def test_what_cannot_be_told_says_why(d, groups, reason) -> None:
    found = annotator_subgroups(d, groups)
    assert reason in found.effect.reason
    assert np.isnan(found.effect.value)
    assert np.isnan(found.p_value)


def test_no_spread_within_groups_gives_no_interval() -> None:
    found = annotator_subgroups(np.tile([1.0, 1, 1, 0, 0, 0], (12, 1)), ["a"] * 3 + ["b"] * 3)
    assert found.effect.value == pytest.approx(1.0)
    assert np.isnan(found.effect.low)
    assert "do not differ" in found.effect.reason
