"""What people will hand over: a clear error, or NaN with a reason; never a bare traceback, never 0 or 1."""

import math

import numpy as np
import pytest

from annotation.stats.agreement import agreement
from annotation.stats.annotators import annotator_report
from annotation.stats.clustered import estimate_clustered_means
from annotation.stats.dawid_skene import dawid_skene
from annotation.stats.gold import gold
from annotation.stats.table import RatingTable
from annotation.stats.tiers import group_tiers, tiers
from annotation.stats.weighted import compute_weighted_agreement
from judging.stats.agreement import judge_agreement
from judging.stats.alt_test import alt_test
from judging.stats.differences import compare_judges
from judging.stats.means import compute_means
from judging.stats.prediction_powered import LabelledSample, ppi_mean

from .data import from_codes

NOTHING = from_codes(np.empty((0, 2), dtype=int), q=3, level="ordinal")
UNRATED = from_codes([[-1, -1], [-1, -1]], q=3, level="ordinal")
ONE_RATER = from_codes([[0], [2], [1]], q=3, level="ordinal")
NO_OVERLAP = from_codes([[0, -1], [-1, 2], [1, -1]], q=3, level="ordinal")
ONE_CATEGORY = from_codes([[1, 1], [1, 1], [1, -1]], q=3, level="ordinal")
NO_CATEGORIES = from_codes([[-1, -1]], q=0)

EMPTY = {"nothing": NOTHING, "unrated": UNRATED, "one rater": ONE_RATER, "no overlap": NO_OVERLAP}
CHANCE_CORRECTED = ("fleiss_kappa", "fleiss_kappa_pooled", "krippendorff_alpha", "mean_pairwise_cohen_kappa", "icc_1_1")


def undefined(estimate):
    return math.isnan(estimate.value) and math.isnan(estimate.low) and bool(estimate.reason)


@pytest.mark.parametrize("name", EMPTY)
@pytest.mark.parametrize("bootstrap", [0, 50])
class TestWithoutAgreement:
    def test_every_coefficient_is_undefined_with_a_reason(self, name, bootstrap):
        found = agreement(EMPTY[name], bootstrap=bootstrap)
        assert all(undefined(estimate) for estimate in found.coefficients.values())
        assert all(undefined(estimate) for estimate in found.analytic.values())
        assert all(undefined(category.fleiss_kappa) for category in found.per_category)
        assert all(undefined(pair.cohen_kappa) for pair in found.pairs)
        assert all(undefined(rater.cohen_kappa) for rater in found.raters)

    def test_the_rest_of_the_library_says_so_too(self, name, bootstrap):
        table = EMPTY[name]
        assert all(item.tier is None and item.reason for item in tiers(table, draws=bootstrap).items)
        assert all(item.source is None and item.reason for item in gold(table).items)
        assert all(undefined(one.rest.cohen_kappa) for one in annotator_report(table, bootstrap=bootstrap).annotators)
        weighted = compute_weighted_agreement(table, "linear", bootstrap=bootstrap)
        assert all(undefined(estimate) for estimate in weighted.values())
        groups = group_tiers(table, ["a"] * table.n_items, bootstrap=bootstrap)
        assert all(undefined(group.fleiss_kappa) and group.tier is None for group in groups)
        assert len(dawid_skene(table).codes) == table.n_items


class TestOneCategory:
    def test_what_divides_by_the_chance_of_disagreement_is_undefined(self):
        found = agreement(ONE_CATEGORY, bootstrap=50)
        for name in CHANCE_CORRECTED:
            assert undefined(found.coefficients[name])
        assert all(undefined(category.fleiss_kappa) for category in found.per_category)
        assert undefined(found.analytic["fleiss_kappa"])

    def test_a_judge_who_agrees_has_no_kappa_either(self):
        found = judge_agreement(ONE_CATEGORY, [1, 1, 1], judge_name="j", bootstrap=50)
        for name in ("mean_cohen_kappa", "majority_cohen_kappa", "spearman", "kendall_tau_b", "pearson"):
            assert undefined(getattr(found, name)), name
        assert found.accuracy.value == 1

    def test_a_scale_without_categories(self):
        assert all(undefined(estimate) for estimate in agreement(NO_CATEGORIES, bootstrap=10).coefficients.values())


class TestValues:
    @pytest.mark.parametrize("value", [math.inf, -math.inf, "inf", "Infinity"])
    def test_infinite(self, value):
        with pytest.raises(ValueError, match="infinite"):
            RatingTable.from_wide([[1, value], [2, 2]])

    @pytest.mark.parametrize("level", ["ordinal", "interval", "ratio"])
    def test_labels_mixed_with_numbers(self, level):
        with pytest.raises(ValueError, match="'good'"):
            RatingTable.from_long(["a", "b"], ["r", "r"], [3, "good"], level=level)

    @pytest.mark.parametrize("value", [6, "six", 0, 2.5])
    def test_off_the_scale(self, value):
        with pytest.raises(ValueError, match=r"item .b., rater .r.: .* is not on the scale"):
            RatingTable.from_long(["a", "b"], ["r", "r"], [1, value], categories=[1, 2, 3, 4, 5])

    def test_a_negative_number_on_a_ratio_scale(self):
        with pytest.raises(ValueError, match="not negative"):
            RatingTable.from_wide([[-1, 2]], level="ratio")

    def test_a_code_that_the_scale_does_not_have(self):
        with pytest.raises(ValueError, match="off the scale"):
            from_codes([[0, 3]], q=3)


class TestJudges:
    people = from_codes([[0, 0], [1, 1], [2, 1]], q=3, level="ordinal")

    def test_a_judge_column_that_does_not_exist(self):
        with pytest.raises(ValueError, match="no rater named 'gpt'"):
            self.people.select_raters(["gpt"])

    @pytest.mark.parametrize(
        ("codes", "message"), [([0, 1], "shape"), ([0, 1, 3], "off the scale"), ([0, 1, -2], "off the scale")]
    )
    def test_codes_that_do_not_fit(self, codes, message):
        with pytest.raises(ValueError, match=message):
            judge_agreement(self.people, codes, judge_name="gpt")
        with pytest.raises(ValueError, match="judge 'gpt'"):
            compare_judges(self.people, {"gpt": codes, "other": [0, 0, 0]})

    @pytest.mark.parametrize("table", [UNRATED, NO_CATEGORIES])
    def test_people_who_said_nothing(self, table):
        found = judge_agreement(table, [-1] * table.n_items, judge_name="gpt", bootstrap=20)
        assert undefined(found.mean_cohen_kappa)
        assert undefined(found.human_ceiling)
        assert all(undefined(estimate) for estimate in found.ceiling.values())

    def test_no_items_at_all(self):
        assert undefined(judge_agreement(NOTHING, [], judge_name="gpt", bootstrap=20).accuracy)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bootstrap": -1}, "replicates"),
        ({"confidence": 0}, "confidence"),
        ({"confidence": 1}, "confidence"),
        ({"seed": -1}, "seed"),
    ],
)
def test_options(options, message):
    with pytest.raises(ValueError, match=message):
        agreement(from_codes([[0, 1]], q=2), **options)


class TestExtremeNumbers:
    """Found: 1e300 among scores overflowed in alpha, kappa, the ICC, correlations, tiers, PPI and means."""

    codes = np.random.default_rng(1).integers(0, 4, (40, 4))

    def table(self, scale, level):
        return RatingTable(self.codes[:, :3], scale, level, tuple(map(str, range(40))), ("r1", "r2", "r3"))

    @pytest.mark.parametrize("level", ["ordinal", "interval", "ratio"])
    @pytest.mark.parametrize("largest", [1e300, 1.01e15])
    def test_a_score_too_large_to_be_compared_is_refused(self, level, largest):
        with pytest.raises(ValueError, match="is too large: numbers go from"):
            self.table((1, 2, 3, largest), level)
        with pytest.raises(ValueError, match="is too large"):
            RatingTable.from_wide([[1, 2], [largest, 1]], level=level)

    def test_what_only_looks_like_a_number_is_not(self):
        assert self.table(("a", "b", "12345678901234567890", "1e300"), "nominal").n_categories == 4

    @pytest.mark.filterwarnings("error")
    @pytest.mark.parametrize("level", ["ordinal", "interval", "ratio"])
    @pytest.mark.parametrize(
        "scale", [(0, 1, 2, 1e15), (0, 1e-300, 1, 1e15), (5e-324, 1e-300, 2e-300, 1e-200)], ids=str
    )
    def test_all_others_are_computed_without_a_warning(self, scale, level):
        table = self.table(scale, level)
        found = agreement(table, bootstrap=20)
        assert all(figure.defined or figure.reason for figure in found.coefficients.values())
        judge_agreement(table, self.codes[:, 3], judge_name="judge", bootstrap=20)
        alt_test(table, self.codes[:, 3])
        annotator_report(table, bootstrap=20)
        tiers(table, draws=5)
        compute_weighted_agreement(table, "quadratic", bootstrap=20)

    def test_figures_do_not_depend_on_the_unit(self):
        small, large = (
            agreement(self.table(tuple(unit * k for k in (1, 2, 3, 5)), "interval"), bootstrap=0).coefficients
            for unit in (1e-200, 1e14)
        )
        for name in ("krippendorff_alpha", "icc_2_1", "mean_pairwise_weighted_cohen_kappa", "gwet_ac"):
            assert small[name].value == pytest.approx(large[name].value), name

    @pytest.mark.parametrize("values", [[1e300, 1.0, 2.0], [-1e61, 0.0, 1.0]])
    def test_numbers_of_which_there_is_no_scale(self, values):
        column = np.array(values)
        with pytest.raises(ValueError, match="is too large"):
            ppi_mean(LabelledSample.from_columns(column, column))
        with pytest.raises(ValueError, match="is too large"):
            compute_means([column], items=list("abc"), clusters=list("abc"))
        with pytest.raises(ValueError, match="is too large"):
            estimate_clustered_means(column[:, None], list("abc"))
