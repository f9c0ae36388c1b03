"""Which side of a pair people choose, against numbers worked out by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binom

from annotation.stats.orders import is_order
from annotation.stats.queueing import BLOCK, draw_order
from annotation.stats.sides import SideUse, side_bias


@pytest.mark.parametrize(
    ("n_a", "n_b", "probability", "is_always_one"),
    [
        (40, 0, 2 * 0.5**40, True),
        (10, 0, 2 * 0.5**10, False),  # 0.00195
        (0, 11, 2 * 0.5**11, True),  # 0.00098
        (2, 1, 1.0, False),
        (30, 10, 2 * 0.0011107, False),  # sum of C(40, k), k from 30, over 2 ** 40 is 0.0011107
    ],
)
def test_the_probability_of_a_split_is_the_binomial_one(n_a, n_b, probability, is_always_one) -> None:
    use = SideUse("ada", (n_a, n_b))
    assert use.probability == pytest.approx(probability, rel=1e-3)
    assert use.is_always_one == is_always_one


def test_the_effect_is_the_share_of_a_minus_that_of_b() -> None:
    chosen = np.array([[1, 2], [1, 0], [0, 1], [1, 1]] * 5)
    n_places = np.array([[2, 2], [2, 0], [2, 2], [2, 2]] * 5)
    found = side_bias(chosen, n_places, ["ada", "ben"], [f"item {n}" for n in range(20)], bootstrap=200)
    assert found.effect.value == pytest.approx((3 + 2 - 1) / 7)  # of seven answers to four items; a tie counts as none
    assert found.effect.low < found.effect.value < found.effect.high
    assert [(one.annotator, one.counts) for one in found.annotators] == [("ada", (15, 0)), ("ben", (10, 5))]
    assert found.excess["A"].value == pytest.approx(found.effect.value / 2), "half of what A has more than B"


def test_the_effect_of_three_places_is_the_mean_place() -> None:
    chosen = np.array([[1], [1], [2], [3], [0], [1]] * 10)
    found = side_bias(chosen, np.full((60, 1), 3), ["ada"], [f"item {n}" for n in range(60)], bootstrap=200)
    assert found.effect.value == pytest.approx((3 * 1 + 1 * 0 + 1 * -1) / 6)  # places stand at 1, 0 and -1; a tie at 0
    assert found.excess["A"].value == pytest.approx((3 * (1 - 1 / 3) + 2 * (-1 / 3)) / 6)
    assert found.excess["C"].value == pytest.approx((1 * (1 - 1 / 3) + 4 * (-1 / 3)) / 6)
    assert found.excess["A"].low <= found.excess["A"].value <= found.excess["A"].high
    assert found.annotators[0].counts == (30, 10, 10)
    assert found.annotators[0].probability == pytest.approx(3 * binom.sf(29, 50, 1 / 3))


@pytest.mark.parametrize("n", [1, 3, 4, 7, 12])
def test_each_response_stands_once_at_each_place_in_n_items_of_a_person(n: int) -> None:
    drawn = [draw_order(3, "ada", number, n=n) for number in range(1, 10 * n + 1)]
    assert all(is_order(order) and len(order) == n for order in drawn)
    for start in range(0, len(drawn), n):
        block = drawn[start : start + n]
        assert all(sorted(column) == sorted(block[0]) for column in zip(*block, strict=True))
    if n > 2:
        assert len(set(drawn)) > n, "another square for each block"


def test_orders_of_three_are_independent_between_people() -> None:
    """Two people see the same order of three in a sixth of 600 items, within four standard errors."""
    same = np.mean([draw_order(1, "ada", k, n=3) == draw_order(1, "ben", k, n=3) for k in range(1, 601)])
    assert abs(same - 1 / 6) < 4 * np.sqrt(1 / 6 * 5 / 6 / 600)


def test_without_a_choice_the_effect_is_undefined_with_a_reason() -> None:
    nothing = np.zeros((3, 1), dtype=int)
    found = side_bias(nothing, nothing, ["ada"], ["a", "b", "c"], bootstrap=10)
    assert np.isnan(found.effect.value)
    assert found.effect.reason
    assert found.annotators == ()


def test_orders_are_balanced_in_every_block_of_a_person() -> None:
    for person in ("ada", "ben"):
        drawn = [draw_order(3, person, number) for number in range(1, 10 * BLOCK + 1)]
        blocks = [drawn[start : start + BLOCK] for start in range(0, len(drawn), BLOCK)]
        assert all(block.count("AB") == BLOCK // 2 for block in blocks)
        assert len({tuple(block) for block in blocks}) > 5, "no block is like the one before"


def test_what_one_person_sees_says_nothing_of_what_another_does() -> None:
    """The mean correlation of 20 people's orders of 400 items is 0, within four standard errors of 190 pairs."""
    orders = np.array(
        [[draw_order(1, f"p{n}", number) == "AB" for number in range(1, 401)] for n in range(20)], dtype=float
    )
    correlations = [np.corrcoef(orders[a], orders[b])[0, 1] for a, b in combinations(range(20), 2)]
    assert abs(np.mean(correlations)) < 4 / np.sqrt(400 * 190)
    assert np.abs(correlations).max() < 0.2


def test_streams_are_drawn_apart() -> None:
    one = [draw_order(1, "ada", n) for n in range(1, 81)]
    other = [draw_order(1, "ada", n, "training 1") for n in range(1, 81)]
    assert one != other
