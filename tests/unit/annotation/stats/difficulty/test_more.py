"""What more ratings are expected to tell: by hand, against simulation, and on bad input."""

import numpy as np
import pytest
import scipy

from annotation.stats.difficulty.items import CLEAR, NoConvergenceError, difficulty
from annotation.stats.difficulty.more import SimulatedAnswers, _look_ahead, compute_more_ratings, total
from annotation.stats.difficulty.outlook import outlooks
from annotation.stats.table import MISSING, RatingTable


def two_votes(n, seed, per_item=3, people=6):
    """A table of yes and no: easy and contested items, each rated by some of the people."""
    rng = np.random.default_rng(seed)
    p = scipy.special.expit(4 * rng.normal(size=(n, 1)) + rng.normal(0, 0.4, people))
    codes = (rng.random((n, people)) < p).astype(np.int64)
    for row in codes:
        row[rng.permutation(people)[per_item:]] = MISSING
    names = tuple(f"i{k}" for k in range(n)), tuple(f"r{k}" for k in range(people))
    return RatingTable(codes, ("no", "yes"), "nominal", *names)


def test_states_count_answers_and_know_what_came_before():
    tree = SimulatedAnswers.build(2, 2)
    assert tree.counts.tolist() == [[0, 0], [1, 0], [0, 1], [2, 0], [1, 1], [0, 2]]
    assert tree.after.tolist() == [[1, 2], [3, 4], [4, 5]]
    assert [level.tolist() for level in tree.levels] == [[0], [1, 2], [3, 4, 5]]
    assert tree.orders.tolist() == [1, 1, 1, 1, 2, 1]


def test_many_categories_are_looked_at_less_far_ahead():
    assert [SimulatedAnswers.build(q, 6).ahead for q in (2, 3, 4, 5, 7, 20)] == [6, 6, 5, 4, 3, 1]


def test_two_further_ratings_by_hand():
    """An item in tier 1 (yes with .9) with probability .7, else in tier 2 (yes with .4).

    After one yes: .63 of .75 is tier 1, .84: clear. After one no: .07 of .25, so tier 2 with .72. Then a yes makes it
    .063 to .072 (of .135), a no .007 to .108: tier 2 with .939, clear. So certainty .63 + .18 = .81 after one, and
    after two .567 (yes yes) + 2 x .072 (one of each: .063 against .072) + .108 (no no) = .819.
    """
    fresh = np.array([[0.1, 0.6], [0.9, 0.4]])
    tree = SimulatedAnswers.build(2, 2)
    certainty, clears = _look_ahead(np.array([[0.7, 0.3]]), np.eye(2), tree.ways(fresh), tree)
    assert certainty[0] == pytest.approx([0.7, 0.81, 0.819])
    assert clears[0] == pytest.approx([0.75, 0.115])


def test_expectations_agree_with_simulated_answers():
    table = two_votes(150, seed=3)
    (look,) = outlooks(table)
    found = compute_more_ratings(table, ahead=4)
    rng, draws = np.random.default_rng(4), 4000
    place = int(found.order[0])
    posterior = look.fit.finer(look.codes[found.rows[place]][None]).posterior[0]
    bands = look.bands((0.6, 0.75, 0.9))
    node = rng.choice(len(posterior), draws, p=posterior)
    joint = np.tile(np.log(np.maximum(posterior, 1e-300)), (draws, 1))
    cleared, certainty = np.zeros((4, draws), dtype=bool), []
    for step in range(4):
        joint += np.log(look.fresh)[(rng.random(draws) < look.fresh[1, node]).astype(int)]
        top = (scipy.special.softmax(joint, axis=1) @ bands).max(axis=1)
        cleared[step] = top >= CLEAR
        certainty.append(top.mean())
    within = np.logical_or.accumulate(cleared).mean(axis=1)
    error = 4 * 0.5 / np.sqrt(draws)
    assert np.cumsum(found.clears[place]) == pytest.approx(within, abs=error)
    assert found.certainty[place, 1:] == pytest.approx(certainty, abs=error)


def test_certainty_never_falls_on_average_and_shares_add_up():
    found = compute_more_ratings(two_votes(200, seed=5))
    assert (np.diff(found.certainty, axis=1) > -1e-9).all()
    assert found.certainty[:, 0].max() < CLEAR
    assert found.asked.sum(axis=1) == pytest.approx(np.ones(len(found.items)))
    assert ((found.ratings >= 1) & (found.ratings <= found.ahead)).all()
    assert (np.diff(found.rate[found.order]) <= 0).all()


def test_clear_items_and_their_number_are_those_of_the_difficulty():
    table = two_votes(200, seed=5)
    told, found = difficulty(table), compute_more_ratings(table)
    assert found.rows.tolist() == np.flatnonzero(~told.clear).tolist()
    assert (found.n_items, found.n_clear) == (200, int(told.clear.sum()))
    assert found.certainty[:, 0] == pytest.approx(told.tiers[~told.clear].max(axis=1))


def test_items_with_the_same_ratings_are_expected_the_same_of():
    table = two_votes(200, seed=5)
    found = compute_more_ratings(table)
    twin = next(
        (a, b)
        for a in range(len(found.items))
        for b in range(a)
        if (table.codes[found.rows[a]] == table.codes[found.rows[b]]).all()
    )
    assert np.array_equal(found.clears[twin[0]], found.clears[twin[1]])


def test_items_near_a_cut_are_not_among_those_to_ask_about():
    found = compute_more_ratings(two_votes(200, seed=5))
    assert 0 < found.likely.sum() < len(found.items)
    assert found.chance[found.likely].min() >= 0.5
    assert found.estimate_settled().value == pytest.approx(found.chance[found.likely].sum())
    assert (
        found.estimate_settled().low
        <= found.estimate_settled().value
        <= found.estimate_settled().high
        <= found.likely.sum()
    )


def test_nothing_to_ask_about_has_a_reason():
    found = compute_more_ratings(two_votes(200, seed=5), cuts=(0.501, 0.502, 0.503))
    assert found.n_clear == found.n_items == 200
    assert np.isnan(found.estimate_needed().value)
    assert found.estimate_needed().reason == "no item is likely to become clear"
    assert found.to_json()["items"] == []


def test_total_of_alike_items_is_binomial():
    mean, low, high = total(np.tile([0.7, 0.3], (40, 1)))
    assert mean == pytest.approx(12)
    assert (low, high) == tuple(scipy.stats.binom.ppf([0.025, 0.975], 40, 0.3))


def test_total_of_many_is_about_normal():
    few, many = (total(np.tile([0.2, 0.3, 0.5], (n, 1)), least=1) for n in (200, 201))
    assert many[0] == pytest.approx(few[0] + 2.3)
    assert many[1:] == pytest.approx((few[1] + 2.3, few[2] + 2.3), abs=2)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        compute_more_ratings(two_votes(50, seed=1), ahead=0)
    with pytest.raises(NoConvergenceError, match="19 items"):
        compute_more_ratings(two_votes(19, seed=1))
