"""Conformal sets: coverage, no gaps, and by hand."""

import numpy as np
import pytest

from annotation.stats.disagreement.sets import compute_needed_mass, contiguous_sets


@pytest.mark.parametrize("honest", [True, False])
def test_they_cover_as_often_as_they_say(honest):
    """Also where the shares that are told are wrong: 200 rounds of 100 items to calibrate on and 50 new ones."""
    rng = np.random.default_rng(0)
    held = []
    for _ in range(200):
        shares = rng.dirichlet(np.ones(5), 150)
        answers = (rng.random(150)[:, None] > np.cumsum(shares, axis=1)).sum(axis=1).clip(0, 4)
        told = shares if honest else shares**3 / (shares**3).sum(axis=1, keepdims=True)
        found = contiguous_sets(told[:100], answers[:100], told[100:], level=0.8)
        held.append(found.holds[np.arange(50), answers[100:]].mean())
    assert 0.79 <= np.mean(held) <= 0.84


def test_sets_have_no_gaps_and_grow_with_the_level():
    rng = np.random.default_rng(1)
    shares, answers = rng.dirichlet(np.ones(6), 200), rng.integers(0, 6, 200)
    small, large = (contiguous_sets(shares, answers, shares, level=level) for level in (0.5, 0.9))
    assert (np.abs(np.diff(small.holds.astype(int), axis=1)).sum(axis=1) <= 2).all()
    assert (small.holds <= large.holds).all()
    assert small.size.mean() < large.size.mean()


def test_the_mass_that_is_needed_by_hand():
    shares = np.array([[0.1, 0.5, 0.3, 0.1]])
    told = [compute_needed_mass(shares, np.array([answer]))[0] for answer in (1, 2, 3, 0)]
    assert told == pytest.approx([0.5, 0.8, 0.9, 1.0], abs=0.002)  # the median, its likelier neighbour, and so on


def test_a_verdict_alone_gets_a_set_about_it():
    answers = np.array([2] * 80 + [3] * 20)
    found = contiguous_sets(np.eye(5)[[2] * 100], answers, np.eye(5)[[2, 0]], level=0.9)
    assert found.holds.tolist() == [[False, False, True, True, False], [True, True, False, False, False]]


def test_too_few_items_give_the_whole_scale():
    found = contiguous_sets(np.full((5, 3), 1 / 3), np.zeros(5, dtype=int), np.full((2, 3), 1 / 3), level=0.9)
    assert found.holds.all()
    with pytest.raises(ValueError, match="between 0 and 1"):
        contiguous_sets(np.full((5, 3), 1 / 3), np.zeros(5, dtype=int), np.full((2, 3), 1 / 3), level=1.0)
