import itertools
import json

import numpy as np
import pytest

from annotation.stats.attainable import attainable, plan_tiers
from annotation.stats.bands import TIERS, find_tier
from annotation.stats.table import RatingTable
from annotation.stats.tiers import chance_agreement, group_tiers, item_kappas, tiers

from .data import from_codes


def brute_force(n_raters, n_categories):
    """Attainable kappas from every way to answer."""
    found = set()
    for answers in itertools.combinations_with_replacement(range(n_categories), n_raters):
        counts = np.bincount(answers)
        share = (counts * (counts - 1)).sum() / (n_raters * (n_raters - 1))
        found.add(round((share - 1 / n_categories) / (1 - 1 / n_categories), 12))
    return sorted(found)


class TestAttainable:
    def test_nine_raters_and_two_options(self):
        # 9-0: 72 of 72 pairs agree; 8-1: 56; 7-2: 44; 6-3: 36; 5-4: 32. Kappa is twice the share minus one.
        expected = [2 * agreeing / 72 - 1 for agreeing in (32, 36, 44, 56, 72)]
        assert attainable(9, 2) == pytest.approx(expected)

    @pytest.mark.parametrize(("n_raters", "n_categories"), [(2, 2), (3, 2), (4, 3), (5, 5), (7, 4), (3, 6), (13, 2)])
    def test_is_every_value_that_answers_can_give(self, n_raters, n_categories):
        assert attainable(n_raters, n_categories) == pytest.approx(brute_force(n_raters, n_categories))

    def test_chance_from_the_margins(self):
        # three raters, two options: shares 1 and 1/3
        assert attainable(3, 2, expected=0.25) == pytest.approx([(1 / 3 - 0.25) / 0.75, 1])

    def test_many_raters_are_no_burden(self):
        assert attainable(123, 5)[-1] == 1

    @pytest.mark.parametrize(("arguments", "expected"), [((1, 2), None), ((2, 1), None), ((2, 2), 1.0), ((2, 2), -0.1)])
    def test_what_cannot_be(self, arguments, expected):
        with pytest.raises(ValueError, match=r"needs two of each|below 1"):
            attainable(*arguments, expected=expected)


class TestPlan:
    def test_nine_raters_and_two_options_leave_medium_empty(self):
        plan = plan_tiers(9, 2)
        assert plan.empty_bands == ("medium",)
        assert {name: len(plan.bands[name]) for name in TIERS} == {
            "contested": 3,
            "hard": 1,
            "medium": 0,
            "easy": 1,
        }

    def test_the_proposed_overlap_fills_every_band_and_no_smaller_one_does(self):
        # 13 raters: 12-1 gives .69 (medium), 11-2 gives .44 (hard)
        assert plan_tiers(9, 2).overlap == 13
        assert plan_tiers(13, 2).empty_bands == ()
        assert all(plan_tiers(n, 2).empty_bands for n in range(9, 13))

    def test_the_proposed_cuts_fill_every_band(self):
        plan = plan_tiers(9, 2)
        assert plan.suggested_cuts is not None
        assert plan_tiers(9, 2, cuts=plan.suggested_cuts).empty_bands == ()

    def test_three_raters_and_two_options_have_too_few_values(self):
        plan = plan_tiers(3, 2)
        assert plan.values == pytest.approx([-1 / 3, 1])
        assert plan.suggested_cuts is None

    def test_is_json(self):
        assert json.loads(json.dumps(plan_tiers(9, 2).to_json()))["empty_bands"] == ["medium"]


class TestBands:
    @pytest.mark.parametrize(
        ("kappa", "tier"),
        [
            (-0.5, "contested"),
            (0.4, "contested"),
            (0.41, "hard"),
            ((0.8 - 0.5) / 0.5, "hard"),  # 0.6000000000000001 in binary
            (0.61, "medium"),
            (0.8, "medium"),
            (0.81, "easy"),
            (1.0, "easy"),
            (float("nan"), None),
        ],
    )
    def test_a_kappa_on_a_cut_belongs_below(self, kappa, tier):
        assert find_tier(kappa) == tier

    @pytest.mark.parametrize("cuts", [(0.4, 0.6), (0.6, 0.4, 0.8), (0.4, 0.4, 0.8), (0.1, 0.2, float("nan"))])
    def test_cuts_must_ascend(self, cuts):
        with pytest.raises(ValueError, match="three ascending"):
            tiers(from_codes([[0, 1]], q=2), cuts=cuts)


class TestItems:
    # of nine raters: 9-0, 8-1, 7-2; then one rating, and none
    codes = np.array([[0] * 9, [0] * 8 + [1], [0] * 7 + [1] * 2, [1] + [-1] * 8, [-1] * 9])
    found = tiers(from_codes(codes, q=2), draws=2000, seed=1)

    def test_kappa_and_tier(self):
        assert [one.tier for one in self.found.items] == ["easy", "hard", "contested", None, None]
        assert [one.kappa for one in self.found.items[:3]] == pytest.approx([1, 5 / 9, 2 / 9])

    def test_too_few_ratings_have_a_reason_and_no_tier(self):
        assert [one.reason for one in self.found.items] == [None, None, None, "only one rating", "no ratings"]
        assert np.isnan(self.found.items[3].stability)

    def test_counts(self):
        assert self.found.counts == {"contested": 1, "hard": 1, "medium": 0, "easy": 1, "none": 2}

    def test_stability_by_the_binomial(self):
        # A redraw of 8-1 stays at kappa .56 when 8 or 1 of 9 draws fall on the first option, p = 8/9:
        # 9 (8/9)^8 (1/9) + 9 (8/9) (1/9)^8 = .390; unanimous items cannot move.
        assert self.found.items[0].stability == 1
        expected = 9 * (8 / 9) ** 8 / 9 + 9 * (8 / 9) * (1 / 9) ** 8
        assert self.found.items[1].stability == pytest.approx(expected, abs=5 * np.sqrt(0.25 / 2000))

    def test_margins_give_another_chance(self):
        # shares of option 0 by item: 1, 8/9, 7/9, 0
        share = (1 + 8 / 9 + 7 / 9 + 0) / 4
        expected = share**2 + (1 - share) ** 2
        table = from_codes(self.codes, q=2)
        assert chance_agreement(table, "margins") == pytest.approx(expected)
        found = tiers(table, chance="margins", draws=0)
        assert found.items[1].kappa == pytest.approx((7 / 9 - expected) / (1 - expected))
        assert np.isnan(found.items[0].stability)

    def test_sensitivity_moves_the_cuts(self):
        rows = {row["shift"]: row["counts"] for row in self.found.sensitivity}
        assert rows[0.0] == self.found.counts
        # cuts .3, .5, .7: kappa .56 becomes medium
        assert rows[-0.1] == {"contested": 1, "hard": 0, "medium": 1, "easy": 1, "none": 2}

    def test_plans_for_the_numbers_of_ratings_that_occur(self):
        assert [plan.n_raters for plan in self.found.plans] == [9]
        assert self.found.plans[0].empty_bands == ("medium",)

    def test_a_tier_that_no_item_can_reach_is_named_with_a_way_out(self):
        (warning,) = self.found.warnings
        assert warning.code == "unreachable_tiers"
        assert "no item can be medium" in warning.message
        assert "13 ratings per item" in warning.message
        assert self.found.to_json()["warnings"][0]["code"] == "unreachable_tiers"

    def test_where_every_tier_can_be_reached_there_is_no_warning(self):
        codes = np.random.default_rng(0).integers(0, 2, (5, 13))
        assert tiers(from_codes(codes, q=2), draws=0).warnings == ()

    def test_same_seed_same_result(self):
        assert tiers(from_codes(self.codes, q=2), draws=2000, seed=1).to_json() == self.found.to_json()

    def test_is_json(self):
        document = json.loads(json.dumps(self.found.to_json(), allow_nan=False))
        assert document["items"][4]["kappa"] is None
        assert document["chance_agreement"] == 0.5

    def test_one_category_has_no_kappa_against_its_margins(self):
        found = tiers(from_codes([[0, 0], [0, 0]], q=2), chance="margins")
        assert found.items[0].tier is None
        assert found.items[0].reason == "one category used: chance alone agrees fully"
        assert found.plans == ()

    @pytest.mark.parametrize("options", [{"draws": -1}, {"chance": "coin"}])
    def test_bad_options(self, options):
        with pytest.raises(ValueError, match=r"draws|chance"):
            tiers(from_codes([[0, 0]], q=2), **options)

    def test_item_kappas_average_to_the_coefficient(self):
        # with uniform chance, the mean of the items' kappas is Brennan and Prediger's
        codes = np.random.default_rng(0).integers(0, 3, (30, 4))
        kappas = item_kappas(from_codes(codes, q=3), 1 / 3)
        agreeing = np.mean([(row[:, None] == row)[np.triu_indices(4, 1)].mean() for row in codes])
        assert kappas.mean() == pytest.approx((agreeing - 1 / 3) / (2 / 3))


class TestGroups:
    def test_each_group_has_its_kappa_and_interval(self):
        rng = np.random.default_rng(5)
        truth = rng.integers(0, 2, 60)
        noisy = np.where(rng.random((60, 3)) < 0.02, 1 - truth[:, None], truth[:, None])
        random = rng.integers(0, 2, (60, 3))
        table = from_codes(np.vstack([noisy, random]), q=2)
        books, hotels = group_tiers(table, ["books"] * 60 + ["hotels"] * 60, bootstrap=300)
        assert (books.group, hotels.group) == ("books", "hotels")
        assert (books.tier, hotels.tier) == ("easy", "contested")
        assert books.fleiss_kappa.low < books.fleiss_kappa.value < books.fleiss_kappa.high
        assert books.n_items == 60
        assert json.dumps(books.to_json(), allow_nan=False)

    def test_a_group_without_pairs_has_a_reason(self):
        groups = group_tiers(from_codes([[0, 1], [0, 1], [0, -1]], q=2), ["a", "a", "b"], bootstrap=10)
        assert groups[1].tier is None
        assert groups[1].fleiss_kappa.reason == "only one rater"

    def test_one_group_per_item(self):
        with pytest.raises(ValueError, match="groups for"):
            group_tiers(from_codes([[0, 1]], q=2), [])


class TestOrderedScales:
    def table(self, rows, q=7, level="ordinal"):
        return RatingTable.from_wide(rows, categories=[str(k + 1) for k in range(q)], level=level)

    def test_near_misses_are_near(self):
        # 4, 4, 5 of seven: P = (1 + 2 (1 - 1/36)) / 3, P_e = 1 - E d^2 / 36 = 1 - 8 / 36 with d^2 of two uniform draws
        observed, expected = (1 + 2 * 35 / 36) / 3, 1 - 8 / 36
        found = tiers(self.table([["4", "4", "5"]]), draws=0).items[0]
        assert found.kappa == pytest.approx((observed - expected) / (1 - expected))
        assert found.tier == "easy"
        assert tiers(self.table([["4", "4", "5"]], level="nominal"), draws=0).items[0].tier == "contested"
        assert tiers(self.table([["1", "7", "4"]]), draws=0).items[0].tier == "contested"

    @pytest.mark.parametrize(("n", "q"), [(2, 3), (3, 4), (5, 4), (4, 7)])
    def test_attainable_kappas_are_those_of_every_way_to_answer(self, n, q):
        places = tuple(range(q))
        answers = np.array(list(itertools.combinations_with_replacement(range(q), n)))
        table = self.table([[str(code + 1) for code in row] for row in answers], q)
        kappas = np.unique(item_kappas(table, chance_agreement(table, "uniform")).round(9))
        assert attainable(n, q, places=places) == pytest.approx(kappas)

    def test_two_categories_have_no_near_miss(self):
        assert attainable(5, 2, places=(0, 1)) == pytest.approx(attainable(5, 2))

    def test_a_groups_kappa_is_the_mean_of_its_items_where_chance_is_the_groups_own(self):
        rows = [["1", "2", "2"], ["4", "4", "3"], ["1", "1", "1"], ["2", "4", "4"]]
        table = self.table(rows, 4)
        (group,) = group_tiers(table, ["all"] * 4, bootstrap=0)
        kappas = item_kappas(table, chance_agreement(table, "margins"))
        assert group.fleiss_kappa.value == pytest.approx(kappas.mean())
