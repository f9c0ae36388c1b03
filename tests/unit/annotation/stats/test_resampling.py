from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from annotation.stats.arrays import ratio
from annotation.stats.chance_corrected import chance_corrected
from annotation.stats.intervals import bca_ends, compute_intervals
from annotation.stats.resampling import (
    Draws,
    GroupStatistic,
    PreparedGroups,
    PreparedSums,
    Resampling,
    SumStatistic,
    replicate,
)

from .data import from_codes

RNG = np.random.default_rng(20240229)
CODES = RNG.integers(0, 3, (40, 3))


def mean_of(x):
    """The mean of a column as a statistic of sums."""
    columns = np.column_stack([x, np.ones_like(x)])
    return SumStatistic(columns, lambda sums: ratio(sums[..., :1], sums[..., 1:]))


class TestWeights:
    def test_every_replicate_draws_as_many_items_as_there_are(self):
        drawn = np.concatenate(list(Resampling.from_table(from_codes(CODES, q=3), bootstrap=50).weights()))
        assert drawn.shape == (50, 40)
        assert (drawn.sum(axis=1) == 40).all()

    def test_draws_do_not_depend_on_how_they_are_consumed(self):
        resampling = Resampling.from_table(from_codes(CODES, q=3), bootstrap=300, seed=3)
        again = Resampling.from_table(from_codes(CODES, q=3), bootstrap=300, seed=3)
        first = next(again.weights())
        whole = np.concatenate(list(resampling.weights()))
        assert whole.shape == (300, 40)
        np.testing.assert_array_equal(whole[: len(first)], first)
        np.testing.assert_array_equal(np.concatenate(list(again.weights())), whole)

    def test_items_are_drawn_with_equal_probability(self):
        drawn = np.concatenate(list(Resampling.from_table(from_codes(CODES, q=3), bootstrap=20_000).weights()))
        # the mean of 20,000 counts of mean 1 and variance 1 - 1/40 has a standard error of .007
        np.testing.assert_allclose(drawn.mean(axis=0), 1, atol=5 * 0.007)
        np.testing.assert_allclose(drawn.var(axis=0), 1 - 1 / 40, atol=0.08)

    def test_clusters_are_drawn_whole(self):
        table = from_codes(CODES, q=3, clusters=tuple(str(i // 4) for i in range(40)))
        drawn = np.concatenate(list(Resampling.from_table(table, bootstrap=20).weights()))
        by_cluster = drawn.reshape(20, 10, 4)
        assert (by_cluster == by_cluster[:, :, :1]).all()
        assert (by_cluster[:, :, 0].sum(axis=1) == 10).all()

    def test_strata_keep_their_sizes(self):
        strata = np.array(["b", "a", "c", "a"] * 10)
        drawn = np.concatenate(
            list(Resampling.from_table(from_codes(CODES, q=3, strata=tuple(strata)), bootstrap=20).weights())
        )
        for stratum, size in (("a", 20), ("b", 10), ("c", 10)):
            assert (drawn[:, strata == stratum].sum(axis=1) == size).all()

    def test_weights_of_items_multiply_the_draws(self):
        weights = np.tile([1.0, 3.0], 20)
        plain = Resampling.from_table(from_codes(CODES, q=3), bootstrap=5)
        weighted = Resampling.from_table(from_codes(CODES, q=3, weights=weights), bootstrap=5)
        for a, b in zip(plain.weights(), weighted.weights(), strict=True):
            np.testing.assert_allclose(a * weights / 2, b)

    def test_a_cluster_across_strata_is_refused(self):
        table = from_codes([[0], [1]], q=2, clusters=("x", "x"), strata=("a", "b"))
        with pytest.raises(ValueError, match="more than one stratum"):
            Resampling.from_table(table)


class TestReplicate:
    table = from_codes(CODES, q=3)

    def test_a_replicate_is_the_statistic_of_the_drawn_items(self):
        resampling = Resampling.from_table(self.table, bootstrap=20, seed=1)
        found = replicate([chance_corrected(self.table)], resampling)[0]
        times = np.concatenate(list(resampling.weights())).astype(int)
        for draw, values in zip(times, found.bootstrap, strict=True):
            drawn = from_codes(np.repeat(CODES, draw, axis=0), q=3)
            expected = chance_corrected(drawn).evaluate(np.ones((1, 40)))[0]
            np.testing.assert_allclose(values, expected, atol=1e-12)

    def test_leaving_out_is_the_statistic_of_the_rest(self):
        clusters = tuple(str(i // 2) for i in range(40))
        for more in ({}, {"clusters": clusters}):
            table = from_codes(CODES, q=3, **more)
            resampling = Resampling.from_table(table, bootstrap=1)
            found = replicate([chance_corrected(table)], resampling)[0]
            for unit in range(resampling.n_units):
                rest = from_codes(CODES[resampling.unit != unit], q=3)
                expected = chance_corrected(rest).evaluate(np.ones((1, rest.n_items)))[0]
                np.testing.assert_allclose(found.left_out[unit], expected, atol=1e-12)

    @pytest.mark.parametrize("chunk", [1, 3, 64])
    def test_chunks_do_not_change_the_replicates(self, chunk):
        prepared = PreparedSums.prepare([chance_corrected(self.table)], Resampling.from_table(self.table))
        times = RNG.multinomial(40, np.full(40, 1 / 40), size=64).astype(np.float32)
        parts = [prepared.evaluate(Draws(times[start : start + chunk]))[0] for start in range(0, 64, chunk)]
        np.testing.assert_allclose(np.concatenate(parts), prepared.evaluate(Draws(times))[0], atol=1e-12)

    def test_groups_and_sums_are_alike(self):
        x = RNG.normal(size=40)
        table = from_codes(CODES, q=3, clusters=tuple(str(i // 3) for i in range(40)))
        resampling = Resampling.from_table(table, bootstrap=4)
        by_groups = GroupStatistic(np.arange(40), 40, lambda w: ((w * x).sum(axis=-1) / w.sum(axis=-1))[..., None])
        first, second = replicate([mean_of(x), by_groups], resampling)
        np.testing.assert_allclose(first.bootstrap, second.bootstrap)
        np.testing.assert_allclose(first.left_out, second.left_out)


class TestInterval:
    def test_bca_is_that_of_scipy(self):
        x = RNG.exponential(size=60)
        resampling = Resampling.from_table(from_codes(np.zeros((60, 1)), q=1), bootstrap=20_000, seed=5)
        found = replicate([mean_of(x)], resampling)[0]
        low, high, corrected = bca_ends(found, resampling, resampling.influence(found.left_out))
        assert corrected.tolist() == [True]
        theirs = stats.bootstrap((x,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(6))
        # two independent runs: an upper end varies by .045 of the standard error from run to run
        spread = x.std() / np.sqrt(60)
        assert low[0] == pytest.approx(theirs.confidence_interval.low, abs=0.25 * spread)
        assert high[0] == pytest.approx(theirs.confidence_interval.high, abs=0.25 * spread)

    @pytest.mark.long
    def test_coverage_of_a_kappa(self):
        # 200 tables of 60 items from one population; 95 % intervals should hold its kappa about 190 times
        rng = np.random.default_rng(11)
        cells = np.array([[0.4, 0.1], [0.1, 0.4]])  # kappa (0.8 - 0.5) / 0.5 = 0.6
        held = 0
        for _ in range(200):
            drawn = rng.choice(4, size=60, p=cells.ravel())
            table = from_codes(np.column_stack([drawn // 2, drawn % 2]), q=2)
            resampling = Resampling.from_table(table, bootstrap=500)
            found = compute_intervals(replicate([chance_corrected(table)], resampling)[0], resampling, "coefficient")
            held += found.low[1] <= 0.6 <= found.high[1]
        assert 180 <= held <= 199


def test_no_unit_holds_anything_where_nothing_has_weight():
    whole = Resampling.from_table(from_codes(CODES, q=3), bootstrap=50)
    assert whole.largest_share == pytest.approx(1 / 40)
    assert replace(whole, item_weights=np.zeros(40)).largest_share == 0


def test_a_ratio_over_rounding_is_undefined():
    assert np.isnan(ratio(np.array([1e-17]), np.array([1e-17])))


def test_clusters_of_one_item_named_in_another_order_keep_their_rows():
    table = from_codes([[0, 0], [1, 1], [0, 1]], q=2, clusters=("c", "b", "a"), strata=("x", "x", "y"))
    resampling = Resampling.from_table(table, bootstrap=50, confidence=0.95, seed=0)
    rows = np.array([[1.0], [10.0], [100.0]])
    for draws in resampling.draws():
        np.testing.assert_allclose(
            draws.double @ resampling.sum_by_unit(rows), resampling.draw_item_weights(draws) @ rows
        )
        assert (resampling.draw_item_weights(draws)[:, 2] == 1).all(), "alone in its stratum"


def test_groups_left_out_are_those_of_their_units():
    table = from_codes([[0, 0], [1, 1], [0, 1], [1, 1]], q=2, clusters=("d", "b", "a", "c"))
    resampling = Resampling.from_table(table, bootstrap=10, confidence=0.95, seed=0)
    groups = GroupStatistic(np.array([0, 1, 1, 2]), 3, lambda totals: totals)
    (as_groups,) = PreparedGroups(groups, resampling).evaluate_left_out()
    (as_sums,) = PreparedSums.prepare([groups.dense()], resampling).evaluate_left_out()
    np.testing.assert_allclose(as_groups, as_sums)
