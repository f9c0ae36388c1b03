import numpy as np
import pytest

from annotation.stats.intervals import NOT_ASKED
from judging.stats import risk_coverage as module
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
    assert found.area.reason == NOT_ASKED


def test_a_confidence_that_says_nothing_has_the_error_rate():
    found = risk_coverage([0.5] * 20, [True, False] * 10)
    assert found.area.value == pytest.approx(found.error)
    assert found.area.low < 0.5 < found.area.high


def test_a_telling_confidence_does_better():
    rng = np.random.default_rng(4)
    sure = rng.random(400)
    found = risk_coverage(sure, rng.random(400) < 0.5 + sure / 2)
    assert found.area.high < found.error
    points = found.to_json()["points"]
    assert len(points) == 200
    assert (points[0]["threshold"], points[-1]["coverage"]) == (max(sure), 1)


def test_nothing_to_rank():
    found = risk_coverage([np.nan], [True])
    assert found.area.reason == "no labelled item with a confidence"


def columns(n, seed=4):
    rng = np.random.default_rng(seed)
    sure = rng.random(n).round(2)
    return sure, (rng.random(n) < 0.5 + sure / 2).astype(float)


def test_without_an_item_the_area_is_that_of_the_others():
    # the jackknife's standard error by its definition
    sure, agrees = columns(40)
    rng = np.random.default_rng(1)
    weights = rng.uniform(1, 3, 40)

    def area(kept):
        return risk_coverage(sure[kept], agrees[kept], weights=weights[kept], bootstrap=0).area.value

    without = [area(np.arange(40) != one) for one in range(40)]
    found = risk_coverage(sure, agrees, weights=weights)
    assert found.area.se == pytest.approx(np.sqrt(39 / 40 * ((without - np.mean(without)) ** 2).sum()))
    assert found.area.method == "jackknife t"


@pytest.mark.parametrize("clusters", [None, [str(n % 100) for n in range(1000)]])
def test_of_many_units_the_derivative_says_the_same(monkeypatch, clusters):
    sure, agrees = columns(1000)
    exact = risk_coverage(sure, agrees, clusters=clusters, bootstrap=50)
    monkeypatch.setattr(module, "MOST_LEFT_OUT", 0)
    linear = risk_coverage(sure, agrees, clusters=clusters, bootstrap=50)
    assert linear.area.se == pytest.approx(exact.area.se, rel=0.02)
    assert linear.area.se != exact.area.se


def test_few_clusters_allow_no_interval():
    sure, agrees = columns(140)
    seven, eight = (risk_coverage(sure, agrees, clusters=[str(n % k) for n in range(140)]).area for k in (7, 8))
    assert seven.reason == "not enough evidence: 7 clusters; at least 8 are needed"
    assert 0 < eight.low < eight.value < eight.high < 1
