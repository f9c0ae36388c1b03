import numpy as np
import pytest

from judging.stats.reliability import reliability


def test_by_hand():
    # bins of a tenth. .25 .25 -> labels 0 1 (mean .5, gap .25); .75 .75 -> 1 1 (gap .25)
    found = reliability([0.25, 0.25, 0.75, 0.75], [0, 1, 1, 1], bootstrap=50)
    assert found.plain_ece == found.to_json()["ece"] == pytest.approx(0.25)
    # squares: .0625 .5625 .0625 .0625; absolute: .25 .75 .25 .25
    assert found.brier.value == pytest.approx(0.75 / 4)
    assert found.mae.value == pytest.approx(1.5 / 4)
    assert found.sharpness.value == pytest.approx(0.25)
    assert [(b.n, b.score, b.human.value) for b in found.bins] == [(2, 0.25, 0.5), (2, 0.75, 1.0)]


def test_a_scale_is_mapped_to_its_ends():
    # 1 … 5: a unit too high on every item is a quarter of the scale
    found = reliability([2, 3, 4, 5] * 50, [1, 2, 3, 4] * 50, scale=(1, 5), bootstrap=50)
    assert found.mae.value == pytest.approx(1)
    assert found.plain_ece == pytest.approx(0.25)
    assert found.ece.value == pytest.approx(0.25, abs=0.005)
    assert found.brier.value == pytest.approx(1 / 16)
    assert found.bins[0].human.low >= 1


def test_what_is_missing_is_counted():
    found = reliability([0.5, np.nan, 0.5, 0.2], [1, 1, 0, np.nan], bootstrap=0)
    assert (found.n, found.left_out) == (2, 1)


def test_too_little():
    found = reliability([0.5], [1])
    assert found.ece.reason == "fewer than two labelled items with a score"
    assert found.to_json()["bins"] == []


def test_an_honest_score_has_little_error():
    rng = np.random.default_rng(5)
    p = rng.random(4000)
    found = reliability(p, rng.random(4000) < p, bootstrap=100)
    assert found.ece.value < 0.04
    assert found.brier.value == pytest.approx(1 / 6, abs=0.01)  # mean of p (1 - p)


def test_few_clusters_get_students_t_of_their_means_and_very_few_no_interval():
    # clusters of equal size: the jackknife's error is that of the mean of their means
    rng = np.random.default_rng(3)
    p, y = rng.random(160), rng.integers(0, 2, 160)
    means = ((p - y) ** 2).reshape(8, 20).mean(axis=1)
    found = reliability(p, y, clusters=[f"profile {n // 20}" for n in range(160)])
    assert found.brier.method == "jackknife t"
    assert found.brier.se == pytest.approx(means.std(ddof=1) / np.sqrt(8))
    assert 0 < found.brier.low < found.brier.value < found.brier.high < 1
    seven = reliability(p, y, clusters=[f"profile {n % 7}" for n in range(160)])
    assert seven.brier.reason == seven.ece.reason == "not enough evidence: 7 clusters; at least 8 are needed"


def test_many_items_get_a_bootstrap():
    rng = np.random.default_rng(3)
    p = rng.random(1500)
    found = reliability(p, rng.random(1500) < p)
    assert found.brier.method == "BCa"
    assert found.brier.seed == 0
    # the delta method of a mean
    assert (found.brier.high - found.brier.low) / 2 / 1.96 == pytest.approx(found.brier.se, rel=0.1)


def test_a_weight_of_two_is_an_item_twice():
    p, y = np.array([0.1, 0.4, 0.8, 0.9]), np.array([0.0, 1, 1, 0])
    weighted = reliability(p, y, weights=[1, 2, 1, 1], bootstrap=0)
    repeated = reliability(np.r_[p, 0.4], np.r_[y, 1], bootstrap=0)
    assert weighted.plain_ece == pytest.approx(repeated.plain_ece)
    for name in ("brier", "mae", "sharpness"):
        assert getattr(weighted, name).value == pytest.approx(getattr(repeated, name).value)
    assert weighted.bins[1].human.value == repeated.bins[1].human.value


def test_bins_of_clusters_are_as_wide_as_clusters_make_them():
    y = np.repeat([0.0, 1.0], 50)
    alone = reliability(np.full(100, 0.55), y, bootstrap=0).bins[0].human
    ten = reliability(np.full(100, 0.55), y, clusters=[str(n // 10) for n in range(100)], bootstrap=0).bins[0].human
    assert ten.high - ten.low > 2.5 * (alone.high - alone.low)


def test_wrong_input():
    with pytest.raises(ValueError, match="ascend"):
        reliability([0.5], [1], scale=(1, 1))
