import json

import numpy as np
import pytest

from judging.stats.calibrate import Columns, calibrate
from tests.unit.judging.stats.test_rogan_gladen import constructed


def binary(no="0", yes="1", **more):
    human, judge = constructed()
    names = {0: no, 1: yes}
    return Columns(
        tuple(None if np.isnan(y) else names[y] for y in human),
        tuple(names[f] for f in judge),
        (no, yes),
        "nominal",
        **more,
    )


def scale(n=300, labelled=100, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 6, n)
    judge = np.clip(truth + rng.integers(0, 2, n), 1, 5)
    human = tuple(int(t) if k < labelled else None for k, t in enumerate(truth))
    return Columns(human, tuple(judge.tolist()), (1, 2, 3, 4, 5), "ordinal"), truth


class TestBinary:
    @pytest.mark.parametrize(("no", "yes"), [("0", "1"), ("fail", "pass"), ("1", "2")])
    def test_the_rate_of_the_second_category(self, no, yes):
        found = calibrate(binary(no, yes), bootstrap=0)
        assert found.estimand == f"the rate of {yes}"
        assert found.mean.ppi.value == pytest.approx(0.66920410783)
        assert found.rogan_gladen.rate.value == pytest.approx(0.55 / 0.75)

    @pytest.mark.parametrize("names", [("0", "1"), ("fail", "pass"), ("1", "2")])
    def test_the_rate_of_the_other(self, names):
        found = calibrate(binary(*names), positive=names[0], bootstrap=0)
        assert found.estimand == f"the rate of {names[0]}"
        assert found.mean.ppi.value == pytest.approx(1 - 0.66920410783)
        assert found.rogan_gladen.sensitivity.value == 0.85

    def test_one_category_on_no_scale(self):
        with pytest.raises(ValueError, match="not on the scale"):
            calibrate(binary(), positive="7")

    def test_probabilities_are_their_own_confidence(self):
        rng = np.random.default_rng(1)
        p = rng.random(400)
        human = tuple(int(rng.random() < x) for x in p)
        found = calibrate(Columns(human, tuple(p.tolist()), (0, 1), "nominal"), targets=(0.75,), bootstrap=0)
        assert found.rogan_gladen is None
        assert found.selective[0].guaranteed
        assert 0.5 < found.selective[0].threshold < 0.95
        assert len(found.curve.thresholds) > 300


class TestScale:
    def test_a_lenient_judge_is_corrected(self):
        columns, truth = scale()
        found = calibrate(columns, bootstrap=50)
        assert found.mean.judge_only.low > truth.mean()
        assert found.mean.ppi.low < truth.mean() < found.mean.ppi.high
        assert found.scores.after.brier.value < found.scores.before.brier.value
        assert found.rogan_gladen is None
        assert [warning.code for warning in found.warnings] == ["no_confidence"]

    def test_a_nominal_scale_has_rates(self):
        columns, truth = scale()
        nominal = Columns(columns.human, columns.judge, columns.categories, "nominal")
        document = calibrate(nominal, bootstrap=0).to_json()
        assert set(document["by_category"]) == {"1", "2", "3", "4", "5"}
        assert document["by_category"]["5"]["ppi"]["low"] < (truth == 5).mean()
        assert document["ppi"]["value"] is None
        assert "has no mean" in document["ppi"]["reason"]
        assert document["scores"] is None


class TestContract:
    def test_keys(self):
        document = calibrate(binary(), bootstrap=20).to_json()
        json.dumps(document, allow_nan=False)
        keys = {"n_labelled", "n_unlabelled", "human_only", "judge_only", "ppi", "rogan_gladen", "scores", "selective"}
        assert keys <= set(document)
        assert {"value", "low", "high", "reason", "lambda", "effective_n"} <= set(document["ppi"])
        assert {"value", "low", "high", "sensitivity", "specificity"} <= set(document["rogan_gladen"])
        assert {"before", "after", "method", "out_of_sample"} <= set(document["scores"])
        assert {"ece", "brier", "mae"} <= set(document["scores"]["before"])
        promised = {"target_agreement", "threshold", "coverage", "agreement_low", "guaranteed"}
        assert all(promised <= set(one) for one in document["selective"])


class TestBadInput:
    def codes(self, human, judge, categories=(0, 1)):
        found = calibrate(Columns(tuple(human), tuple(judge), categories, "nominal"), bootstrap=20)
        json.dumps(found.to_json(), allow_nan=False)
        return [warning.code for warning in found.warnings], found

    def test_few_labels(self):
        codes, found = self.codes([1, 0, 1] + [None] * 20, [1, 0, 0] + [1] * 20)
        assert "few_labels" in codes
        assert "a map needs at least 10" in found.scores.reason
        assert found.mean.ppi.defined

    def test_all_labels_equal(self):
        codes, found = self.codes([1] * 20 + [None] * 20, [1, 0] * 20)
        assert "equal_labels" in codes
        assert found.rogan_gladen.rate.reason == "no labelled item is a no"
        assert found.mean.human_only.reason == "no interval: the data do not vary"

    def test_a_constant_judge(self):
        codes, found = self.codes([1, 0] * 10 + [None] * 20, [1] * 40)
        assert "constant_judge" in codes
        assert found.scores.reason == "the judge always gives the same score"
        assert found.mean.weight == 0

    def test_mostly_unscored(self):
        codes, found = self.codes([1, 0] * 20 + [None] * 60, [1, 0, None, None, None] * 20)
        assert "unscored" in codes
        assert found.unscored == 60

    def test_no_overlap(self):
        codes, found = self.codes([1, 0] * 10 + [None] * 20, [None] * 20 + [1, 0] * 10)
        assert "few_labels" in codes
        assert not found.mean.ppi.defined
        assert found.mean.judge_only.value == 0.5
        assert not any(one.guaranteed for one in found.selective)

    def test_every_item_labelled(self):
        codes, found = self.codes([1, 0] * 20, [1, 0] * 20)
        assert "no_unlabelled" in codes
        assert found.mean.human_only.defined
        assert found.mean.ppi.reason == "no unlabelled item that the judge scored"

    def test_a_rare_category(self):
        codes, _ = self.codes([1] * 30 + [0] * 3 + [None] * 9, [1] * 42)
        assert "rare_category" in codes
