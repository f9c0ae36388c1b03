import numpy as np
import pytest
from scipy import stats

from judging.stats.prediction_powered import LabelledSample, power_tuned, ppi_mean
from tests.unit.annotation.stats.data import load
from tests.unit.judging.stats.test_rogan_gladen import constructed


def ends(estimate):
    return [estimate.low, estimate.high]


class TestStoredValues:
    # ppi-python 0.2.3 on the constructed example, stored in judge_corrected_rate.json
    expected = property(lambda _: load("classic/judge_corrected_rate.json")["expected"]["ppi_py"])

    def test_power_tuned(self):
        found = ppi_mean(LabelledSample.from_columns(*constructed()))
        assert found.ppi.value == pytest.approx(self.expected["power_tuned_point"], abs=1e-9)
        # theirs takes lambda as known and a normal quantile; ours tunes it anew without each item: a little wider
        low, high = self.expected["power_tuned_ci95"]
        assert low - 0.005 < found.ppi.low < low
        assert high < found.ppi.high < high + 0.005

    def test_lambda_one(self):
        found = ppi_mean(LabelledSample.from_columns(*constructed()), weight=1)
        assert found.ppi.value == pytest.approx(self.expected["lam1_point"], abs=1e-9)
        # with a given lambda the jackknife's variance is s^2 / n of both parts, with n - 1; theirs divides by n
        human, judge = map(np.asarray, constructed())
        y, f, rest = human[:100], judge[:100], judge[100:]
        error = np.sqrt((y - f).var(ddof=1) / 100 + rest.var(ddof=1) / 500)
        assert found.ppi_error == pytest.approx(error, rel=1e-9)
        width = self.expected["lam1_ci95"][1] - self.expected["lam1_ci95"][0]
        assert error == pytest.approx(width / 2 / stats.norm.ppf(0.975), rel=0.006)

    def test_labels_alone(self):
        found = ppi_mean(LabelledSample.from_columns(*constructed()))
        theirs = stats.ttest_1samp(constructed()[0][:100], 0).confidence_interval()
        assert ends(found.human_only) == pytest.approx([theirs.low, theirs.high], abs=1e-9)
        assert ends(found.human_only) == pytest.approx(self.expected["classical_ci95"], abs=0.003)

    def test_lambda_by_hand(self):
        # cov .54 - .6 * .6 = .18; pooled rate 410/600, var 600/599 of it; 1 + n/N = 1.2
        p = 410 / 600
        assert power_tuned(LabelledSample.from_columns(*constructed())) == pytest.approx(
            0.18 / (1.2 * p * (1 - p) * 600 / 599)
        )

    def test_pandalm(self):
        reference = load("pandalm/reference.json")["correction_demo"]
        people = load("pandalm/testset-v1.json")
        judge = [r["gpt_result"] == "2" for r in load("pandalm/gpt-3.5-turbo-testset-v1.json")]
        votes = np.array([[r[f"annotator{j}"] for j in (1, 2, 3)] for r in people])
        truth = ((votes == 2).sum(axis=1) >= 2).astype(float)
        truth[100:] = np.nan
        found = ppi_mean(LabelledSample.from_columns(truth, np.array(judge, dtype=float)))
        assert found.weight == pytest.approx(reference["ppi_plus_lambda(ppi_py formula)"], abs=1e-9)
        assert found.ppi.value == pytest.approx(reference["ppi_plus"], abs=1e-9)
        assert ends(found.ppi) == pytest.approx(reference["ppi_plus_ci95"], abs=0.003)
        assert found.human_only.value == reference["human_only_n100"]


class TestWorth:
    def test_effective_labels(self):
        found = ppi_mean(LabelledSample.from_columns(*constructed()))
        narrower = found.human_only.se / found.ppi.se
        assert found.effective_n == pytest.approx(100 * narrower**2)
        assert found.saved == pytest.approx(found.effective_n - 100)

    def test_a_constant_judge_is_worth_nothing(self):
        found = ppi_mean(LabelledSample.from_columns([1, 0, 1, 1] + [np.nan] * 6, [1.0] * 10))
        assert found.weight == 0
        assert found.ppi.value == found.human_only.value
        assert found.effective_n == pytest.approx(4)

    def test_a_contrary_judge_is_not_used(self):
        found = ppi_mean(LabelledSample.from_columns([1, 0, 1, 0, np.nan, np.nan], [0, 1, 0, 1, 0, 1]))
        assert found.weight == 0

    def test_document(self):
        document = ppi_mean(LabelledSample.from_columns(*constructed())).to_json()
        assert set(document) == {"human_only", "judge_only", "ppi"}
        assert {"value", "low", "high", "reason", "lambda", "effective_n"} <= set(document["ppi"])


class TestWeightsAndClusters:
    def test_weights_undo_an_unequal_draw(self):
        # two strata of 1000 with means 0 and 1; 90 labels from the first, 10 from the second
        human = np.r_[np.zeros(90), np.ones(10), np.full(200, np.nan)]
        judge = np.r_[np.zeros(90), np.ones(10), np.zeros(100), np.ones(100)]
        weights = np.r_[np.full(90, 1000 / 90), np.full(10, 100.0), np.ones(200)]
        assert ppi_mean(LabelledSample.from_columns(human, judge)).human_only.value == pytest.approx(0.1)
        found = ppi_mean(LabelledSample.from_columns(human, judge, weights=weights))
        assert found.human_only.value == pytest.approx(0.5)
        assert found.ppi.value == pytest.approx(0.5)

    def test_equal_weights_change_nothing(self):
        plain, weighted = (
            ppi_mean(LabelledSample.from_columns(*constructed(), weights=w)) for w in (None, np.full(600, 3.0))
        )
        assert ends(plain.ppi) == pytest.approx(ends(weighted.ppi))

    def test_each_item_twice_in_one_cluster_is_as_wide_as_once(self):
        human, judge = (np.repeat(column, 2) for column in constructed())
        names = [str(k) for k in np.repeat(np.arange(600), 2)]
        once = ppi_mean(LabelledSample.from_columns(*constructed()), weight=0.7)
        twice = ppi_mean(LabelledSample.from_columns(human, judge, clusters=names), weight=0.7)
        assert twice.ppi.high - twice.ppi.low == pytest.approx(once.ppi.high - once.ppi.low, rel=1e-2)
        assert twice.ppi.value == pytest.approx(once.ppi.value)


class TestDegenerate:
    def test_equal_labels_have_no_interval(self):
        found = ppi_mean(LabelledSample.from_columns([1.0] * 8 + [np.nan] * 2, [1.0] * 10))
        assert found.human_only.value == 1
        assert np.isnan(found.human_only.low)
        assert found.human_only.reason == "no interval: the data do not vary"

    def test_few_labels_have_no_interval_however_many_unlabelled(self):
        rng = np.random.default_rng(0)
        judge = rng.integers(0, 2, 207).astype(float)
        human = np.where(np.arange(207) < 7, np.arange(207) % 2, np.nan)
        found = ppi_mean(LabelledSample.from_columns(human, judge))
        assert found.ppi.reason == found.human_only.reason == "not enough evidence: 7 items; at least 8 are needed"
        assert np.isnan(found.ppi.low)

    def test_an_interval_of_a_rate_stays_between_0_and_1(self):
        human = np.array([1.0] * 19 + [0.0] + [np.nan] * 100)
        found = ppi_mean(LabelledSample.from_columns(human, np.nan_to_num(human, nan=1.0)), bounds=(0.0, 1.0))
        assert 0 < found.human_only.low < 0.95 < found.human_only.high < 1

    def test_without_labels(self):
        found = ppi_mean(LabelledSample.from_columns([np.nan] * 3, [1, 0, 1]))
        assert found.ppi.reason == found.human_only.reason
        assert found.judge_only.value == pytest.approx(2 / 3)
        assert found.to_json()["ppi"]["effective_n"] is None

    def test_without_unlabelled_items(self):
        found = ppi_mean(LabelledSample.from_columns([1, 0], [1, 0]))
        assert found.ppi.reason == "no unlabelled item that the judge scored"
        assert found.human_only.value == 0.5

    def test_what_the_judge_left_unscored_takes_no_part(self):
        data = LabelledSample.from_columns([1, 0, np.nan, np.nan], [1, np.nan, np.nan, 1])
        assert (data.n, data.n_unlabelled) == (1, 1)

    def test_wrong_input(self):
        with pytest.raises(ValueError, match="one entry per item"):
            LabelledSample.from_columns([1], [1, 0])
        with pytest.raises(ValueError, match="positive"):
            LabelledSample.from_columns([1, 0], [1, 0], weights=[1, 0])
