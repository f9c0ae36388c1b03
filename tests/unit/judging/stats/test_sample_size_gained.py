import numpy as np
import pytest

from judging.stats.prediction_powered import LabelledSample, ppi_mean
from judging.stats.sample_size_gained import sample_size_gained


def data(n=100, others=1000, r=0.8, per=1, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n + others)
    f = r * y + np.sqrt(1 - r**2) * rng.normal(size=n + others)
    y[n:] = np.nan
    clusters = None if per == 1 else [str(k // per) for k in range(n + others)]
    found = LabelledSample.from_columns(y, f, clusters=clusters)
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


@pytest.mark.parametrize(("r", "per"), [(0.8, 1), (0.2, 1), (0.0, 1), (0.8, 5)])
def test_the_interval_holds_the_gain_and_fails_on_both_sides_alike(r, per):
    # 1 / (1 - r^2 N / (n + N)) - 1 with n 100, N 1000; 5 % of 60 are 3
    true = 1 / (1 - r**2 * 1000 / 1100) - 1
    found = [sample_size_gained([data(r=r, per=per, seed=seed)]) for seed in range(60)]
    assert sum(one.low > true for one in found) <= 5
    assert sum(one.high < true for one in found) <= 5
    assert all(one.low <= one.value <= one.high for one in found)


def test_the_rates_of_two_categories_gain_what_one_rate_gains():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 600).astype(float)
    f = np.where(rng.random(600) < 0.8, y, 1 - y)
    y[150:] = np.nan
    parts = [LabelledSample.from_columns(*columns) for columns in ((y, f), (1 - y, 1 - f))]
    once, both = (sample_size_gained([(one, ppi_mean(one)) for one in some]) for some in (parts[:1], parts))
    assert [both.value, both.low, both.high] == pytest.approx([once.value, once.low, once.high])


def test_without_unlabelled_items_nothing_is_gained():
    found = sample_size_gained([data(others=0)])
    assert np.isnan(found.value)
    assert found.reason == "no unlabelled item that the judge scored"


def test_without_labels():
    assert "fewer than two items" in sample_size_gained([data(n=1)]).reason


def test_a_judge_that_contradicts_people_is_known_to_add_nothing():
    y = np.r_[np.arange(20.0), np.full(50, np.nan)]
    found = LabelledSample.from_columns(y, np.r_[-np.arange(20.0), np.linspace(0, -20, 50)])
    gained = sample_size_gained([(found, ppi_mean(found))])
    assert gained.value == pytest.approx(0)
    assert [gained.low, gained.high] == pytest.approx([0, 0])


def test_a_constant_judge_and_few_clusters_have_no_interval():
    y = np.r_[np.arange(20.0), np.full(50, np.nan)]
    constant = LabelledSample.from_columns(y, np.ones(70))
    gained = sample_size_gained([(constant, ppi_mean(constant))])
    assert np.isnan(gained.low)
    assert "always says the same" in gained.reason
    seven = sample_size_gained([data(n=70, per=10)])
    assert np.isnan(seven.low)
    assert seven.reason == "not enough evidence: 7 clusters; at least 8 are needed"
