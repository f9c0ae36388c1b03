"""Which items are worth another rating: by hand, and on tables."""

import numpy as np
import pytest

from annotation.stats.difficulty.adaptive import WORTH, _continues, choose_items
from annotation.stats.difficulty.items import NoConvergenceError, difficulty
from annotation.stats.difficulty.more import SimulatedAnswers, foresee
from annotation.stats.table import MISSING, RatingTable
from tests.unit.annotation.stats.difficulty.test_more import two_votes

FRESH = np.array([[0.4, 0.7], [0.6, 0.3]])
"""No and yes, in tier 1 and in tier 2."""


@pytest.mark.parametrize(
    ("left", "price", "asks"),
    [
        (1, 0.001, False),  # whatever the next person says, tier 1 stays the likelier one: no is .28 against .21
        (2, 0.01, True),  # no, no: .112 against .147 gains .035; the price is .01 + .49 x .01
        (2, 0.025, False),  # .035 against .025 + .49 x .025
        (2, 0.0, True),
    ],
)
def test_the_best_plan_by_hand(left, price, asks):
    tree = SimulatedAnswers.build(2, 3)
    seen, best = foresee(np.array([[0.7, 0.3]]), np.eye(2), tree.ways(FRESH))
    assert _continues(seen, best, left, price, tree).tolist() == [asks]


def test_nothing_left_and_nothing_unclear_are_not_asked_about():
    table = two_votes(200, seed=5, per_item=6, people=9)
    assert not choose_items(table, np.zeros(200, dtype=np.int64)).asks.any()
    some = choose_items(table, np.full(200, 3))
    assert 0 < some.asks.sum() < 200
    assert some.is_clear.tolist() == difficulty(table).clear.tolist()
    assert some.is_fitted.all()
    assert not choose_items(table, np.full(200, 3), price=1.0).asks.any()


def test_a_higher_price_asks_about_fewer_items_and_more_left_about_more():
    table = two_votes(200, seed=6, per_item=6, people=9)
    asked = [choose_items(table, np.full(200, 3), price=price).asks for price in (0.0, WORTH, 0.02)]
    assert (asked[2] <= asked[1]).all()
    assert (asked[1] <= asked[0]).all()
    assert (choose_items(table, np.full(200, 1)).asks <= asked[1]).all()


def test_people_who_cannot_be_fitted_are_not_asked_about():
    whole = two_votes(60, seed=7)
    codes = np.where(np.arange(60)[:, None] < 50, whole.codes, MISSING)
    table = RatingTable(codes, whole.categories, whole.level, whole.items, whole.raters)
    found = choose_items(table, np.full(60, 6))
    assert found.is_fitted.sum() == 50
    assert not found.asks[50:].any()


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="price"):
        choose_items(two_votes(50, seed=1), np.full(50, 6), price=-0.1)
    with pytest.raises(NoConvergenceError):
        choose_items(two_votes(19, seed=1), np.full(19, 6))
