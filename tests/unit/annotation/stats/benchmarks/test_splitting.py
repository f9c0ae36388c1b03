"""Nothing leaks from one split into another, whatever the cases are."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from annotation.stats.benchmarks.cases import Case
from annotation.stats.benchmarks.splitting import find_uneven, split

SHARES = {"train": 0.6, "dev": 0.2, "test": 0.2}

cases = st.lists(
    st.tuples(st.integers(0, 8), st.integers(0, 5), st.integers(0, 30), st.integers(0, 30)), min_size=0, max_size=60
).map(
    lambda rows: [
        Case(str(k), "", "", f"p{persona}" if persona else "", f"q{question}", f"r{one}", f"r{two}", "1")
        for k, (persona, question, one, two) in enumerate(rows)
    ]
)


@given(cases, st.integers(0, 5), st.booleans())
def test_no_persona_no_response_and_no_question_is_on_two_sides(found, seed, by_question):
    places = split(found, SHARES, seed=seed, by_question=by_question)
    assert set(places) <= set(SHARES)
    sides: dict[tuple[str, str], set[str]] = {}
    for case, place in zip(found, places, strict=True):
        for link in (("r", case.response_1), ("r", case.response_2), *([("p", case.persona)] if case.persona else [])):
            sides.setdefault(link, set()).add(place)
        if by_question:
            sides.setdefault(("q", case.question), set()).add(place)
    assert all(len(there) == 1 for there in sides.values())


@given(cases, st.integers(0, 5))
def test_the_same_seed_gives_the_same_split(found, seed):
    assert split(found, SHARES, seed=seed) == split(found, SHARES, seed=seed)


def test_shares_are_met_where_blocks_are_small():
    alone = [Case(str(k), "", "", f"p{k}", "q", f"a{k}", f"b{k}", "1") for k in range(100)]
    places = split(alone, SHARES, seed=1)
    assert [places.count(name) for name in SHARES] == [60, 20, 20]
    assert places != split(alone, SHARES, seed=2)


@pytest.mark.parametrize("wrong", [{}, {"a": 0.5}, {"a": 1.5, "b": -0.5}, {"a": float("nan")}])
def test_shares_that_make_no_sense(wrong):
    with pytest.raises(ValueError, match="sum to 1"):
        split([], wrong, seed=0)


NONE = "Whatever you like."
FOR_ANYBODY = [Case(str(k), "", "", f"p{k % 5}", f"q{k}", f"for {k}", NONE, "1") for k in range(40)]


def test_a_response_for_anybody_links_no_personas():
    wanted = {"dev": 0.2, "test": 0.8}
    linked = split(FOR_ANYBODY, wanted, seed=0)
    assert "dev has 0 of 40 cases, 20 % were asked for" in find_uneven(linked, wanted)
    places = split(FOR_ANYBODY, wanted, seed=0, shared={NONE})
    assert [places.count(name) for name in wanted] == [8, 32]
    assert find_uneven(places, wanted) == ""


def test_uneven_splits_are_told_by_a_tolerance():
    places = ["dev"] * 35 + ["test"] * 65
    wanted = {"dev": 0.2, "test": 0.8}
    assert find_uneven(places, wanted, tolerance=0.2) == ""
    assert find_uneven(places, wanted) == (
        "dev has 35 of 100 cases, 20 % were asked for; test has 65 of 100 cases, 80 % were asked for"
    )
    assert find_uneven(["dev", "test", "test"], wanted) == "", "one case more or less is no matter of shares"
