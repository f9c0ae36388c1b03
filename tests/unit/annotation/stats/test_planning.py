import json

import numpy as np
import pytest

from annotation.stats.agreement import agreement
from annotation.stats.planning import plan_study
from annotation.stats.simulated import simulate_agreement
from annotation.stats.table import RatingTable

QUICK = {"simulations": 12, "alternatives": ()}


class TestSimulateAgreement:
    @pytest.mark.parametrize("kappa", [0.0, 0.2, 0.6, 0.9])
    @pytest.mark.parametrize("shares", [[0.5, 0.5], [0.9, 0.1], [0.4, 0.3, 0.2, 0.1]])
    def test_the_population_has_the_kappa(self, kappa, shares):
        rng = np.random.default_rng(0)
        codes = simulate_agreement(60_000, 3, shares=np.array(shares), kappa=kappa, rng=rng)
        q = len(shares)
        table = RatingTable(codes, tuple(range(q)), "nominal", tuple(map(str, range(60_000))), ("a", "b", "c"))
        found = agreement(table, bootstrap=0)
        # the standard error of a kappa of 60,000 items is below .006 here
        for name in ("fleiss_kappa", "krippendorff_alpha", "mean_pairwise_cohen_kappa"):
            assert found.coefficients[name].value == pytest.approx(kappa, abs=0.03)
        assert np.bincount(codes.ravel()) / codes.size == pytest.approx(shares, abs=0.01)

    @pytest.mark.parametrize(
        ("shares", "kappa"), [([0.5, 0.6], 0.5), ([-0.5, 1.5], 0.5), ([0.5, 0.5], 1.5), ([0.5, 0.5], -0.1)]
    )
    def test_what_cannot_be(self, shares, kappa):
        with pytest.raises(ValueError, match=r"sum to 1|must lie"):
            simulate_agreement(5, 2, shares=np.array(shares), kappa=kappa, rng=np.random.default_rng(0))


class TestSize:
    @pytest.mark.long
    def test_two_raters_and_two_equal_options_by_hand(self):
        # kappa is 2 P - 1, P the share of agreement, (1 + .6) / 2 = .8: the interval is
        # 2 * 1.96 * 2 * sqrt(.8 * .2 / n) = 3.136 / sqrt(n) wide, so .1 needs 983 items
        size = plan_study(n_raters=2, simulations=60, alternatives=()).size
        assert size.n_items == pytest.approx(983, rel=0.05)
        assert size.n_ratings == 2 * size.n_items
        assert size.width == pytest.approx(0.1, rel=0.01)

    @pytest.mark.long
    def test_half_the_width_needs_four_times_the_items(self):
        wide, narrow = (plan_study(width=width, **QUICK).size.n_items for width in (0.2, 0.1))
        assert narrow / wide == pytest.approx(4, rel=0.15)

    @pytest.mark.long
    def test_a_skewed_scale_needs_more(self):
        even, skewed = (plan_study(shares=shares, **QUICK).size.n_items for shares in ([0.5, 0.5], [0.9, 0.1]))
        assert skewed > 2 * even

    def test_a_real_study_of_that_size_has_such_an_interval(self):
        size = plan_study(kappa=0.6, n_categories=3, width=0.15, **QUICK).size
        rng = np.random.default_rng(5)
        codes = simulate_agreement(size.n_items, 3, shares=np.full(3, 1 / 3), kappa=0.6, rng=rng)
        items = tuple(map(str, range(size.n_items)))
        kappa = agreement(RatingTable(codes, (0, 1, 2), "nominal", items, ("a", "b", "c"))).coefficients["fleiss_kappa"]
        assert kappa.high - kappa.low == pytest.approx(0.15, rel=0.15)

    def test_too_narrow_to_be_had(self):
        plan = plan_study(width=0.0005, **QUICK)
        assert plan.size.n_items is None
        assert "too_narrow" in {warning.code for warning in plan.warnings}
        assert plan.cheapest is None

    def test_few_items_are_warned_of(self):
        assert "few_items" in {warning.code for warning in plan_study(width=1.2, **QUICK).warnings}


class TestPlan:
    plan = plan_study(simulations=10, alternatives=(2, 3, 5))

    def test_the_cheapest_is_the_one_with_the_fewest_ratings(self):
        assert self.plan.cheapest.n_ratings == min(one.n_ratings for one in self.plan.alternatives)
        assert [one.n_raters for one in self.plan.alternatives] == [2, 3, 5]

    def test_tiers_and_overlap(self):
        # three raters and two options: kappa is -1/3 or 1; thirteen fill every tier
        assert self.plan.tiers.empty_bands == ("hard", "medium")
        assert self.plan.overlap == 13
        assert "unreachable_tiers" in {warning.code for warning in self.plan.warnings}

    @pytest.mark.long
    def test_is_json_and_repeats(self):
        document = json.loads(json.dumps(self.plan.to_json(), allow_nan=False))
        assert document == json.loads(json.dumps(plan_study(simulations=10, alternatives=(2, 3, 5)).to_json()))
        assert {"raters", "categories", "items", "ratings", "simulated_width", "tiers", "overlap"} <= set(document)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_raters": 1}, "two of each"),
        ({"n_categories": 1}, "two of each"),
        ({"kappa": 1.0}, "kappa is 1"),
        ({"kappa": -0.1}, "kappa"),
        ({"width": 0}, "width"),
        ({"shares": [1.0]}, "1 shares for 2"),
        ({"shares": [1.0, 0.0]}, "nothing to agree on"),
        ({"shares": [0.5, 0.4]}, "sum to 1"),
        ({"simulations": 0}, "simulations"),
        ({"cuts": (0.5, 0.4, 0.8)}, "ascending"),
        ({"confidence": 1.5}, "confidence"),
    ],
)
def test_bad_questions(options, message):
    with pytest.raises(ValueError, match=message):
        plan_study(**options)
