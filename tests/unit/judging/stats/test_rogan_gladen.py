import numpy as np
import pytest

from judging.stats.rogan_gladen import compute_corrected_rate, rogan_gladen
from tests.unit.annotation.stats.data import load


class TestLee2025:
    # values of the authors' code, commit 082884d, stored in rogan_gladen_lee2025.json
    @pytest.mark.parametrize("k", range(3))
    def test_estimate_and_interval(self, k):
        case = load("classic/rogan_gladen_lee2025.json")["cases"][k]
        rates = {"q0": case["specificity_q0"], "q1": case["sensitivity_q1"]}
        found = compute_corrected_rate(p=case["p"], n=case["n"], m0=case["m0"], m1=case["m1"], **rates)
        assert found.value == pytest.approx(case["theta"], abs=1e-12)
        assert [found.low, found.high] == pytest.approx(case["ci95"], abs=1e-12)


def ends(figure):
    return [figure.value, figure.low, figure.high]


def constructed():
    """judge_corrected_rate.json: 60 yes and 40 no by people, the judge right on 54 and 34; 350 of 500 yes elsewhere."""
    human = [1] * 60 + [0] * 40 + [np.nan] * 500
    judge = [1] * 54 + [0] * 6 + [0] * 34 + [1] * 6 + [1] * 350 + [0] * 150
    return human, judge


class TestFromColumns:
    def test_the_constructed_example(self):
        # (.7 + .85 - 1) / (.85 + .90 - 1) = .55 / .75
        found = rogan_gladen(*constructed())
        assert found.rate.value == pytest.approx(0.55 / 0.75)
        assert (found.sensitivity.value, found.specificity.value) == (0.9, 0.85)
        assert (found.sensitivity.n_items, found.specificity.n_items, found.rate.n_items) == (60, 40, 600)

    def test_a_rate_below_the_false_positives_is_cut_at_zero(self):
        found = compute_corrected_rate(p=0.09, n=200, q0=0.9, m0=100, q1=0.9, m1=100)
        assert (found.value, found.low) == (0, 0)
        assert found.high > 0

    def test_a_rate_that_nothing_explains_has_no_interval(self):
        found = compute_corrected_rate(p=0.01, n=500, q0=0.9, m0=100, q1=0.9, m1=100)
        assert np.isnan(found.high)
        assert "errs otherwise" in found.reason

    def test_a_judge_no_better_than_chance_is_refused(self):
        human = [1, 0] * 50 + [np.nan] * 100
        judge = [1, 1, 0, 0] * 25 + [1, 0] * 50
        found = rogan_gladen(human, judge)
        assert not found.rate.defined
        assert "cannot be told from chance" in found.rate.reason
        assert found.sensitivity.value == 0.5

    def test_without_a_yes_among_the_labels(self):
        found = rogan_gladen([0, 0, np.nan], [0, 1, 1])
        assert found.rate.reason == "no labelled item is a yes"

    def test_without_unlabelled_items(self):
        assert rogan_gladen([1, 0], [1, 0]).rate.reason == "no unlabelled item that the judge scored"

    def test_scores_are_refused(self):
        with pytest.raises(ValueError, match="0 and 1"):
            rogan_gladen([1, 2], [1, 0])


def clustered(seed, *, profiles=20, items=15, labelled=0.4):
    """Profiles differ in how often the answer is yes, and in how often the judge is right about them."""
    rng = np.random.default_rng(seed)
    of = np.repeat(np.arange(profiles), items)
    n = len(of)
    truth = (2 * rng.normal(size=profiles)[of] + rng.normal(size=n) < 0).astype(float)
    right = rng.normal(size=profiles)[of] + rng.normal(size=n) < 1.4
    human = np.where(rng.random(n) < labelled, truth, np.nan)
    return human, np.where(right, truth, 1 - truth), [f"profile {k}" for k in of]


class TestDependence:
    def test_copies_of_an_item_add_nothing(self):
        human, judge = constructed()
        names = [str(k) for k in range(600) for _ in range(5)]
        single = rogan_gladen(human, judge)
        copies = rogan_gladen(np.repeat(human, 5), np.repeat(judge, 5), clusters=names)
        assert ends(copies.rate) == pytest.approx(ends(single.rate), abs=1e-12)
        taken_alone = rogan_gladen(np.repeat(human, 5), np.repeat(judge, 5)).rate
        assert taken_alone.high - taken_alone.low < 0.6 * (single.rate.high - single.rate.low)
        assert (copies.rate.n_items, copies.sensitivity.n_items) == (3000, 300)

    def test_intervals_of_clustered_items_hold_the_rate(self):
        found = [clustered(seed) for seed in range(100)]
        held = [sum(one.low <= 0.5 <= one.high for one in each) for each in zip(*map(_both, found), strict=True)]
        assert held[0] >= 89  # 95 % of 100, less three standard deviations
        assert held[1] < 80  # as if items were independent

    def test_weights_undo_a_draw(self):
        # every item of the second half stands for three
        human, judge = constructed()
        weights = np.where(np.arange(600) % 2, 3.0, 1.0)
        as_drawn = np.repeat(np.arange(600), np.where(np.arange(600) % 2, 3, 1))
        whole = rogan_gladen(np.array(human)[as_drawn], np.array(judge)[as_drawn])
        found = rogan_gladen(human, judge, weights=weights)
        for one in ("rate", "sensitivity", "specificity"):
            assert getattr(found, one).value == pytest.approx(getattr(whole, one).value), one
        assert found.rate.high - found.rate.low > whole.rate.high - whole.rate.low

    def test_a_judge_without_an_error_on_few_heavy_items(self):
        # nothing varies: of 20 items in each part two hold nearly all of the weight
        human = np.r_[np.ones(20), np.zeros(20), np.full(20, np.nan)]
        judge, heavy = np.r_[np.ones(20), np.zeros(20), np.ones(20)], np.r_[np.full(2, 1000.0), np.ones(18)]
        plain, weighted = rogan_gladen(human, judge).rate, rogan_gladen(human, judge, weights=np.tile(heavy, 3)).rate
        assert plain.low > 0.7
        assert not weighted.low > plain.low - 0.2

    def test_few_clusters_with_labels_allow_no_interval(self):
        human, judge, names = clustered(1, profiles=7)
        found = rogan_gladen(human, judge, clusters=names).rate
        assert found.defined
        assert np.isnan(found.low)
        assert found.reason == "not enough evidence: 7 clusters; at least 8 are needed"


def _both(columns):
    human, judge, names = columns
    return rogan_gladen(human, judge, clusters=names).rate, rogan_gladen(human, judge).rate
