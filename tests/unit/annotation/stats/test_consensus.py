"""What people say together: sets, rankings, numbers and spans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from annotation.stats.consensus import all_rankings, find_consensus
from annotation.stats.gold import gold
from annotation.stats.kemeny import kemeny_distances
from annotation.stats.table import RatingTable


def consensus_of(values: Sequence[str | None], level: Any, **more: Any) -> str | None:
    table = RatingTable.from_wide([values], level=level, **more)
    found = find_consensus(table)
    code = int(found.codes[0])
    return None if code < 0 else str(found.table.categories[code])


def number_of(*values: str) -> str | None:
    return consensus_of(values, "interval", categories=sorted(set(values), key=float), is_open=True)


@pytest.mark.parametrize(
    ("values", "level", "expected"),
    [
        (["a|b", "b|c", "b"], "set", "b"),
        (["a|b", "b|c", "a|c"], "set", "a|b|c"),
        (["a", "b", "c"], "set", "-"),
        (["a", "a|b"], "set", None),
        (["1>2>3", "1>2>3", "3>2>1"], "ranking", "1>2>3"),
        (["1>2>3", "2>3>1", "3>1>2"], "ranking", None),
        (["1>2", "1=2", "1>2"], "ranking", "1>2"),
    ],
)
def test_by_hand(values: list[str], level: str, expected: str | None) -> None:
    assert consensus_of(values, level) == expected


def test_a_number_is_the_median_or_the_middle_of_two() -> None:
    assert number_of("1", "2", "9") == "2"
    assert number_of("1", "2") == "1.5"
    assert number_of("0.1", "0.2", "0.4", "12.5") == "0.3"


@given(st.lists(st.permutations("123").map(">".join), min_size=1, max_size=5))
def test_no_ranking_is_closer_than_the_consensus(given_rankings: list[str]) -> None:
    candidates = list(all_rankings("123", with_ties=False))
    distance = kemeny_distances([*candidates, *given_rankings])[: len(candidates), len(candidates) :].sum(axis=1)
    best = np.flatnonzero(np.isclose(distance, distance.min()))
    found = consensus_of(given_rankings, "ranking")
    assert found == (candidates[best[0]] if len(best) == 1 else None)


def test_there_are_as_many_rankings_as_fubini_numbers() -> None:
    assert [len(list(all_rankings("1234"[:n], with_ties=True))) for n in (2, 3, 4)] == [3, 13, 75]


def test_gold_is_the_consensus_and_a_persons_decision_above_it() -> None:
    table = RatingTable.from_wide([["a|b", "b|c", "b"], ["a", "a", "a"], ["a", "b", None]], level="set")
    found = gold(table, tiers=[None] * 3, adjudicated=[-1, table.categories.index("b"), -1])
    assert [one["gold"] for one in found.to_json()["items"]] == ["b", "b", None]
    assert found.counts == {
        "adjudication": 1, "consensus": 1, "no ratings": 0, "too few ratings": 0, "contested": 0, "tied": 1,
        "too uncertain": 0,
    }  # fmt: skip
    assert found.n_tied == 1


def test_a_scale_of_categories_has_none() -> None:
    with pytest.raises(ValueError, match="no consensus"):
        find_consensus(RatingTable.from_wide([["1", "2"]], level="ordinal"))
