"""The signs of many annotators are those of the full report."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.stats.annotators import annotator_report
from annotation.stats.majority import majority
from annotation.stats.signs import annotator_signs, majorities_without
from annotation.stats.table import MISSING, RatingTable


def drawn(level: str, *, n_items: int = 60, n_raters: int = 6) -> RatingTable:
    """Three of six rate each item; the last one turns the scale round, the first always says the same."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 4, n_items)
    codes = np.where(rng.random((n_items, n_raters)) < 0.7, truth[:, None], rng.integers(0, 4, (n_items, n_raters)))
    codes[:, 0], codes[:, -1] = 2, 3 - truth
    for row in codes:
        row[rng.permutation(n_raters)[3:]] = MISSING
    names = tuple(f"r{n}" for n in range(n_raters))
    return RatingTable(codes, (1, 2, 3, 4), level, tuple(f"i{n}" for n in range(n_items)), names)


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
def test_they_say_what_the_report_says(level: str) -> None:
    table = drawn(level)
    full = annotator_report(table, bootstrap=200, seed=3).annotators
    brief = annotator_signs(table, bootstrap=200, seed=3)
    for one, other in zip(brief, full, strict=True):
        kappa, expected = one.kappa.to_json(), other.versus["majority_cohen_kappa"].to_json()
        assert kappa == pytest.approx(expected, nan_ok=True)
        flags = ("annotator", "n_ratings", "inverted", "constant", "straight_lining")
        assert [getattr(one, name) for name in flags] == [getattr(other, name) for name in flags]
    assert [one.annotator for one in brief if one.constant] == ["r0"]
    assert [one.annotator for one in brief if one.inverted] == ([] if level == "nominal" else ["r5"])


def test_the_majority_without_somebody_is_that_of_a_table_without_them() -> None:
    table = drawn("ordinal")
    found = majorities_without(table, [0, 3])
    for place, column in enumerate((0, 3)):
        others = table.replace_codes(np.where(np.arange(6) == column, MISSING, table.codes))
        np.testing.assert_array_equal(found[:, place], majority(others).codes)


def test_nobody_and_somebody_alone() -> None:
    nobody = RatingTable(np.full((3, 2), MISSING), (1, 2), "ordinal", ("a", "b", "c"), ("x", "y"))
    assert annotator_signs(nobody, bootstrap=10) == ()
    alone = nobody.replace_codes(np.array([[0, MISSING], [1, MISSING], [1, MISSING]]))
    (one,) = annotator_signs(alone, bootstrap=10)
    assert np.isnan(one.kappa.value)
    assert one.kappa.reason == "no item rated by someone else as well"


def test_equal_answers_to_items_that_are_alike_are_no_straight_line() -> None:
    """20 profiles of 15 items in their order, which often have one right answer: three people who attend to them."""
    rng, alarms = np.random.default_rng(5), 0
    for _ in range(20):
        of_profile = np.repeat(rng.integers(0, 2, 20), 15)
        truth = np.where(rng.random(300) < 0.7, of_profile, rng.integers(0, 2, 300))
        codes = np.where(rng.random((300, 3)) < 0.85, truth[:, None], rng.integers(0, 2, (300, 3)))
        table = RatingTable(codes, ("no", "yes"), "nominal", tuple(map(str, range(300))), ("a", "b", "c"))
        alarms += sum(one.straight_lining for one in annotator_signs(table, bootstrap=0))
        codes[200:, 0] = 1
        assert annotator_signs(table.replace_codes(codes), bootstrap=0)[0].straight_lining
    assert alarms <= 1  # 29 % of the 60 where the others' answers are not looked at
