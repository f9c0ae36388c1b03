from __future__ import annotations

import math

import pytest

from simulation.stats.utterances import alike, repeats, repetition_share


def test_word_for_word_whatever_the_signs():
    assert repeats("Book a table, please!", ["book a table please", "something else now"])


def test_nearly_the_same():
    # bigrams: 10 in each, 9 in common: 2 * 9 / 20 = 0.9
    first = "one two three four five six seven eight nine ten eleven"
    second = "one two three four five six seven eight nine ten twelve"
    assert alike(first.split(), second.split()) == pytest.approx(0.9)
    assert repeats(second, [first])


def test_something_else():
    assert not repeats("Is there a window seat?", ["Book me a table for tonight."])


def test_a_short_word_may_be_said_again_but_not_twice_in_a_row():
    assert not repeats("Yes, please.", ["Yes, please.", "At eight, if you can."])
    assert repeats("Yes, please.", ["At eight.", "Yes please"])


def test_nothing_is_no_repetition():
    assert not repeats("", [""])
    assert not repeats("...", ["..."])


def test_share():
    # of the second, third and fourth utterance the third and fourth repeat the first
    assert repetition_share(["a b c d", "e f g h", "a b c d", "a b c d"]) == pytest.approx(2 / 3)
    assert math.isnan(repetition_share(["a b c d"]))
