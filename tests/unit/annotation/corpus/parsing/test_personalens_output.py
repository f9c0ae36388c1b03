"""Verdicts inside judges' free text."""

from __future__ import annotations

import pytest

from annotation.corpus.parsing.personalens_output import explanation, verdict


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("True EXPLANATION: done", "yes"),
        ("**False**\nEXPLANATION: not done", "no"),
        ("My answer: True. Explanation: it is booked", "yes"),
        ("The user says it is true.", None),
        ("True\nBut later False EXPLANATION: changed its mind", None),
        ("", None),
    ],
)
def test_task_completion(text, value):
    assert verdict(text, "task_completion") == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Personalization Score: 3", "3"),
        ("**Naturalness Score:** 4/5", "4"),
        ("Justification: fine\nCoherence score = 2", "2"),
        ("Coherence Score: 2\n... so the coherence score is 2", "2"),
        ("Score: 2\nScore: 4", None),
        ("Score: 3.5", "3.5"),
        ("Out of 5 I would give 4", None),
        ("The score\n5 turns", None),
    ],
)
def test_scores(text, value):
    assert verdict(text, "coherence_user") == value


def test_the_explanation_follows_its_word():
    assert explanation("True EXPLANATION: It is.\nBooked.") == "It is.\nBooked."
    assert explanation("Score: 3") == ""
