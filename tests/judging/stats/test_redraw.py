"""Resampling in blocks."""

from __future__ import annotations

import numpy as np
import pytest

from judging.stats import redraw
from judging.stats.reliability import reliability
from judging.stats.risk_coverage import risk_coverage

CLUSTERS = [f"profile {n % 40}" for n in range(300)]


def redraws(n, *, replicates, seed, clusters=None):
    """(B, n) how often each replicate draws each item."""
    unit = redraw.units(n, clusters)
    blocks = list(redraw.drawn(redraw.n_units(unit), replicates=replicates, seed=seed))
    return np.concatenate(blocks)[:, unit] if blocks else np.zeros((0, n))


@pytest.mark.parametrize("clusters", [None, CLUSTERS])
def test_the_size_of_a_block_changes_no_draw(monkeypatch, clusters):
    whole = redraws(300, replicates=50, seed=3, clusters=clusters)
    monkeypatch.setattr(redraw, "BUDGET", 700)

    assert np.array_equal(redraws(300, replicates=50, seed=3, clusters=clusters), whole)
    assert (whole.sum(axis=1) > 0).all()
    assert {times.size <= 700 for times in redraw.drawn(300, replicates=50, seed=3)} == {True}


def test_as_many_are_drawn_as_there_are_and_clusters_as_a_whole():
    alone = redraws(300, replicates=20, seed=0)
    assert (alone.sum(axis=1) == 300).all()
    together = redraws(300, replicates=20, seed=0, clusters=CLUSTERS)
    assert np.array_equal(together[:, :40], together[:, 40:80])


@pytest.mark.parametrize(("n", "replicates"), [(0, 5), (5, 0)])
def test_nothing_to_draw(n, replicates):
    assert redraws(n, replicates=replicates, seed=0).shape == (0, n)


@pytest.mark.parametrize("clusters", [None, CLUSTERS])
def test_reliability_from_sums_is_that_of_the_redrawn_items(clusters):
    """The definition, with the items themselves drawn: mean squared and absolute error of each replicate."""
    rng = np.random.default_rng(1)
    p, y = rng.random(300), rng.integers(0, 2, 300)
    times = redraws(300, replicates=80, seed=4, clusters=clusters)
    squared = times @ (p - y) ** 2 / times.sum(axis=1)
    absolute = times @ np.abs(p - y) / times.sum(axis=1)

    found = reliability(p, y, clusters=clusters, bootstrap=80, seed=4)

    for estimate, replicates in ((found.brier, squared), (found.mae, absolute)):
        assert [estimate.low, estimate.high] == pytest.approx(np.quantile(replicates, [0.025, 0.975]).tolist())


def test_few_clusters_allow_no_interval():
    rng = np.random.default_rng(3)
    p, y = rng.random(140), rng.integers(0, 2, 140)
    seven, eight = ([f"profile {n % k}" for n in range(140)] for k in (7, 8))
    assert np.isnan(reliability(p, y, clusters=seven, bootstrap=50).brier.low)
    assert "7 independent units; at least 8" in reliability(p, y, clusters=seven, bootstrap=50).brier.reason
    assert reliability(p, y, clusters=eight, bootstrap=50).brier.low > 0
    assert np.isnan(risk_coverage(p, y, clusters=seven, bootstrap=50).area.low)
    assert risk_coverage(p, y, clusters=eight, bootstrap=50).area.low > 0


def test_figures_do_not_depend_on_the_size_of_a_block(monkeypatch):
    rng = np.random.default_rng(2)
    p, y = rng.random(300).round(1), rng.integers(0, 2, 300)
    whole = reliability(p, y, bootstrap=60).as_json(), risk_coverage(p, y, bootstrap=60).as_json()
    monkeypatch.setattr(redraw, "BUDGET", 900)

    again = reliability(p, y, bootstrap=60).as_json(), risk_coverage(p, y, bootstrap=60).as_json()

    assert again[1] == whole[1]
    for name in ("ece", "brier", "mae", "sharpness"):
        assert again[0][name]["low"] == pytest.approx(whole[0][name]["low"])
        assert again[0][name]["high"] == pytest.approx(whole[0][name]["high"])
