"""Distances of distributions: by hand, against scipy, and beside a fresh person."""

import numpy as np
import pytest
import scipy

from annotation.stats.disagreement.distance import cross_entropy, distances, earth_mover, jensen_shannon, measures
from annotation.stats.table import MISSING
from tests.support import drawing, simulated_difficulty as simulated


def test_divergence_as_scipy_has_it():
    p, q = np.random.default_rng(0).dirichlet(np.ones(4), (2, 20))
    oracle = [scipy.spatial.distance.jensenshannon(a, b, base=2) ** 2 for a, b in zip(p, q, strict=True)]
    assert jensen_shannon(p, q) == pytest.approx(oracle)


def test_the_ends_by_hand():
    same, other = np.array([[1.0, 0, 0]]), np.array([[0, 0, 1.0]])
    assert (jensen_shannon(same, same)[0], jensen_shannon(same, other)[0]) == pytest.approx((0, 1))
    assert earth_mover(same, other, np.arange(3.0))[0] == pytest.approx(1)
    assert earth_mover(same, np.array([[0, 1.0, 0]]), np.arange(3.0))[0] == pytest.approx(0.5)
    assert cross_entropy(np.array([[0.5, 0.5]]), np.array([[0.25, 0.75]]))[0] == pytest.approx(
        -(np.log2(0.25) + np.log2(0.75)) / 2
    )


def test_earth_mover_as_scipy_has_it_at_unequal_places():
    rng = np.random.default_rng(1)
    p, q, places = *rng.dirichlet(np.ones(4), 2), np.array([0.0, 5, 1, 3])
    oracle = scipy.stats.wasserstein_distance(places, places, p, q) / 5
    assert earth_mover(p[None], q[None], places)[0] == pytest.approx(oracle)


def test_one_more_person_is_as_far_away_as_people_are():
    """A judge who is drawn as people are has a difference with 0 in its interval; one who guesses is further away."""
    rng = np.random.default_rng(2)
    codes = rng.permuted(drawing.draw(*drawing.draw_graded_model(5, 5, rng), 400, rng)[0], axis=1)
    table = simulated.table_of(codes[:, :4], 5, "ordinal")
    alike = distances(table, np.eye(5)[codes[:, 4]], bootstrap=500)
    guess = distances(table, np.eye(5)[rng.integers(0, 5, 400)], bootstrap=500)
    for name in measures(table):
        assert alike.difference[name].low < 0 < alike.difference[name].high
        assert guess.difference[name].low > 0
        assert guess.person[name].value == pytest.approx(alike.person[name].value)


def test_items_without_a_verdict_or_a_second_person_are_left_out():
    codes = np.array([[0, 0], [0, 1], [1, MISSING], [1, 1]])
    told = np.array([[1.0, 0], [1, 0], [0, 1], [np.nan, np.nan]])
    found = distances(simulated.table_of(codes, 2, "nominal"), told, bootstrap=0)
    assert np.isnan(found.items["jensen_shannon"]).tolist() == [False, False, True, True]
    assert found.judge["jensen_shannon"].n_items == 2
    nothing = distances(simulated.table_of(codes, 2, "nominal"), np.full((4, 2), np.nan), bootstrap=0)
    assert nothing.judge["jensen_shannon"].reason == "no item with two people and a verdict"
    with pytest.raises(ValueError, match="the judge tells"):
        distances(simulated.table_of(codes, 2, "nominal"), told[:2])


def test_unordered_scales_have_no_earth_mover():
    assert "earth_mover" not in measures(simulated.table_of(np.zeros((1, 2), dtype=np.int64), 3, "nominal"))
