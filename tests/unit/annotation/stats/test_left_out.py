"""Somebody who has just begun does not decide an unweighted mean: hand-made tables."""

import numpy as np
import pytest

from annotation.stats import cohen
from annotation.stats.agreement import agreement
from annotation.stats.table import MISSING, RatingTable

ITEMS = 20
FIRST = [0, 1, 2, 3] * 5
SECOND = [0, 1, 2, 3, 0, 1, 2, 2] * 2 + [0, 1, 2, 3]


def table(third: list[int]) -> RatingTable:
    """Two raters of 20 items, and a third of the first ``len(third)``."""
    padded = third + [MISSING] * (ITEMS - len(third))
    columns = [FIRST, SECOND, padded] if third else [FIRST, SECOND]
    items, raters = tuple(map(str, range(ITEMS))), ("ann", "ben", "cat")[: len(columns)]
    return RatingTable(np.array(columns).T, (1, 2, 3, 4), "ordinal", items, raters)


def codes(found) -> set[str]:
    return {warning.code for warning in found.warnings}


def test_a_rater_of_three_items_is_listed_and_left_out_of_means():
    alone, joined = agreement(table([]), bootstrap=200), agreement(table([1, 0, 0]), bootstrap=200)
    assert [pair.in_mean for pair in joined.pairs] == [True, False, False]
    assert [pair.n for pair in joined.pairs] == [20, 3, 3]
    for name in ("mean_pairwise_cohen_kappa", "mean_pairwise_weighted_cohen_kappa", "icc_2_1", "icc_3_k"):
        assert joined.coefficients[name].value == pytest.approx(alone.coefficients[name].value), name
    assert joined.coefficients["icc_2_1"].n_raters == 2
    assert {"pairs_left_out", "raters_left_out"} <= codes(joined)
    assert not {"pairs_left_out", "raters_left_out"} & codes(alone)
    message = next(warning.message for warning in joined.warnings if warning.code == "pairs_left_out")
    assert "ann and cat (3); ben and cat (3)" in message


def test_a_rater_of_a_fifth_of_the_items_counts():
    joined = agreement(table([0, 1, 2, 0]), bootstrap=0)
    assert [pair.in_mean for pair in joined.pairs] == [True, True, True]
    mean = np.mean([pair.cohen_kappa.value for pair in joined.pairs])
    assert joined.coefficients["mean_pairwise_cohen_kappa"].value == pytest.approx(mean)
    assert joined.coefficients["icc_2_1"].n_items == 4
    assert "pairs_left_out" not in codes(joined)


def test_the_rater_who_has_just_begun_has_a_mean_of_its_own():
    joined = agreement(table([0, 1, 1]), bootstrap=0)
    cat = joined.raters[2]
    assert cat.rater == "cat"
    assert cat.cohen_kappa.value == pytest.approx(np.mean([pair.cohen_kappa.value for pair in joined.pairs[1:]]))
    ann = joined.raters[0]
    assert ann.cohen_kappa.value == pytest.approx(joined.pairs[0].cohen_kappa.value), "ben, and not cat"


def test_nobody_without_items_is_enough():
    assert cohen.enough(np.array([0, 0])).tolist() == [False, False]
    assert cohen.enough(np.array([10, 2, 1, 0])).tolist() == [True, True, False, False]
