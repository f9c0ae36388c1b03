from __future__ import annotations

import pytest

from simulation.agents.parsing.speech import EMPTY, OTHER_SIDE, REFUSAL, parse_turn


def test_plain_words_are_kept():
    found = parse_turn("  Find me a table.\n", side="user")

    assert (found.text, found.ended, found.cut, found.problem) == ("Find me a table.", False, False, "")


@pytest.mark.parametrize(
    "reply", ["Thanks, that is all. [END]", "Thanks, [end] that is all.", "Thanks, that is all.[ END ]"]
)
def test_the_mark_ends_it_and_is_taken_away(reply):
    found = parse_turn(reply, side="user")

    assert (found.text, found.ended, found.problem) == ("Thanks, that is all.", True, "")


def test_the_mark_alone_is_an_end_without_words():
    found = parse_turn("[END]", side="user")

    assert (found.text, found.ended, found.problem) == ("", True, "")


def test_an_assistant_has_no_mark():
    assert parse_turn("Done. [END]", side="assistant").text == "Done. [END]"


@pytest.mark.parametrize("tag", ["think", "state"])
def test_thoughts_are_set_apart(tag):
    found = parse_turn(f"<{tag}>It forgot the window.</{tag}>\nBy the window, please.", side="user")

    assert (found.text, found.thought) == ("By the window, please.", "It forgot the window.")


def test_a_mark_that_is_only_thought_of_ends_nothing():
    assert not parse_turn("<think>Not yet [END]</think> And a window?", side="user").ended


def test_a_thought_that_never_closes_leaves_nothing_said():
    assert parse_turn("<think>Let me see", side="user").problem == EMPTY


@pytest.mark.parametrize("label", ["User:", "**User**:", "**User:**", "Person: "])
def test_its_own_label_is_taken_away(label):
    assert parse_turn(f"{label} A table, please.", side="user").text == "A table, please."


def test_what_it_says_for_the_other_side_is_cut():
    found = parse_turn("A table, please.\nAssistant: At eight?\nUser: Yes.", side="user")

    assert (found.text, found.cut, found.problem) == ("A table, please.", True, "")


def test_a_second_turn_of_its_own_is_cut_too():
    assert parse_turn("A table, please.\nUser: For two.", side="user").text == "A table, please."


@pytest.mark.parametrize("side", ["user", "assistant"])
def test_a_reply_that_begins_as_the_other_side_is_no_turn(side):
    other = {"user": "Assistant", "assistant": "User"}[side]

    assert parse_turn(f"{other}: At eight?", side=side).problem == OTHER_SIDE


@pytest.mark.parametrize(
    "reply",
    ["How can I help you today?", "As an AI language model I cannot eat.", "I'm here to help! What do you need?"],
)
def test_a_user_that_answers_as_the_assistant(reply):
    assert parse_turn(reply, side="user").problem == OTHER_SIDE
    assert parse_turn(reply, side="assistant").problem == ""


@pytest.mark.parametrize("side", ["user", "assistant"])
@pytest.mark.parametrize("reply", ["", "   \n"])
def test_nothing_said(side, reply):
    assert parse_turn(reply, side=side).problem == EMPTY


def test_a_refusal():
    assert parse_turn("I will not.", side="user", refused=True).problem == REFUSAL


def test_a_colon_inside_a_sentence_is_no_label():
    assert parse_turn("The assistant said: eight.", side="user").text == "The assistant said: eight."
