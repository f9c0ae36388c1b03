"""Intervals of small and clustered samples, held to libraries, to formulas by hand, and to simulated populations."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from annotation.stats.agreement import agreement
from annotation.stats.arrays import ratio
from annotation.stats.chance_corrected import NAMES, chance_corrected
from annotation.stats.clustered import estimate_clustered_means
from annotation.stats.intervals import LEAST_UNITS, compute_intervals, estimates
from annotation.stats.jackknife import effective_df, t_ends
from annotation.stats.pairs import count_basis
from annotation.stats.resampling import Resampling, SumStatistic, replicate
from annotation.stats.simulated import Profiles
from annotation.stats.span_agreement import span_agreement
from annotation.stats.table import RatingTable
from judging.stats.agreement import judge_agreement

from .data import from_codes

TWO = Profiles((0.5, 0.5))
"""Two categories, half each, in profiles that differ in what they hold and in how hard they are."""


def kappa_of_two():
    """Kappa of `TWO`: in a profile ratings correlate by r and agree with 1/2 + asin(r) / pi (Sheppard 1899)."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    r = 1 / (1 + (TWO.noises[0] * np.exp(TWO.varied * nodes)) ** 2)
    return 2 / np.pi * np.arcsin(r) @ weights / weights.sum()


def of_mean(x, **more):
    """The mean of ``x`` (n,) with its interval; ``more`` are clusters, strata or weights."""
    table = from_codes(np.zeros((len(x), 1), dtype=int), q=1, **more)
    resampling = Resampling.from_table(table, bootstrap=100)
    columns = np.column_stack([x, np.ones(len(x))])
    mean = SumStatistic(columns, lambda sums: ratio(sums[..., :1], sums[..., 1:]))
    basis = count_basis(table, table.ratings_per_item > 0)
    return estimates(replicate([mean], resampling)[0], resampling, [basis], ["no items"])[0]


class TestStandardError:
    @pytest.mark.parametrize("seed", range(5))
    def test_of_a_mean_in_equal_clusters_is_that_of_statsmodels(self, seed):
        # OLS on a constant, errors by cluster: statsmodels' factor is G / (G - 1) there, as the jackknife's
        rng = np.random.default_rng(seed)
        clusters = np.repeat(np.arange(12), 5)
        x = rng.normal(size=12)[clusters] + rng.normal(size=60)
        fitted = sm.OLS(x, np.ones(60)).fit(cov_type="cluster", cov_kwds={"groups": clusters})
        found = of_mean(x, clusters=tuple(map(str, clusters)))
        assert found.value == pytest.approx(fitted.params[0])
        assert found.se == pytest.approx(fitted.bse[0], rel=1e-9)

    def test_of_a_mean_of_single_items_is_that_of_the_t_test(self):
        x = np.random.default_rng(3).uniform(size=30)  # flat tails: kurtosis below 3, so that all 29 degrees count
        found = of_mean(x)
        theirs = stats.ttest_1samp(x, 0).confidence_interval()
        assert found.method == "jackknife t"
        assert (found.df, found.seed) == (29, None)
        assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high))

    def test_each_item_twice_in_a_cluster_is_as_wide_as_once(self):
        x = np.random.default_rng(4).normal(size=30)
        once, twice = of_mean(x), of_mean(np.repeat(x, 2), clusters=tuple(str(i // 2) for i in range(60)))
        assert (twice.low, twice.high) == pytest.approx((once.low, once.high))


class TestEffectiveDf:
    def test_by_hand(self):
        # one of 10 alone: squares 81 + 9, fourths 6561 + 9: kurtosis 10 * 6570 / 8100; 20 / (8.111 - 7 / 9) = 2.727
        alone = np.array([9.0] + [-1.0] * 9)[:, None]
        assert effective_df(alone, np.ones(10), 9)[0] == pytest.approx(20 / (65700 / 8100 - 7 / 9))
        # equal sizes: kurtosis 1, at most n - 1
        assert effective_df(np.tile([1.0, -1.0], 5)[:, None], np.ones(10), 9)[0] == 9
        assert np.isnan(effective_df(np.zeros((10, 1)), np.ones(10), 9)[0])

    def test_unequal_clusters_have_those_of_as_many_equal_ones(self):
        # eight of one cluster, and twelve alone: 20 ** 2 / (8 ** 2 + 12) clusters, by Kish
        clusters = ("0",) * 8 + tuple(map(str, range(1, 13)))
        x = np.r_[np.zeros(8), np.tile([1.0, -1.0], 6)]
        assert Resampling.from_table(from_codes(np.zeros((20, 1)), q=1, clusters=clusters)).most_df == 400 / 76 - 1
        assert of_mean(x, clusters=clusters).df <= 400 / 76 - 1
        equal = Resampling.from_table(from_codes(np.zeros((20, 1)), q=1, strata=("a",) * 12 + ("b",) * 8))
        assert equal.most_df == 18
        heavy = np.r_[np.full(12, 9.0), np.ones(8)]  # weights that differ between strata cost nothing
        weighted = from_codes(np.zeros((20, 1)), q=1, strata=("a",) * 12 + ("b",) * 8, weights=heavy)
        assert Resampling.from_table(weighted).most_df == pytest.approx(18)

    def test_copies_count_as_units(self):
        influence = np.array([[3.0], [-1.0]])
        copied = effective_df(influence, np.array([2.0, 6.0]), 7)
        assert copied == pytest.approx(effective_df(influence[[0, 0, 1, 1, 1, 1, 1, 1]], np.ones(8), 7))


class TestEnds:
    one = np.array([1.0])

    def test_on_the_scale_of_a_coefficient_by_hand(self):
        # Fisher's z of .5 is .5493; half 2.262157 * .1 / .75 = .301621
        low, high = t_ends(self.one * 0.5, self.one * 0.1, self.one * 9, 0.95, "coefficient")
        assert (low[0], high[0]) == pytest.approx(
            (np.tanh(0.549306 - 0.301621), np.tanh(0.549306 + 0.301621)), abs=1e-6
        )

    def test_on_the_scale_of_a_share_by_hand(self):
        # log odds of .8 are 1.386294; half 2.262157 * .1 / .16 = 1.413848
        low, high = t_ends(self.one * 0.8, self.one * 0.1, self.one * 9, 0.95, "share")
        logistic = stats.logistic.cdf
        assert (low[0], high[0]) == pytest.approx(
            (logistic(1.386294 - 1.413848), logistic(1.386294 + 1.413848)), abs=1e-6
        )

    def test_no_interval_passes_the_end_of_its_scale(self):
        values = np.array([0.98, 0.98])
        low, high = t_ends(values, np.full(2, 0.2), np.full(2, 3.0), 0.95, ("coefficient", "share"))
        assert (high < 1).all()
        assert low[0] > -1
        assert low[1] > 0


class TestTooLittle:
    codes = TWO.draw(LEAST_UNITS, 6, np.random.default_rng(5))[1]

    def found(self, clusters):
        return agreement(from_codes(self.codes, q=2, clusters=tuple(map(str, clusters))), bootstrap=100)

    def test_below_the_minimum_of_clusters_there_is_no_interval(self):
        n = len(self.codes)
        kappa = self.found(np.arange(n) % (LEAST_UNITS - 1)).coefficients["fleiss_kappa"]
        assert np.isnan(kappa.low)
        assert kappa.reason == "not enough evidence: 7 clusters; at least 8 are needed"
        at_least = self.found(np.arange(n) % LEAST_UNITS)
        assert at_least.coefficients["fleiss_kappa"].method == "jackknife t"
        assert {"few_clusters", "few_effective_units"} <= {warning.code for warning in at_least.warnings}

    def test_one_cluster_of_more_than_half_allows_no_interval(self):
        n = len(self.codes)
        clusters = np.where(np.arange(n) < 0.6 * n, 0, np.arange(n))
        kappa = self.found(clusters).coefficients["fleiss_kappa"]
        assert kappa.reason == "not enough evidence: one of the clusters holds 60 % of the weight of all"

    def test_one_class_by_one_rater_is_no_certainty(self):
        # r2 always says the same: kappa is 0 whatever the items are, and has no interval of [0, 0]
        codes = np.column_stack([np.arange(40) % 2, np.zeros(40, dtype=int)])
        kappa = agreement(from_codes(codes, q=2), bootstrap=100).pairs[0].cohen_kappa
        assert kappa.value == 0
        assert np.isnan(kappa.low)
        assert kappa.reason == "no interval: leaving out any of the items changes nothing"

    def test_few_effective_units_are_warned_of(self):
        codes = np.zeros((200, 2), dtype=int)
        codes[:6] = [[1, 1], [1, 1], [1, 1], [1, 0], [0, 1], [1, 1]]
        found = agreement(from_codes(codes, q=2), bootstrap=100)
        assert found.coefficients["fleiss_kappa"].df < 10
        (message,) = [warning.message for warning in found.warnings if warning.code == "few_effective_units"]
        assert "fleiss_kappa" in message


class TestUnanimousShares:
    """A share of 0 or 1 in every cluster: as many items as clusters, which is what statsmodels has of these counts."""

    def share(self, values, clusters, **more):
        values = np.asarray(values, dtype=float)[:, None]
        return estimate_clustered_means(values, [str(one) for one in clusters], bootstrap=100, scale="share", **more)[0]

    @pytest.mark.parametrize("value", [0, 1])
    def test_clusters_of_one_size_count_as_one_item_each(self, value):
        found = self.share([value] * 30, np.arange(30) % 10)
        ends = sm.stats.proportion_confint(10 * value, 10, method="wilson")
        assert (found.low, found.high) == pytest.approx(ends)
        assert (found.method, found.reason) == ("Wilson, effective n", None)

    def test_clusters_of_several_sizes_count_less(self):
        clusters = [0] * 8 + list(range(1, 13))  # 20 items in 13 clusters: 20 ** 2 / (8 ** 2 + 12)
        found = self.share([1] * 20, clusters)
        assert found.low == pytest.approx(1 / (1 + 1.959964**2 * 76 / 400), abs=1e-6)
        assert found.high == 1

    def test_only_clusters_with_a_value_count(self):
        values = np.where(np.arange(40) < 10, 1.0, np.nan)
        assert self.share(values, np.arange(40)).low == pytest.approx(1 / (1 + 1.959964**2 / 10), abs=1e-6)

    @pytest.mark.parametrize(("value", "codes"), [(1, [[0, 0], [1, 1]]), (0, [[0, 1], [1, 0]])])
    def test_percent_agreement_of_independent_items(self, value, codes):
        # 30 items with two ratings, and 10 with one, which say nothing of agreement
        table = from_codes(codes * 15 + [[0, -1]] * 10, q=2)
        found = agreement(table, bootstrap=100)
        ends = sm.stats.proportion_confint(30 * value, 30, method="wilson")
        for one in (found.coefficients["percent_agreement"], found.pairs[0].percent_agreement):
            assert one.value == value
            assert (one.low, one.high) == pytest.approx(ends)
            assert (one.method, one.reason) == ("Wilson, effective n", None)

    def test_percent_agreement_of_clusters_counts_those_with_two_ratings(self):
        clusters = tuple(str(k // 3) for k in range(36))
        codes = np.zeros((36, 3), dtype=int)
        codes[30:, 1:] = -1  # two of twelve clusters have one rating an item
        found = agreement(from_codes(codes, q=2, clusters=clusters), bootstrap=100)
        ends = sm.stats.proportion_confint(10, 10, method="wilson")
        figures = [found.coefficients["percent_agreement"], *(pair.percent_agreement for pair in found.pairs)]
        figures += [one.percent_agreement for one in found.raters]
        assert [(one.low, one.high) for one in figures] == [pytest.approx(ends)] * len(figures)

    def test_a_mean_over_pairs_counts_each_pair_alike(self):
        # r1 and r2 meet on items 0 … 19, r1 and r3 on 10 … 29: weights 1/40, 2/40 and 1/40 of ten items each
        codes = np.full((30, 3), -1)
        codes[:, 0], codes[:20, 1], codes[10:, 2] = 0, 0, 0
        found = agreement(from_codes(codes, q=2), bootstrap=100).raters[0].percent_agreement
        n = 1 / (10 * (1 / 40) ** 2 + 10 * (2 / 40) ** 2 + 10 * (1 / 40) ** 2)
        assert found.low == pytest.approx(1 / (1 + 1.959964**2 / n), abs=1e-6)

    def test_weights_of_items_count_less_than_as_many_items(self):
        weights = np.array([8.0] + [1.0] * 19)
        found = agreement(from_codes([[1, 1]] * 20, q=2, weights=weights), bootstrap=100)
        n = 27**2 / (64 + 19)
        low = found.coefficients["percent_agreement"].low
        assert low == pytest.approx(1 / (1 + 1.959964**2 / n), abs=1e-6)

    def test_one_contradiction_is_no_unanimity_and_few_items_are_not_enough(self):
        almost = agreement(from_codes([[0, 0]] * 29 + [[0, 1]], q=2), bootstrap=100)
        assert almost.coefficients["percent_agreement"].method == "jackknife t"
        few = agreement(from_codes([[0, 0]] * 5, q=2), bootstrap=100).coefficients["percent_agreement"]
        assert few.reason.startswith("not enough evidence")

    def test_a_judge_that_says_what_people_say(self):
        codes = np.repeat(np.arange(40)[:, None] % 3, 4, axis=1)
        clusters = tuple(str(k // 4) for k in range(40))
        found = judge_agreement(
            from_codes(codes[:, :3], q=3, level="ordinal", clusters=clusters), codes[:, 3], judge_name="j", bootstrap=50
        )
        ends = sm.stats.proportion_confint(10, 10, method="wilson")
        shares = ("percent_agreement", "accuracy", "within_one")
        for one in [getattr(found, name) for name in shares] + [found.ceiling[name] for name in shares]:
            assert (one.value, one.low, one.high) == pytest.approx((1, *ends))
        assert np.isnan(found.macro_f1.low), "a mean over categories is no mean over items"

    def test_other_means_of_items(self):
        ends = sm.stats.proportion_confint(30, 30, method="wilson")
        values = {"ranking": ["A>B=C", "B>A>C"], "set": ["a|b", "-"]}
        names = {"ranking": ["pairwise_agreement", "kendall_w"], "set": ["mean_masi", "mean_jaccard"]}
        for level, (first, second) in values.items():
            table = RatingTable.from_wide([[first] * 3, [second] * 3] * 15, level=level)
            found = agreement(table, bootstrap=50).coefficients
            for name in names[level]:
                assert (found[name].low, found[name].high) == pytest.approx(ends), name
        unused = agreement(from_codes([[0, 1]] * 30, q=3), bootstrap=50).per_category[2].share
        assert (unused.low, unused.high) == pytest.approx((1 - ends[1], 1 - ends[0]))

    def test_f1_counts_what_people_mark(self):
        # one item of 8 marked characters and nineteen of one: 27 ** 2 / (64 + 19)
        marked = [f'[["text", 0, {8 if k == 0 else 1}, "a"]]' for k in range(20)]
        table = RatingTable.from_wide([[one, one] for one in marked], level="spans")
        found = span_agreement(table, bootstrap=50).coefficients
        n = 27**2 / (64 + 19)
        assert found["overlap_f1"].low == pytest.approx(1 / (1 + 1.959964**2 / n), abs=1e-6)
        assert found["exact_f1"].low == pytest.approx(sm.stats.proportion_confint(20, 20, method="wilson")[0])

    def test_a_kappa_of_1_has_none(self):
        found = agreement(from_codes([[0, 0], [1, 1]] * 20, q=2), bootstrap=100)
        assert found.coefficients["percent_agreement"].method == "Wilson, effective n"
        assert found.coefficients["fleiss_kappa"].reason == "no interval: leaving out any of the items changes nothing"

    def test_a_formula_without_error_gives_no_interval(self):
        found = agreement(from_codes([[0, 0], [1, 1]] * 20, q=2), bootstrap=100).analytic["percent_agreement"]
        assert np.isnan(found.low)
        assert found.reason == "no interval: by the formula its error is 0"

    def test_what_is_no_share_or_hangs_on_one_cluster_has_none(self):
        clusters = np.arange(30) % 10
        flat = estimate_clustered_means(np.ones((30, 1)), [str(one) for one in clusters], bootstrap=100)[0]
        assert flat.reason == "no interval: leaving out any of the clusters changes nothing"
        alone = self.share(np.where(clusters == 0, 1.0, np.nan), clusters)
        assert alone.reason.startswith("not enough evidence")


@pytest.mark.long
class TestCoverage:
    """Fleiss' kappa of 20 profiles x 15 items; `scripts/bench_coverage.py` has the other designs."""

    def covered(self, *, clustered):
        kappa, held = kappa_of_two(), 0
        for seed in range(200):
            clusters, codes = TWO.draw(20, 15, np.random.default_rng([7, seed]))
            table = from_codes(codes, q=2, clusters=tuple(map(str, clusters)) if clustered else None)
            value = agreement_of(table)
            held += value[0] <= kappa <= value[1]
        return held / 200

    def test_clusters_are_covered_and_single_items_are_not(self):
        # 400 and more repeats: .953 by clusters, .79 by items; 200 repeats vary by .03
        assert 0.91 <= self.covered(clustered=True) <= 0.99
        assert self.covered(clustered=False) < 0.88


def agreement_of(table):
    """Ends of the interval of Fleiss' kappa."""
    resampling = Resampling.from_table(table, bootstrap=1)
    found = compute_intervals(replicate([chance_corrected(table)], resampling)[0], resampling, "coefficient")
    place = NAMES.index("fleiss_kappa")
    return found.low[place], found.high[place]
