"""Counts, groups and moves of tiers by the difficulty model: against an oracle, by hand, and on what has no answer."""

from dataclasses import replace

import numpy as np
import pytest
import scipy

from annotation.stats import model_tiers
from annotation.stats.bands import TIERS
from annotation.stats.difficulty.items import AGREEMENT_CUTS, Difficulty
from annotation.stats.model_tiers import compare_with_counted, compute_expected_by, count_intervals, few_values, moves
from tests.support.simulated_difficulty import table_of


def fitted(tiers) -> Difficulty:
    """A fit with these probabilities of contested, hard, medium and easy; a row of NaN has no ratings."""
    shares = np.array(tiers, dtype=float)
    n = len(shares)
    value = np.where(np.isnan(shares).any(axis=1), np.nan, 0.3)
    names, nothing = tuple(f"i{k}" for k in range(n)), np.zeros(n)
    codes = np.zeros(n, dtype=np.int64)
    return Difficulty(
        "categories", AGREEMENT_CUTS, (1, 2), names, value, nothing, nothing, shares, shares, codes, people=()
    )


NAN = [np.nan] * 4
SURE = [0.0, 0.0, 0.0, 1.0]
HARD = [0.1, 0.6, 0.3, 0.0]


@pytest.mark.parametrize("n", [1, 7, 50])
def test_counts_are_poisson_binomial(n):
    p = np.random.default_rng(n).dirichlet(np.ones(4), n)
    for k, (low, high) in enumerate(count_intervals(p).values()):
        oracle = scipy.stats.poisson_binom(p[:, k])
        assert (low, high) == (oracle.ppf(0.025), oracle.ppf(0.975))


def test_counts_of_many_items_are_nearly_normal(monkeypatch):
    p = np.random.default_rng(3).dirichlet(np.ones(4), 900)
    exact = count_intervals(p)
    monkeypatch.setattr(model_tiers, "MOST_EXACT", 0)
    for tier, ends in count_intervals(p).items():
        assert ends == pytest.approx(exact[tier], abs=1)


def test_what_is_certain_has_no_width():
    assert count_intervals(np.array([SURE, SURE, NAN]))["easy"] == (2, 2)
    assert count_intervals(np.zeros((0, 4)))["hard"] == (0, 0)
    many = np.tile(SURE, (model_tiers.MOST_EXACT + 1, 1))
    assert count_intervals(many)["contested"] == pytest.approx((0, 0), abs=1e-9)


def test_expected_counts_by_group_add_up_to_the_fitted_items():
    found = compute_expected_by(fitted([SURE, HARD, NAN, HARD]), ["b", "a", "a", "b"])
    assert list(found) == ["a", "b"]
    assert found["a"] == {"n": 1, "contested": 0.1, "hard": 0.6, "medium": 0.3, "easy": 0.0}
    assert sum(found["b"][tier] for tier in TIERS) == pytest.approx(found["b"]["n"])
    with pytest.raises(ValueError, match="3 groups for 1 items"):
        compute_expected_by(fitted([SURE]), ["a", "b", "c"])


def test_counted_tiers_stand_from_easy_on_and_the_rest_last():
    rows = compare_with_counted(fitted([SURE, HARD, HARD, NAN]), ["contested", None, "easy", "medium"])
    assert [(row["counted"], row["n"]) for row in rows] == [("easy", 1), ("contested", 1), ("none", 1)]
    assert rows[1]["expected"] == {"contested": 0.0, "hard": 0.0, "medium": 0.0, "easy": 1.0}


def test_moves_are_counted_in_tiers_and_upwards_is_easier():
    before = fitted([SURE, HARD, HARD, NAN])
    after = replace(before, tiers=np.array([HARD, SURE, HARD, NAN]))
    assert moves(before, after).tolist() == [-2, 2, 0, 0]
    assert moves(before, before).tolist() == [0, 0, 0, 0]


def votes(n_people: int, q: int = 2):
    return table_of(np.zeros((4, n_people), dtype=np.int64), q, "nominal")


def test_nine_votes_on_two_options_reach_no_medium():
    """DESIGN of PersonaFeedback (arXiv 2506.12915): nine votes; kappa of 9-0, 8-1, 7-2, 6-3 and 5-4 by hand."""
    plan = few_values(votes(9))
    by_hand = [(sum(k * (k - 1) for k in split) / 72 - 0.5) / 0.5 for split in ((5, 4), (6, 3), (7, 2), (8, 1), (9, 0))]
    assert plan.values == pytest.approx(by_hand)
    assert plan.empty_bands == ("medium",)


@pytest.mark.parametrize("table", [votes(3), votes(9, q=3), votes(13), votes(0)], ids=["few", "three", "all", "none"])
def test_nothing_is_said_where_it_is_no_surprise(table):
    assert few_values(table) is None
