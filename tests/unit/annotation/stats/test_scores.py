"""Correlations, macro scores and means against scipy and scikit-learn, with weights as repetitions."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats
from sklearn.metrics import f1_score, precision_score, recall_score

from annotation.stats.resampling import PreparedGroups, PreparedSums, Resampling
from annotation.stats.scores import build_masked_means, macro_scores, pearson, rank_correlations, spearman

from .data import from_codes

X = np.array([1.0, 2, 2, 5, 4, 1, np.nan, 3])
Y = np.array([2.0, 1, 3, 3, 3, 0, 1, np.nan])
WEIGHTS = np.array([2, 0, 1, 3, 1, 1, 1, 1])


def kendall(x, y):
    """Only the second of both rank correlations."""
    both = rank_correlations(x, y)
    return replace(both, function=lambda totals: both.function(totals)[..., 1:])


ORACLES = {
    spearman: lambda x, y: stats.spearmanr(x, y).statistic,
    kendall: lambda x, y: stats.kendalltau(x, y).statistic,
    pearson: lambda x, y: stats.pearsonr(x, y).statistic,
}


def at(statistic, weights):
    return statistic.evaluate(np.asarray(weights, dtype=float)[None, :])[0]


@pytest.mark.parametrize("function", ORACLES)
class TestCorrelations:
    def test_ties_and_missing(self, function):
        both = np.isfinite(X) & np.isfinite(Y)
        assert at(function(X, Y), np.ones(8))[0] == pytest.approx(ORACLES[function](X[both], Y[both]), abs=1e-12)

    def test_a_weight_is_a_repetition(self, function):
        x, y = np.repeat(X, WEIGHTS), np.repeat(Y, WEIGHTS)
        both = np.isfinite(x) & np.isfinite(y)
        assert at(function(X, Y), WEIGHTS)[0] == pytest.approx(ORACLES[function](x[both], y[both]), abs=1e-12)

    def test_without_common_items_or_variation_there_is_none(self, function):
        assert np.isnan(at(function(np.full(3, np.nan), np.arange(3.0)), np.ones(3))).all()
        assert np.isnan(at(function(np.full(3, 0.1), np.arange(3.0)), np.ones(3))).all()
        # a resample in which one column no longer varies
        assert np.isnan(at(function(np.array([0.1, 0.1, 0.7]), np.arange(3.0)), [1, 2, 0])).all()

    @given(
        hnp.arrays(np.int64, st.integers(3, 15), elements=st.integers(0, 4)),
        st.integers(0, 2**32 - 1),
    )
    @settings(max_examples=60)
    def test_random_columns(self, function, x, seed):
        y = np.random.default_rng(seed).integers(0, 5, len(x)) / 3
        found = at(function(x.astype(float), y), np.ones(len(x)))[0]
        if len(set(x)) < 2 or len(set(y)) < 2:
            assert np.isnan(found)
        else:
            assert found == pytest.approx(ORACLES[function](x, y), abs=1e-9)


@pytest.mark.parametrize("function", [spearman, kendall, rank_correlations])
@pytest.mark.parametrize("clusters", [None, tuple("aabbccdd")])
def test_leaving_a_unit_out_ranks_the_rest_afresh(function, clusters):
    resampling = Resampling.from_table(from_codes([[0]] * 8, q=1, clusters=clusters))
    found = PreparedGroups(function(X, Y), resampling).evaluate_left_out()[0]
    for unit in range(resampling.n_units):
        weights = (resampling.unit != unit).astype(float)
        np.testing.assert_allclose(found[unit], at(function(X, Y), weights), atol=1e-12)


def test_groups_and_their_dense_form_are_alike():
    statistic = rank_correlations(X, Y)
    resampling = Resampling.from_table(from_codes([[0]] * 8, q=1))
    dense = PreparedSums.prepare([statistic.dense()], resampling)
    np.testing.assert_allclose(
        dense.evaluate_left_out()[0], PreparedGroups(statistic, resampling).evaluate_left_out()[0], atol=1e-12
    )
    assert at(statistic, WEIGHTS) == pytest.approx(at(statistic.dense(), WEIGHTS))
    assert at(statistic, WEIGHTS) == pytest.approx([at(spearman(X, Y), WEIGHTS)[0], at(kendall(X, Y), WEIGHTS)[0]])


class TestMacroScores:
    @pytest.mark.long
    @given(
        hnp.arrays(np.int64, st.tuples(st.integers(2, 15), st.just(2)), elements=st.integers(0, 3)),
    )
    @settings(max_examples=100)
    def test_are_those_of_scikit_learn(self, codes):
        said, truth = codes.T
        found = at(macro_scores(said, truth, 4), np.ones(len(codes)))
        # scikit-learn leaves out undefined categories only when it is told to; F1 it takes as 0 there, which
        # a category that is said or true but never both deserves, and an unused one does not
        options = {"labels": [0, 1, 2, 3], "average": "macro", "zero_division": np.nan}
        assert found[0] == pytest.approx(precision_score(truth, said, **options), abs=1e-12)
        assert found[1] == pytest.approx(recall_score(truth, said, **options), abs=1e-12)
        used = sorted(set(said) | set(truth))
        expected = f1_score(truth, said, labels=used, average="macro", zero_division=0)
        assert found[2] == pytest.approx(expected, abs=1e-12)

    def test_missing_takes_no_part(self):
        said, truth = np.array([0, 1, -1, 1]), np.array([0, 1, 1, -1])
        assert at(macro_scores(said, truth, 2), np.ones(4)).tolist() == [1, 1, 1]

    def test_nothing_in_common_is_undefined(self):
        assert np.isnan(at(macro_scores(np.array([-1]), np.array([0]), 2), np.ones(1))).all()


def test_masked_means():
    values = np.array([[1.0, np.nan], [3.0, np.nan]])
    found = build_masked_means(values).evaluate(np.array([[1.0, 1.0], [1.0, 3.0]]))
    np.testing.assert_array_equal(found, [[2, np.nan], [2.5, np.nan]])
