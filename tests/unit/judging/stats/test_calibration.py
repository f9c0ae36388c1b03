import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression
from statsmodels.miscmodels.ordinal_model import OrderedModel

from judging.stats import proportional_odds
from judging.stats.calibration import Isotonic, OrdinalLogistic, assign_folds, fit_map, recalibrate
from judging.stats.proportional_odds import ProportionalOdds, _penalised


def lenient(n=300, seed=0):
    """A judge on a scale of 1 … 5 who gives most items a 4 or 5."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 6, n).astype(float)
    judge = np.clip(np.round(3.5 + 0.4 * (truth - 3) + rng.normal(0, 0.5, n)), 1, 5)
    return judge, truth


class TestIsotonic:
    def test_by_hand(self):
        # means at 1 2 3: 0, 1, .5 -> the last two are pooled to (1 + .5 + .5) / 3 with weights 1 and 2
        found = Isotonic.fit(np.array([1.0, 2, 3, 3]), np.array([0.0, 1, 1, 0]))
        assert found.values == pytest.approx([0, 2 / 3, 2 / 3])
        assert found(np.array([1.5, 2.5])) == pytest.approx([1 / 3, 2 / 3])

    def test_as_scikit_learn(self):
        judge, truth = lenient()
        theirs = IsotonicRegression(out_of_bounds="nan").fit(judge, truth)
        grid = np.linspace(0, 6, 50)
        assert Isotonic.fit(judge, truth)(grid) == pytest.approx(theirs.predict(grid), nan_ok=True)

    def test_it_refuses_what_lies_outside(self):
        found = Isotonic.fit(np.array([2.0, 3.0]), np.array([1.0, 2.0]))
        assert np.isnan(found(np.array([1.9, 3.1]))).all()


class TestOrdinalLogistic:
    def test_as_statsmodels(self):
        judge, truth = lenient(600)
        theirs = OrderedModel(truth.astype(int), judge[:, None], distr="logit").fit(method="bfgs", disp=False)
        ours = ProportionalOdds.fit(judge, truth.astype(int) - 1, 5)
        assert ours.slope == pytest.approx(theirs.params[0], rel=5e-3)
        assert ours.probabilities(np.array([4.0])) == pytest.approx(theirs.predict(np.array([[4.0]])), abs=2e-3)

    def test_the_gradient_is_that_of_the_likelihood(self):
        judge, truth = lenient(50)
        at, codes = np.array([0.3, -1.0, 0.2, -0.1, 0.4]), truth.astype(int) - 1
        more = judge, codes, np.random.default_rng(1).uniform(0.5, 3, 50)
        steps = 1e-6 * np.eye(5)
        rise = [(_penalised(at + s, *more)[0] - _penalised(at - s, *more)[0]) / 2e-6 for s in steps]
        assert _penalised(at, *more)[1] == pytest.approx(rise, rel=1e-4, abs=1e-4)

    def test_a_search_that_does_not_arrive(self, monkeypatch):
        monkeypatch.setattr(proportional_odds, "MOST_STEPS", 1)
        found = recalibrate(*lenient(), np.arange(1, 6), method="ordinal-logistic", bootstrap=0)
        assert found.reason == "the proportional-odds model did not converge in 1 steps"
        assert found.map is None
        assert np.isnan(found.mapped).all()
        assert found.before.brier.defined
        assert not found.after.brier.defined

    def test_separated_answers_and_an_unused_category(self):
        found = OrdinalLogistic.fit(np.array([1.0] * 9 + [2.0] * 9), np.array([1.0] * 9 + [3.0] * 9), np.arange(1.0, 4))
        assert found(np.array([1.0, 2.0])) == pytest.approx([1, 3], abs=0.05)
        assert np.isnan(found(np.array([0.5])))[0]


class TestRecalibrate:
    @pytest.mark.parametrize("method", ["isotonic", "ordinal-logistic"])
    def test_leniency_is_taken_out(self, method):
        found = recalibrate(*lenient(), np.arange(1, 6), method=method, bootstrap=100)
        assert found.after.ece.value < found.before.ece.value / 2
        assert found.after.mae.value < found.before.mae.value
        assert found.to_json()["out_of_sample"] is True
        assert found.map is not None

    def test_nothing_is_learnt_from_noise(self):
        # fitted and checked on the same items a map of noise would seem better than the mean; out of sample it is not
        rng = np.random.default_rng(6)
        truth = rng.integers(0, 2, 80).astype(float)
        found = recalibrate(rng.random(80), truth, [0, 1], bootstrap=0)
        assert found.after.brier.value > truth.var()

    def test_clusters_stay_together(self):
        clusters = [str(k // 4) for k in range(80)]
        fold = assign_folds(clusters, np.ones(80, dtype=bool), 5, seed=0)
        assert all(len(set(fold[k : k + 4])) == 1 for k in range(0, 80, 4))
        assert np.bincount(fold).tolist() == [16] * 5

    def test_leaking_clusters_would_flatter(self):
        # the judge's score is the cluster's number, people's label a coin per cluster: nothing to learn
        rng = np.random.default_rng(7)
        cluster = np.repeat(np.arange(40), 5)
        truth = rng.integers(0, 2, 40).astype(float)[cluster]
        names = [str(c) for c in cluster]
        leaking = recalibrate(cluster, truth, [0, 1], bootstrap=0)
        honest = recalibrate(cluster, truth, [0, 1], clusters=names, bootstrap=0)
        assert honest.after.brier.value > leaking.after.brier.value

    def test_scores_outside_the_other_folds_are_refused_and_counted(self):
        judge, truth = lenient(60)
        judge[0] = 9.0
        found = recalibrate(judge, truth, np.arange(1, 6), bootstrap=0)
        assert np.isnan(found.mapped[0])
        assert found.outside >= 1
        assert found.after.n == found.before.n == 60 - found.outside


class TestWeights:
    @pytest.mark.parametrize("method", ["isotonic", "ordinal-logistic"])
    def test_a_weight_of_two_is_an_item_twice(self, method):
        judge, truth = lenient(120)
        twice = truth >= 4
        weights = np.where(twice, 2.0, 1.0)
        steps, order = np.arange(1.0, 6), np.r_[np.arange(120), np.flatnonzero(twice)]
        weighted = fit_map(judge, truth, steps, method, weights=weights)
        repeated = fit_map(judge[order], truth[order], steps, method)
        assert weighted(judge) == pytest.approx(repeated(judge), abs=1e-3)

    def test_they_enter_map_and_figures(self):
        # the judge is right on the items that stand for nine each, and always one too high on the others
        truth = np.tile([1.0, 2, 3, 4], 30)
        rare = np.arange(120) < 60
        judge, weights = np.where(rare, truth, truth + 1), np.where(rare, 9.0, 1.0)
        found = recalibrate(judge, truth, np.arange(1.0, 6), weights=weights, bootstrap=200)
        assert found.before.mae.value == pytest.approx(0.1)
        assert found.before.brier.value == pytest.approx(0.1 / 16)
        # at 3 nine parts say 3 and one part 2
        assert found.map(np.array([3.0]))[0] == pytest.approx(2.9)
        assert recalibrate(judge, truth, np.arange(1.0, 6)).map(np.array([3.0]))[0] == pytest.approx(2.5)


class TestDegenerate:
    @pytest.mark.parametrize(
        ("judge", "human", "why"),
        [
            ([1.0] * 5, [1.0, 0, 1, 0, 1], "at least 10"),
            ([1.0] * 20, [1.0, 0] * 10, "always gives the same score"),
            ([1.0, 0] * 10, [1.0] * 20, "every label is the same"),
        ],
    )
    def test_no_map(self, judge, human, why):
        found = recalibrate(judge, human, [0, 1], bootstrap=0)
        assert why in found.reason
        assert found.map is None
        assert not found.after.ece.defined
        assert found.before.mae.defined

    def test_one_cluster(self):
        found = recalibrate([1.0, 0] * 10, [1.0, 0] * 10, [0, 1], clusters=["a"] * 20, bootstrap=0)
        assert "one cluster" in found.reason

    def test_wrong_input(self):
        with pytest.raises(ValueError, match="method"):
            recalibrate([1.0], [1.0], [0, 1], method="platt")
        with pytest.raises(ValueError, match="folds"):
            recalibrate([1.0], [1.0], [0, 1], folds=1)
        with pytest.raises(ValueError, match="one entry"):
            recalibrate([1.0], [1.0, 2.0], [0, 1])
