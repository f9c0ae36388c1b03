import numpy as np
import pytest
import scipy

from annotation.stats.intervals import Basis
from judging.stats.asymptotic import build_resampling
from judging.stats.calibration_error import compute_plain_error, estimate_calibration_error, place_in_bins


def build(gaps, place, *, bins=10, clusters=None, weights=None, bootstrap=100):
    gaps = np.asarray(gaps, dtype=float)
    weights = np.ones(len(gaps)) if weights is None else np.asarray(weights, dtype=float)
    return (
        place_in_bins(gaps, np.asarray(place), bins),
        build_resampling(len(gaps), clusters, weights, 0.95, bootstrap=bootstrap, seed=0),
    )


def estimate(gaps, place, **options):
    contributions, resampling = build(gaps, place, **options)
    return estimate_calibration_error(contributions, resampling, Basis(len(gaps), 2, 2 * len(gaps)))


def draw(rng, n, *, over=0.0):
    """Scores of .05 to .95 and labels; ``over`` is how far the scores are above the labels' mean."""
    p = (rng.integers(0, 10, n) + 0.5) / 10
    y = rng.random(n) < np.clip(p - over, 0, 1)
    return p - y, (p * 10).astype(int)


def test_in_one_bin_it_is_the_mean_gap_with_students_t():
    """Far from 0 nothing is taken off, and the interval is that of a mean."""
    gaps = np.random.default_rng(1).normal(0.4, 0.3, 40)
    found = estimate(gaps, np.zeros(40, dtype=int))
    half = scipy.stats.t.ppf(0.975, 39) * gaps.std(ddof=1) / np.sqrt(40)
    assert found.value == pytest.approx(gaps.mean(), abs=0.003)
    assert (found.low, found.high) == pytest.approx((gaps.mean() - half, gaps.mean() + half), abs=0.006)
    assert (found.method, found.seed, found.n_items) == ("hybrid resampling", 0, 40)


def test_a_sum_that_chance_would_not_make_so_small_has_no_interval():
    """Two bins whose labels are right on average to the last item, as after a map that was fitted to them."""
    gaps = np.tile([-0.5, 0.5], 40)
    found = estimate(gaps, np.arange(80) // 40)
    assert found.value == 0
    assert np.isnan([found.low, found.high]).all()
    assert "better than chance allows" in found.reason


def test_clusters_widen_it():
    gaps = np.repeat(np.random.default_rng(1).normal(0.4, 0.3, 12), 20)
    alone = estimate(gaps, np.zeros(240, dtype=int))
    found = estimate(gaps, np.zeros(240, dtype=int), clusters=[str(n // 20) for n in range(240)])
    assert found.high - found.low > 4 * (alone.high - alone.low)


@pytest.mark.long
@pytest.mark.parametrize(("n", "over", "true"), [(60, 0.0, 0.0), (60, 0.1, 0.095), (400, 0.1, 0.095)])
def test_its_intervals_hold_the_error_of_the_population(n, over, true):
    """Scores of .05 that are .1 too high cannot be: the lowest of ten bins has a gap of .05. So .095 on average."""
    rng = np.random.default_rng(2)
    found = [estimate(*draw(rng, n, over=over)) for _ in range(100)]
    assert np.mean([one.low <= true <= one.high for one in found]) > 0.88  # 3 standard errors below .95


@pytest.mark.long
def test_the_plain_sum_counts_noise_as_error():
    rng = np.random.default_rng(2)
    samples = [draw(rng, 60) for _ in range(100)]
    assert np.mean([compute_plain_error(*build(*one)) for one in samples]) > 0.12  # and there is none
    assert np.median([estimate(*one).value for one in samples]) < 0.04


def test_the_scale_of_weights_does_not_matter():
    gaps, place = draw(np.random.default_rng(3), 80, over=0.2)
    weights = np.random.default_rng(4).uniform(1, 3, 80)
    one, other = (estimate(gaps, place, weights=by * weights) for by in (1, 7))
    assert (one.low, one.value, one.high) == pytest.approx((other.low, other.value, other.high))


def test_a_bin_that_does_not_vary_keeps_its_gap():
    gaps = np.r_[np.zeros(20), [0.5] * 11, [-0.5] * 9]
    found = estimate(gaps, np.r_[np.zeros(20, dtype=int), np.ones(20, dtype=int)], bins=2)
    assert found.low == found.value == 0
    assert 0.05 < found.high < 0.2


@pytest.mark.parametrize(
    ("gaps", "clusters", "bootstrap", "value", "why"),
    [
        ([0.0] * 20, None, 100, 0.0, "no interval: leaving out any of the items changes nothing"),
        ([0.3, 0.5] * 10, ["a"] * 20, 100, 0.4, "not enough evidence: 1 cluster; at least 8 are needed"),
        ([0.3, 0.5] * 3, None, 100, 0.4, "not enough evidence: 6 items; at least 8 are needed"),
        ([0.3, 0.5] * 10, None, 0, 0.4, "no interval: none was asked for (0 resamples)"),
    ],
)
def test_no_interval(gaps, clusters, bootstrap, value, why):
    found = estimate(gaps, np.zeros(len(gaps), dtype=int), clusters=clusters, bootstrap=bootstrap)
    assert found.value == pytest.approx(value, abs=0.005)
    assert (found.reason, found.method, found.seed) == (why, "none", None)
    assert np.isnan(found.low)


def test_nothing():
    contributions, resampling = build([0.1] * 10, [0] * 10)
    found = estimate_calibration_error(0 * contributions, resampling, Basis(0, 2, 0), "no scores")
    assert np.isnan(found.value)
    assert found.reason == "no scores"
