import numpy as np
import pytest

from judging.stats.risk_coverage import risk_coverage


def test_by_hand():
    # surest first: right, wrong, right, wrong -> risk 0, 1/2, 1/3, 1/2; their mean is 1/3
    found = risk_coverage([0.9, 0.8, 0.7, 0.6], [True, False, True, False], bootstrap=50)
    assert found.coverage.tolist() == [0.25, 0.5, 0.75, 1]
    assert found.risk == pytest.approx([0, 1 / 2, 1 / 3, 1 / 2])
    assert found.area.value == pytest.approx(1 / 3)
    assert found.thresholds.tolist() == [0.9, 0.8, 0.7, 0.6]


def test_equally_sure_verdicts_are_kept_together():
    found = risk_coverage([0.9, 0.9, 0.1, 0.1], [True, False, False, False], bootstrap=0)
    assert found.risk == pytest.approx([1 / 2, 3 / 4])
    assert found.area.value == pytest.approx((1 / 2 + 3 / 4) / 2)
    assert found.area.reason is None


def test_a_confidence_that_says_nothing_has_the_error_rate():
    found = risk_coverage([0.5] * 20, [True, False] * 10)
    assert found.area.value == pytest.approx(found.error)
    assert found.area.low < 0.5 < found.area.high


def test_a_telling_confidence_does_better():
    rng = np.random.default_rng(4)
    sure = rng.random(400)
    found = risk_coverage(sure, rng.random(400) < 0.5 + sure / 2)
    assert found.area.high < found.error
    points = found.as_json()["points"]
    assert len(points) == 200
    assert (points[0]["threshold"], points[-1]["coverage"]) == (max(sure), 1)


def test_nothing_to_rank():
    found = risk_coverage([np.nan], [True])
    assert found.area.reason == "no labelled item with a confidence"
