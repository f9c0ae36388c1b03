"""Expected shares are derived in the comments."""

from __future__ import annotations

import math

import pytest

from judging.judges.providers.chat_completions import Token, distribution

FOUR = ("1", "2", "3", "4")


def tokens(*said: str | tuple[str, dict[str, float]]) -> list[Token]:
    """Tokens that are certain, or with the probabilities of what could have stood there."""
    pairs = [(one, {one: 1.0}) if isinstance(one, str) else one for one in said]
    return [Token(text, {other: math.log(p) for other, p in others.items()}) for text, others in pairs]


def test_the_verdicts_alternatives_share_what_is_on_the_scale():
    # 0.5 + 0.2 + 0.1 = 0.8 on the scale: 5/8, 2/8, 1/8
    said = tokens('{"', "verdict", '":', ' "', ("3", {"3": 0.5, "2": 0.2, "4": 0.1, "5": 0.2}), '"}')

    found = distribution(said, FOUR)

    assert found.probabilities == pytest.approx({"1": 0, "2": 0.25, "3": 0.625, "4": 0.125})
    assert found.mass == pytest.approx(0.8)


def test_tokens_may_take_the_quote_or_a_space_along():
    # the same value in two spellings: 0.4 + 0.2 for yes, 0.2 for no
    said = tokens('{"verdict":', (' "yes', {' "yes': 0.4, ' "Yes': 0.2, ' "no': 0.2, " [": 0.2}), '"}')

    assert distribution(said, ("yes", "no")).probabilities == pytest.approx({"yes": 0.75, "no": 0.25})


def test_the_beginning_of_a_word_is_the_word():
    said = tokens('{"verdict": "', ("ti", {"ti": 0.5, "A": 0.25, "B": 0.25}), 'e"}')

    assert distribution(said, ("A", "B", "tie")).probabilities == pytest.approx({"A": 0.25, "B": 0.25, "tie": 0.5})


def test_the_last_verdict_counts():
    first, second = ("1", {"1": 1.0}), ("2", {"2": 0.5, "1": 0.5})

    found = distribution(tokens("Score: ", first, " no, ", "Score: ", second), FOUR)

    assert found.probabilities["2"] == pytest.approx(0.5)


def test_what_a_single_token_cannot_tell_apart_is_not_told():
    said = tokens('{"verdict": "', ("1", {"1": 0.9, "2": 0.1}), '"}')

    assert distribution(said, ("1", "2", "10")) is None


@pytest.mark.parametrize("said", [(), ("I", " like", " it"), ('{"verdict": "',), ('{"verdict": "', ("x", {"x": 1.0}))])
def test_without_a_verdict_there_is_no_distribution(said):
    assert distribution(tokens(*said), FOUR) is None
