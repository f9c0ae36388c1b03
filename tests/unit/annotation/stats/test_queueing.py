"""The order of a queue and the places of what is mixed in."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st

from annotation.stats.queueing import Mixing, draw_balanced_order, lot


def order(groups: list[str], seed: int = 0) -> list[str]:
    return [groups[index] for index in draw_balanced_order(groups, np.random.default_rng(seed))]


@given(st.lists(st.sampled_from("abc"), max_size=60), st.integers(0, 2**32))
def test_it_is_an_order_of_all_items(groups: list[str], seed: int) -> None:
    assert sorted(draw_balanced_order(groups, np.random.default_rng(seed))) == list(range(len(groups)))


def test_every_round_of_equal_groups_holds_each_about_once() -> None:
    groups = [name for name in "abcdefghij" for _ in range(20)]
    mixed = order(groups)
    for m in range(10, 201, 10):
        counts = Counter(mixed[:m])
        assert all(abs(counts[name] - m / 10) <= 2 for name in "abcdefghij"), (m, counts)


def test_groups_of_different_size_come_in_proportion() -> None:
    groups = ["much"] * 90 + ["little"] * 10
    mixed = order(groups, seed=3)
    for tenth in range(10, 101, 10):
        assert abs(mixed[:tenth].count("little") - tenth / 10) <= 1


def test_who_gets_every_twentieth_item_does_not_get_one_group_alone() -> None:
    groups = [f"domain {n}" for n in range(20) for _ in range(100)]
    shares = [len(set(order(groups, seed)[start::20])) for seed in range(3) for start in range(20)]
    assert min(shares) >= 15  # 100 items each: of 20 groups nobody misses more than chance makes them


def test_the_seed_decides_the_order() -> None:
    groups = ["a", "b"] * 20
    first, again, other = (draw_balanced_order(groups, np.random.default_rng(seed)).tolist() for seed in (1, 1, 2))
    assert first == again != other


def test_one_item_of_each_stretch_is_a_check() -> None:
    mixing = Mixing(seed=7, annotator="bob", check_every=20, repeat_every=0, repeat_after=10)
    due = [mixing.due(number) for number in range(1, 2001)]
    assert [due[start : start + 20].count("check") for start in range(0, 2000, 20)] == [1] * 100
    places = Counter(place % 20 for place, what in enumerate(due) if what)
    assert len(places) >= 18, "drawn anew for every stretch"


def test_repeats_give_way_to_checks_and_begin_late_enough() -> None:
    mixing = Mixing(seed=7, annotator="bob", check_every=2, repeat_every=10, repeat_after=25)
    due = [mixing.due(number) for number in range(1, 2001)]
    assert "repeat" not in due[:26]
    assert due.count("check") == 1000
    assert 150 <= due.count("repeat") <= 200, "at most one in ten, fewer where checks crowd them out"


def test_people_are_checked_at_different_places() -> None:
    places = {
        name: tuple(n for n in range(1, 200) if Mixing(0, name, 20, 0, 10).due(n)) for name in ("ann", "ben", "cleo")
    }
    assert len(set(places.values())) == 3


@pytest.mark.parametrize(("check", "repeat"), [(0, 0), (5, 0), (0, 7), (20, 20), (2, 3)])
def test_what_comes_ahead_is_what_is_due(check: int, repeat: int) -> None:
    mixing = Mixing(seed=1, annotator="bob", check_every=check, repeat_every=repeat, repeat_after=4)
    number, ratings, mixed = 6, 50, 0
    while ratings:
        due, number = mixing.due(number), number + 1
        mixed += due is not None
        ratings -= due is None
    assert mixing.count_ahead(6, 50, checks=10**6, repeatable=range(-100, 6)) == mixed


def test_a_repeat_that_is_due_before_there_is_anything_to_repeat_is_not_promised() -> None:
    mixing = Mixing(seed=2, annotator="bob", check_every=0, repeat_every=2, repeat_after=4)
    due = [mixing.due(number) for number in range(1, 9)]
    assert due[5] == "repeat", due
    assert mixing.count_ahead(1, 6, checks=0) == 1
    assert mixing.count_ahead(6, 1, checks=0) == 0, "nothing was rated"
    assert mixing.count_ahead(6, 1, checks=0, repeatable=[2]) == 0, "three others lie between"
    assert mixing.count_ahead(6, 1, checks=0, repeatable=[1]) == 1


def test_no_more_checks_are_promised_than_there_are() -> None:
    mixing = Mixing(seed=1, annotator="bob", check_every=5, repeat_every=0, repeat_after=4)
    assert mixing.count_ahead(1, 100, checks=3) == 3
    assert mixing.count_ahead(1, 0, checks=3) == 0


def test_a_lot_is_the_same_on_every_machine() -> None:
    # blake2b of b"1\x1fa" with 8 bytes, shifted by one bit
    assert lot(1, "a") == lot("1", "a")
    assert 0 <= lot(1, "a") < 2**63
    assert lot(1, "a") != lot(1, "b")
