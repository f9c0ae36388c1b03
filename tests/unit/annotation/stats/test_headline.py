"""The headline coefficient of each level of scale, and that on numbers it is what it is said to be."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from annotation.stats.agreement import AgreementResult, agreement
from annotation.stats.headline import CONCORDANCE, UNWEIGHTED, WEIGHTED, choose_headline
from annotation.stats.table import RatingTable

SCALE = [0.0, 0.5, 2.0, 3.0, 7.0, 10.0]
"""Numbers at unequal steps."""


@pytest.mark.parametrize(
    ("level", "categories", "expected"),
    [
        ("nominal", 3, UNWEIGHTED),
        ("ordinal", 2, UNWEIGHTED),
        ("ordinal", 5, WEIGHTED),
        ("interval", 2, UNWEIGHTED),
        ("interval", 5, CONCORDANCE),
        ("ratio", 5, CONCORDANCE),
    ],
)
def test_one_coefficient_for_each_level(level, categories, expected) -> None:
    assert choose_headline(level, categories) is expected


def random_ratings(seed: int, raters: int) -> np.ndarray:
    """(n, r) numbers of the scale: raters of other leniency and noise."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 80))
    truth, lenient = rng.normal(3, 3, (n, 1)), rng.normal(0, 1.5, raters)
    told = truth + lenient + rng.normal(0, 1, (n, raters)) * rng.uniform(0.5, 4, raters)
    return np.array(SCALE)[np.abs(told[..., None] - np.array(SCALE)).argmin(axis=-1)]


def result(ratings: np.ndarray) -> AgreementResult:
    return agreement(RatingTable.from_wide(ratings.tolist(), categories=SCALE, level="interval"), bootstrap=0)


def concordance(x: np.ndarray, y: np.ndarray) -> float:
    """Lin's coefficient, with moments over n as he has them."""
    return float(2 * np.cov(x, y, ddof=0)[0, 1] / (x.var() + y.var() + (x.mean() - y.mean()) ** 2))


@pytest.mark.parametrize("seed", range(60))
def test_on_numbers_it_is_the_mean_concordance_of_pairs(seed: int) -> None:
    ratings = random_ratings(seed, 2 + seed % 4)
    expected = np.mean([concordance(x, y) for x, y in combinations(ratings.T, 2)])
    assert result(ratings).coefficients[CONCORDANCE.people].value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(60))
def test_of_two_raters_it_is_icc_and_interval_alpha_up_to_stated_terms(seed: int) -> None:
    ratings = random_ratings(seed, 2)
    found = result(ratings).coefficients
    headline, (x, y), n = found[CONCORDANCE.people].value, ratings.T, len(ratings)
    d2, v, c = (x.mean() - y.mean()) ** 2, (x - y).var(ddof=1), np.cov(x, y)[0, 1]
    assert 1 / found["icc_2_1"].value == pytest.approx(1 / headline - (v / n + d2 / (n - 1)) / (2 * c), abs=1e-9)
    # alpha expects what the pooled 2 n values would disagree by: a difference of the means counts half
    spread = x.var() + y.var()
    apart = (1 - headline) * (spread + d2) / (spread + d2 / 2) * (2 * n - 1) / (2 * n)
    assert found["krippendorff_alpha"].value == pytest.approx(1 - apart, abs=1e-9)
