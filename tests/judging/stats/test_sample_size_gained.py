import numpy as np
import pytest

from judging.stats.prediction_powered import Labelled, ppi_mean
from judging.stats.sample_size_gained import sample_size_gained


def data(n=100, others=1000, r=0.8, per=1, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n + others)
    f = r * y + np.sqrt(1 - r**2) * rng.normal(size=n + others)
    y[n:] = np.nan
    clusters = None if per == 1 else [str(k // per) for k in range(n + others)]
    found = Labelled.of(y, f, clusters=clusters)
    return found, ppi_mean(found)


def test_the_value_is_that_of_the_corrected_mean():
    one = data()
    found = sample_size_gained([one])
    assert found.value == pytest.approx(one[1].effective_n / 100 - 1)
    assert found.low < found.value < found.high
    assert found.low > -1


def test_fewer_clusters_know_less():
    alone, together = sample_size_gained([data()]), sample_size_gained([data(per=10)])
    assert together.high - together.low > alone.high - alone.low


def test_the_interval_holds_the_gain():
    # 1 / (1 - r^2 N / (n + N)) - 1 with r .8, n 100, N 1000
    true = 1 / (1 - 0.64 * 1000 / 1100) - 1
    found = [sample_size_gained([data(seed=seed)]) for seed in range(60)]
    assert sum(one.low > true for one in found) <= 5
    assert sum(one.low <= true <= one.high for one in found) >= 50


def test_without_unlabelled_items_nothing_is_gained():
    found = sample_size_gained([data(others=0)])
    assert np.isnan(found.value)
    assert found.reason == "no unlabelled item that the judge scored"


def test_without_labels():
    assert "fewer than two items" in sample_size_gained([data(n=1)]).reason


def test_a_judge_that_is_not_used_has_no_interval():
    y = np.r_[np.arange(20.0), np.full(50, np.nan)]
    found = Labelled.of(y, np.r_[-np.arange(20.0), np.linspace(0, -20, 50)])
    gained = sample_size_gained([(found, ppi_mean(found))])
    assert gained.value == pytest.approx(0)
    assert np.isnan(gained.low)
    assert "does not use the judge" in gained.reason
