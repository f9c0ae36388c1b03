"""Degenerate tables, counts, reasons, warnings and the JSON of `agreement`. Expected values by hand."""

import json

import numpy as np
import pytest

from annotation.stats import icc
from annotation.stats.agreement import COEFFICIENTS, agreement
from annotation.stats.table import RatingTable

from .data import from_codes, from_crosstab, value


def codes_of(result):
    return {warning.code for warning in result.warnings}


def reasons_of(result):
    return {name: estimate.reason for name, estimate in result.coefficients.items()}


class TestOneCategory:
    found = agreement(from_codes([[1, 1]] * 40, q=3, level="ordinal"), bootstrap=100)

    @pytest.mark.parametrize(
        "name",
        [
            "fleiss_kappa",
            "fleiss_kappa_pooled",
            "krippendorff_alpha",
            "icc_2_1",
            "icc_2_k",
        ],
    )
    def test_is_undefined_with_a_reason(self, name):
        estimate = self.found.coefficients[name]
        assert not estimate.defined
        assert estimate.reason == "one category used"
        assert estimate.to_json()["value"] is None

    def test_mean_of_undefined_pairs_is_undefined(self):
        assert reasons_of(self.found)["mean_pairwise_cohen_kappa"] == "no pair of raters with a defined kappa"
        assert self.found.pairs[0].cohen_kappa.reason == "one category used by both raters"

    def test_what_does_not_divide_by_disagreement_stays_defined(self):
        # P_o = 1; Gwet's chance is 0 and Brennan and Prediger's 1/3
        assert value(self.found, "percent_agreement") == 1
        assert value(self.found, "brennan_prediger") == 1
        assert value(self.found, "gwet_ac") == 1

    def test_is_warned_of(self):
        assert "one_category" in codes_of(self.found)
        assert "Every rating is 1" in next(w.message for w in self.found.warnings if w.code == "one_category")


class TestTooLittle:
    def test_one_rater(self):
        found = agreement(from_codes([[0], [1]], q=2, level="ordinal"), bootstrap=100)
        assert set(reasons_of(found).values()) == {"only one rater"}
        assert found.pairs == ()

    def test_no_ratings(self):
        found = agreement(from_codes([[-1, -1]], q=2, level="ordinal"), bootstrap=100)
        assert set(reasons_of(found).values()) == {"no ratings"}
        assert found.n_ratings == 0

    def test_nobody_rated_the_same_item(self):
        found = agreement(from_codes([[0, -1], [-1, 1]], q=2, level="ordinal"), bootstrap=100)
        reasons = reasons_of(found)
        assert reasons["fleiss_kappa"] == "no item with two ratings"
        assert reasons["icc_2_1"] == "no item rated by every rater"
        assert found.pairs[0].percent_agreement.reason == "no item rated by both"
        assert "pairs_without_items" in codes_of(found)

    def test_a_single_item_has_a_value_but_no_interval(self):
        percent = agreement(from_codes([[0, 0, 1]], q=2)).coefficients["percent_agreement"]
        assert percent.value == pytest.approx(1 / 3)
        assert np.isnan(percent.low)
        assert percent.reason == "not enough evidence: 1 item; at least 8 are needed"

    def test_a_scale_of_one_category(self):
        found = agreement(from_codes([[0, 0], [0, 0]], q=1), bootstrap=10)
        assert value(found, "percent_agreement") == 1
        assert not found.coefficients["gwet_ac"].defined
        assert not found.coefficients["brennan_prediger"].defined

    def test_a_kappa_that_hangs_on_one_item_has_no_interval(self):
        # without the one odd item everybody uses one category
        found = agreement(from_codes([[0, 0]] * 9 + [[1, 1]], q=2), bootstrap=1000)
        kappa = found.coefficients["fleiss_kappa"]
        assert kappa.value == 1
        assert np.isnan(kappa.low)
        assert kappa.reason == "not enough evidence: the figure hangs on single items, without which it is undefined"


class TestNominal:
    found = agreement(from_crosstab([[20, 5], [3, 12]]), bootstrap=100)

    @pytest.mark.parametrize("name", ["icc_2_1", "icc_2_k", "mean_pairwise_weighted_cohen_kappa"])
    def test_nothing_numeric_is_computed(self, name):
        assert not self.found.coefficients[name].defined
        assert "nominal" in self.found.coefficients[name].reason

    def test_weights_are_stated(self):
        assert self.found.weights == "identity"


class TestUnequalCounts:
    # Item 1: a a b, item 2: a a, item 3: b. P_o = (1/3 + 1) / 2 = 2/3 over the two pairable items.
    # Shares of a: (2/3 + 1 + 0) / 3 = 5/9, so P_e = (5/9)^2 + (4/9)^2 = 41/81 and kappa = 13/40.
    # Pooled: 4 agreeing of 8 ordered pairs; 4 a and 1 b on pairable items, P_e = 17/25, kappa = -9/16.
    found = agreement(from_codes([[0, 0, 1], [0, 0, -1], [1, -1, -1]], q=2), bootstrap=0)

    def test_shares_are_averaged_over_items(self):
        assert value(self.found, "percent_agreement") == pytest.approx(2 / 3)
        assert value(self.found, "fleiss_kappa") == pytest.approx(13 / 40)

    def test_pairs_are_pooled(self):
        assert value(self.found, "fleiss_kappa_pooled") == pytest.approx(-9 / 16)

    def test_gwet_takes_shares_from_all_rated_items(self):
        # chance 2 * 5/9 * 4/9 = 40/81; (54/81 - 40/81) / (41/81)
        assert value(self.found, "gwet_ac") == pytest.approx(14 / 41)

    def test_the_warning_names_the_variant(self):
        message = next(w.message for w in self.found.warnings if w.code == "unequal_counts")
        assert "1 to 3 ratings" in message
        assert "fleiss_kappa_pooled sums rater pairs" in message

    def test_every_figure_carries_its_counts(self):
        kappa = self.found.coefficients["fleiss_kappa"]
        assert (kappa.n_items, kappa.n_raters, kappa.n_ratings) == (2, 3, 5)
        assert (self.found.n_items, self.found.n_items_pairable, self.found.n_ratings) == (3, 2, 6)
        assert [pair.n for pair in self.found.pairs] == [2, 1, 1]


class TestWarnings:
    def test_few_disagreements(self):
        codes = [[0, 0]] * 30 + [[1, 1]] * 30 + [[0, 1]] * 4
        assert "few_disagreements" in codes_of(agreement(from_codes(codes, q=2), bootstrap=0))
        assert "few_disagreements" not in codes_of(agreement(from_codes([*codes, [1, 0]], q=2), bootstrap=0))

    def test_rare_categories(self):
        codes = [[0, 0]] * 60 + [[0, 1]] * 8 + [[1, 1]] * 9
        found = agreement(from_codes(codes, q=2), bootstrap=0)
        message = next(w.message for w in found.warnings if w.code == "rare_categories")
        assert "On only 9 items do two raters agree on anything but 0" in message
        assert "rare_categories" not in codes_of(agreement(from_codes([*codes, [1, 1]], q=2), bootstrap=0))

    def test_few_items(self):
        assert "few_items" in codes_of(agreement(from_codes([[0, 1]] * 29, q=2), bootstrap=0))
        assert "few_items" not in codes_of(agreement(from_codes([[0, 1]] * 30, q=2), bootstrap=0))

    def test_identical_raters(self):
        column = np.tile([0, 1], 15)
        found = agreement(from_codes(np.column_stack([column, column, np.repeat([0, 1], 15)]), q=2), bootstrap=0)
        message = next(w.message for w in found.warnings if w.code == "identical_raters")
        assert "r1 and r2" in message
        assert "r3" not in message

    def test_a_rater_without_ratings(self):
        found = agreement(from_codes([[0, 0, -1], [1, 0, -1]], q=2), bootstrap=0)
        assert found.n_raters == 2
        assert "idle_raters" in codes_of(found)

    def test_strata_of_one_item(self):
        table = from_codes([[0, 1], [1, 1], [0, 0]], q=2, strata=("a", "a", "b"))
        assert "single_unit_strata" in codes_of(agreement(table, bootstrap=10))

    def test_sound_ratings_have_none(self):
        assert agreement(from_crosstab([[20, 5], [3, 12]]), bootstrap=100).warnings == ()


class TestWeightsOfItems:
    def test_an_item_of_weight_two_is_that_item_twice(self):
        codes = [[0, 0], [0, 1], [1, 1], [2, 1]]
        twice = from_codes([*codes, codes[1]], q=3, level="ordinal")
        weighted = from_codes(codes, q=3, level="ordinal", weights=[1, 2, 1, 1])
        first, second = agreement(weighted, bootstrap=0), agreement(twice, bootstrap=0)
        # alpha and ICC correct for the number of ratings, which is that of different ones
        for name in set(COEFFICIENTS) - {"krippendorff_alpha", *icc.NAMES}:
            assert value(first, name) == pytest.approx(value(second, name))

    @pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
    def test_alpha_leaves_out_pairs_of_a_rating_with_itself(self, level):
        # 1 - D_o / D_e over pairs of two different ratings, each pair as heavy as the product of its items' weights
        rng = np.random.default_rng(8)
        codes, weights = rng.integers(-1, 4, (12, 3)), 10.0 ** rng.uniform(0, 3, 12)
        size = (codes >= 0).sum(axis=1)
        of_item, rater = np.nonzero((codes >= 0) & (size >= 2)[:, None])
        x, w = codes[of_item, rater], weights[of_item]
        totals = np.bincount(x, w, minlength=4)
        places = np.cumsum(totals) - totals / 2 if level == "ordinal" else np.arange(4.0)
        apart = (places[:, None] - places) ** 2 if level != "nominal" else 1.0 - np.eye(4)
        if level == "ratio":
            apart = apart / np.maximum(places[:, None] + places, 1) ** 2
        pairs, other = apart[x[:, None], x], ~np.eye(len(x), dtype=bool)
        within = (of_item[:, None] == of_item) / (size[of_item] - 1)
        observed = (pairs * within * w[:, None]).sum() / w.sum()
        expected = (pairs * np.outer(w, w))[other].sum() / np.outer(w, w)[other].sum()
        found = agreement(from_codes(codes, q=4, level=level, weights=weights), bootstrap=0)
        assert value(found, "krippendorff_alpha") == pytest.approx(1 - observed / expected)

    @pytest.mark.parametrize("scale", [1.0, 50.0])
    def test_items_that_say_nothing_of_agreement_play_no_part(self, scale):
        pairs = [[0, 1], [1, 2], [2, 2], [0, 0], [2, 0]]
        alone = agreement(from_codes(pairs, q=3, level="interval"), bootstrap=0)
        weights = [1.0] * 5 + [scale] * 20
        more = from_codes([*pairs, *[[1, -1]] * 20], q=3, level="interval", weights=weights)
        for name in ("krippendorff_alpha", "icc_1_1", "icc_2_1", "icc_3_1", "icc_1_k", "icc_2_k", "icc_3_k"):
            assert value(agreement(more, bootstrap=0), name) == pytest.approx(value(alone, name), nan_ok=True), name


class TestClustersAndStrata:
    rng = np.random.default_rng(21)
    truth = np.repeat(rng.integers(0, 3, 40), 5)[:, None]  # five items of a cluster are alike
    codes = np.where(rng.random((200, 3)) < 0.8, truth, rng.integers(0, 3, (200, 3)))
    clusters = tuple(str(i // 5) for i in range(200))

    def test_clusters_do_not_change_the_values(self):
        plain = agreement(from_codes(self.codes, q=3), bootstrap=0)
        clustered = agreement(from_codes(self.codes, q=3, clusters=self.clusters), bootstrap=0)
        for name, estimate in plain.coefficients.items():
            assert clustered.coefficients[name].value == pytest.approx(estimate.value, nan_ok=True)
        assert [pair.n for pair in clustered.pairs] == [200, 200, 200]

    def test_shares_vary_more_between_clusters_than_between_items(self):
        plain = agreement(from_codes(self.codes, q=3), bootstrap=500).per_category[0].share
        clustered = agreement(from_codes(self.codes, q=3, clusters=self.clusters), bootstrap=500).per_category[0].share
        assert clustered.high - clustered.low > 1.5 * (plain.high - plain.low)
        assert clustered.se > 1.5 * plain.se

    def test_strata_hold_what_they_fix(self):
        strata = tuple(str(int(t)) for t in self.truth[:, 0])
        plain = agreement(from_codes(self.codes, q=3), bootstrap=500).per_category[0].share
        stratified = agreement(from_codes(self.codes, q=3, strata=strata), bootstrap=500).per_category[0].share
        assert stratified.se < plain.se / 1.5

    def test_formulas_give_way_where_they_do_not_hold(self):
        found = agreement(from_codes(self.codes, q=3, clusters=self.clusters, level="ordinal"), bootstrap=0)
        assert np.isnan(found.pairs[0].cohen_kappa_analytic.low)
        assert np.isnan(found.analytic["icc_2_1"].low)
        assert found.analytic["fleiss_kappa"].se > 0  # linearised by cluster


def test_the_order_of_items_does_not_change_the_intervals():
    codes = np.random.default_rng(2).integers(-1, 3, (90, 4))
    first = agreement(from_codes(codes, q=3, level="ordinal"), bootstrap=200)
    second = agreement(from_codes(codes[::-1], q=3, level="ordinal"), bootstrap=200)
    for name, estimate in first.coefficients.items():
        other = second.coefficients[name]
        assert (estimate.low, estimate.high) == pytest.approx((other.low, other.high), abs=1e-9, nan_ok=True)


class TestJson:
    found = agreement(from_codes([[0, 0, 1], [1, 1, -1], [2, 2, 1]], q=3, level="ordinal"), bootstrap=50, seed=7)

    def test_shape(self):
        document = json.loads(json.dumps(self.found.to_json(), allow_nan=False))
        assert list(document["coefficients"]) == list(COEFFICIENTS)
        assert document["categories"] == [0, 1, 2]
        assert document["pairs"][0]["a"] == "r1"
        assert set(document["pairs"][0]) == {
            "a",
            "b",
            "n",
            "in_mean",
            "cohen_kappa",
            "weighted_cohen_kappa",
            "percent_agreement",
            "linear_cohen_kappa",
            "scott_pi",
            "cohen_kappa_analytic",
        }
        assert {"value", "low", "high", "reason"} <= set(document["coefficients"]["gwet_ac"])
        assert (document["seed"], document["bootstrap"], document["confidence"]) == (7, 50, 0.95)
        assert set(document["warnings"][0]) == {"code", "message"}

    def test_same_seed_same_document(self):
        table = from_codes([[0, 0, 1], [1, 1, -1], [2, 2, 1]], q=3, level="ordinal")
        assert agreement(table, bootstrap=50, seed=7).to_json() == self.found.to_json()

    def test_without_replicates_there_are_no_intervals_and_each_says_why(self):
        estimate = agreement(from_codes([[0, 0], [1, 0]], q=2), bootstrap=0).coefficients["percent_agreement"]
        assert estimate.value == 0.5
        assert np.isnan(estimate.low)
        why = "no interval: none was asked for (0 resamples)"
        assert (estimate.method, estimate.reason, estimate.seed) == ("none", why, None)


@pytest.mark.parametrize(("option", "message"), [({"bootstrap": -1}, "replicates"), ({"confidence": 1}, "confidence")])
def test_bad_options_are_refused(option, message):
    with pytest.raises(ValueError, match=message):
        agreement(from_codes([[0, 1]], q=2), **option)


def test_the_number_of_raters_does_not_fill_the_memory():
    # 60 raters are 1,770 pairs; blocks keep the sums small and the mean is that of all pairs
    rng = np.random.default_rng(0)
    found = agreement(from_codes(rng.integers(0, 2, (50, 60)), q=2), bootstrap=400)
    kappas = [pair.cohen_kappa.value for pair in found.pairs]
    assert len(kappas) == 1770
    assert value(found, "mean_pairwise_cohen_kappa") == pytest.approx(np.mean(kappas))


def test_labels_of_the_scale_are_kept():
    table = RatingTable.from_wide([["good", "bad"], ["bad", "bad"]], categories=["bad", "good"], level="ordinal")
    assert agreement(table, bootstrap=0).to_json()["categories"] == ["bad", "good"]
