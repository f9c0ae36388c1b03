from __future__ import annotations

import pytest

from simulation.agents.parsing.endings import ENDINGS, MESSAGES, Limits, TurnFacts, choose_next_side, find_ending


def talk(*texts: str) -> list[TurnFacts]:
    return [TurnFacts(choose_next_side(n), text) for n, text in enumerate(texts)]


def test_it_goes_on():
    assert find_ending([], limit=20) == ""
    assert find_ending(talk("A table, please."), limit=20) == ""
    assert find_ending(talk("A table, please.", "At eight?", "Yes."), limit=20) == ""


def test_the_user_is_done():
    assert find_ending([*talk("A table.", "At eight."), TurnFacts("user", "Thanks.", ended=True)], limit=20) == "done"


def test_the_user_ends_at_once():
    assert find_ending([TurnFacts("user", "Thanks.", ended=True)], limit=20) == "at_once"


def test_the_limit_counts_both_sides():
    texts = [f"turn number {n} says something new" for n in range(20)]
    assert find_ending(talk(*texts[:19]), limit=20) == ""
    assert find_ending(talk(*texts), limit=20) == "limit"


def test_a_user_that_repeats_itself_is_stopped():
    assert find_ending(talk("Book me a table tonight.", "Where?", "Book me a table tonight!"), limit=20) == "repetition"


def test_an_assistant_may_repeat_itself():
    assert (
        find_ending(talk("A table.", "Where would you like it?", "Here.", "Where would you like it?"), limit=20) == ""
    )


@pytest.mark.parametrize("side", ["user", "assistant"])
@pytest.mark.parametrize("problem", ["empty", "other_side", "refusal", "echo", "cut_off", "too_long", "failed"])
def test_a_problem_is_an_ending_of_its_side(side, problem):
    found = find_ending([TurnFacts(side, "", problem=problem)], limit=20)

    assert found == f"{side}_{problem}"
    assert found in ENDINGS


def test_limits_are_in_exchanges_as_published_or_in_messages():
    published, before = Limits(), Limits(unit=MESSAGES)

    assert [published.messages(is_multi_domain=several) for several in (False, True)] == [41, 61]
    assert [before.messages(is_multi_domain=several) for several in (False, True)] == [20, 30]
    assert (published.has_closing_reply, before.has_closing_reply) == (True, False)


def test_the_assistant_closes_after_the_end_mark():
    said = [*talk("A table.", "At eight."), TurnFacts("user", "Thanks.", ended=True)]

    assert find_ending(said, limit=41, closing=True) == ""
    assert find_ending([*said, TurnFacts("assistant", "You are welcome.")], limit=41, closing=True) == "done"
    assert (
        find_ending([*said, TurnFacts("assistant", "", problem="empty")], limit=41, closing=True) == "assistant_empty"
    )
    assert find_ending([*said, TurnFacts("assistant", "Welcome.")], limit=3, closing=True) == "done", (
        "one more at the limit"
    )


def test_a_mark_without_words_leaves_nothing_to_close():
    assert (
        find_ending([*talk("A table.", "At eight."), TurnFacts("user", "", ended=True)], limit=41, closing=True)
        == "done"
    )
