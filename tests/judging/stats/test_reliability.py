import numpy as np
import pytest

from judging.stats.reliability import reliability


def test_by_hand():
    # bins of a tenth. .25 .25 -> labels 0 1 (mean .5, gap .25); .75 .75 -> 1 1 (gap .25)
    found = reliability([0.25, 0.25, 0.75, 0.75], [0, 1, 1, 1], bootstrap=50)
    assert found.ece.value == pytest.approx(0.25)
    # squares: .0625 .5625 .0625 .0625; absolute: .25 .75 .25 .25
    assert found.brier.value == pytest.approx(0.75 / 4)
    assert found.mae.value == pytest.approx(1.5 / 4)
    assert found.sharpness.value == pytest.approx(0.25)
    assert [(b.n, b.score, b.human.value) for b in found.bins] == [(2, 0.25, 0.5), (2, 0.75, 1.0)]


def test_a_scale_is_mapped_to_its_ends():
    # 1 … 5: a unit too high on every item is a quarter of the scale
    found = reliability([2, 3, 4, 5], [1, 2, 3, 4], scale=(1, 5), bootstrap=50)
    assert found.mae.value == pytest.approx(1)
    assert found.ece.value == pytest.approx(0.25)
    assert found.brier.value == pytest.approx(1 / 16)
    assert found.bins[0].human.low >= 1


def test_what_is_missing_is_counted():
    found = reliability([0.5, np.nan, 0.5, 0.2], [1, 1, 0, np.nan], bootstrap=0)
    assert (found.n, found.left_out) == (2, 1)


def test_too_little():
    found = reliability([0.5], [1])
    assert found.ece.reason == "fewer than two labelled items with a score"
    assert found.as_json()["bins"] == []


def test_an_honest_score_has_little_error():
    rng = np.random.default_rng(5)
    p = rng.random(4000)
    found = reliability(p, rng.random(4000) < p, bootstrap=100)
    assert found.ece.value < 0.04
    assert found.brier.value == pytest.approx(1 / 6, abs=0.01)  # mean of p (1 - p)


def test_wrong_input():
    with pytest.raises(ValueError, match="ascend"):
        reliability([0.5], [1], scale=(1, 1))
