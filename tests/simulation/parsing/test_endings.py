from __future__ import annotations

import pytest

from simulation.parsing.endings import ENDINGS, Spoken, ending, limit_for, next_side


def talk(*texts: str) -> list[Spoken]:
    return [Spoken(next_side(n), text) for n, text in enumerate(texts)]


def test_it_goes_on():
    assert ending([], limit=20) == ""
    assert ending(talk("A table, please."), limit=20) == ""
    assert ending(talk("A table, please.", "At eight?", "Yes."), limit=20) == ""


def test_the_user_is_done():
    assert ending([*talk("A table.", "At eight."), Spoken("user", "Thanks.", ended=True)], limit=20) == "done"


def test_the_user_ends_at_once():
    assert ending([Spoken("user", "Thanks.", ended=True)], limit=20) == "at_once"


def test_the_limit_counts_both_sides():
    texts = [f"turn number {n} says something new" for n in range(20)]
    assert ending(talk(*texts[:19]), limit=20) == ""
    assert ending(talk(*texts), limit=20) == "limit"


def test_a_user_that_repeats_itself_is_stopped():
    assert ending(talk("Book me a table tonight.", "Where?", "Book me a table tonight!"), limit=20) == "repetition"


def test_an_assistant_may_repeat_itself():
    assert ending(talk("A table.", "Where would you like it?", "Here.", "Where would you like it?"), limit=20) == ""


@pytest.mark.parametrize("side", ["user", "assistant"])
@pytest.mark.parametrize("problem", ["empty", "other_side", "refusal", "too_long", "failed"])
def test_a_problem_is_an_ending_of_its_side(side, problem):
    found = ending([Spoken(side, "", problem=problem)], limit=20)

    assert found == f"{side}_{problem}"
    assert found in ENDINGS


def test_the_published_limits():
    assert limit_for(is_multi_domain=False) == 20
    assert limit_for(is_multi_domain=True) == 30
