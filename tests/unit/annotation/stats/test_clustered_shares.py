import numpy as np
import pytest

from annotation.stats.clustered_shares import estimate_clustered_share
from judging.stats.asymptotic import share


def test_of_independent_items_it_is_wilsons_interval():
    assert estimate_clustered_share(np.r_[np.ones(30), np.zeros(10)]) == share(30, 40, n_raters=1)


def test_clusters_that_agree_as_one_are_worth_one_item_each():
    # 20 clusters of 5 equal items, 10 yes: the variance is that of 20 items times 20 / 19
    values, clusters = np.repeat([1.0, 0.0] * 10, 5), [str(k) for k in np.repeat(np.arange(20), 5)]
    found, alone = estimate_clustered_share(values, clusters=clusters), share(10, 20, n_raters=1)
    assert found.value == 0.5
    assert found.low < alone.low
    assert found.high > alone.high
    assert found.low == pytest.approx(alone.low, abs=0.03)


def test_weights():
    found = estimate_clustered_share(np.array([1.0, 0.0, 0.0]), weights=np.array([2.0, 1.0, 1.0]))
    assert found.value == 0.5


def test_items_of_little_weight_are_no_evidence():
    # of 50 items five hold nearly all of the weight: the interval is that of five
    weights = np.r_[np.full(5, 1000.0), np.ones(45)]
    found, five = estimate_clustered_share(np.ones(50), weights=weights), share(5, 5, n_raters=1)
    assert found.low == pytest.approx(five.low, abs=0.01)


@pytest.mark.parametrize("share_of_yes", [0.5, 0.9])
def test_intervals_of_unequal_weights_hold_what_they_say(share_of_yes):
    rng = np.random.default_rng(2)
    missed = 0
    for _ in range(400):
        weights, values = np.exp(rng.normal(0, 1.5, 200)), (rng.random(200) < share_of_yes).astype(float)
        found = estimate_clustered_share(values, weights=weights)
        missed += not found.low <= share_of_yes <= found.high
    assert missed <= 28  # 5 % and two standard errors


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_where_nothing_varies_the_clusters_are_what_there_is(value):
    clusters = [str(k) for k in np.repeat(np.arange(8), 10)]
    found = estimate_clustered_share(np.full(80, value), clusters=clusters)
    assert (found.low, found.high) == pytest.approx((share(int(8 * value), 8).low, share(int(8 * value), 8).high))


def test_one_cluster_has_no_interval():
    found = estimate_clustered_share(np.array([1.0, 0.0]), clusters=["a", "a"])
    assert found.value == 0.5
    assert np.isnan(found.low)
    assert found.reason == "no interval: one cluster"


def test_no_items():
    assert estimate_clustered_share(np.zeros(0), reason="nothing").reason == "nothing"
