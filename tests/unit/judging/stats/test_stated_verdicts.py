"""What explanations are read to say, on hand-made cases: how many are read, and how many wrongly."""

from __future__ import annotations

import numpy as np
import pytest

from judging.stats.audits.contradiction import contradiction
from judging.stats.stated_verdicts import find_stated_category, find_stated_preference
from scripts.bench_stated import cases, summed_up

YES_OR_NO = {"yes": ["yes", "Goal reached"], "no": ["no", "Goal missed"]}


def test_the_measured_error_is_what_the_documentation_says():
    assert summed_up(cases()) == {"stated": 61, "read": 51, "not_stated": 23, "wrong": 3}


def test_no_language_and_no_kind_is_read_by_chance():
    every = cases()
    for language, kind in {(case["language"], case["kind"]) for case in every}:
        one = summed_up(case for case in every if (case["language"], case["kind"]) == (language, kind))
        assert one["read"] >= 0.7 * one["stated"], (language, kind)


@pytest.mark.parametrize(
    ("explanation", "stated"),
    [
        ("Response A is better than response B.", "A"),
        ("B is less helpful.", "A"),
        ("Although A is better, I prefer B.", "B"),
        ("I prefer A. I prefer B.", None),
        ("A better response names the price.", None),
        ("Both are equally good.", "tie"),
        ("", None),
    ],
)
def test_a_side_is_read(explanation, stated):
    assert find_stated_preference(explanation) == stated


@pytest.mark.parametrize(
    ("explanation", "stated"),
    [
        ("Verdict: goal missed.", "no"),
        ("My answer is YES", "yes"),
        ("The answer is not yes.", None),
        ("My answer is yes. Verdict: no.", None),
        ("Yes, she said.", None),
    ],
)
def test_a_category_is_read(explanation, stated):
    assert find_stated_category(explanation, YES_OR_NO) == stated


def test_a_score_is_read_by_number_or_label():
    names = {"1": ["1", "poor"], "2": ["2", "fair"], "3": ["3", "good"]}
    assert find_stated_category("I rate it 3 out of 3.", names) == "3"
    assert find_stated_category("I rate it as poor.", names) == "1"
    assert find_stated_category("A score of 3; the rating is fair.", names) is None
    assert find_stated_category("The score is 1.5.", names) is None


def test_what_cannot_be_read_is_said_with_its_number():
    flags = np.full(40, np.nan)
    flags[:4] = 0
    found = contradiction(flags, np.arange(40) < 30)
    assert np.isnan(found.p_value)
    assert found.effect.reason == (
        "4 of 30 explanations state a verdict that can be read (rules for English and German); the probe needs 10"
    )
    assert found.details["readable"].value == pytest.approx(4 / 30)


def test_contradictions_are_found_among_those_that_can_be_read():
    flags = np.array([1.0] * 6 + [0.0] * 14 + [np.nan] * 10)
    found = contradiction(flags, np.ones(30, dtype=bool))
    assert (found.effect.value, found.effect.n_items) == (0.3, 20)
    assert found.p_value < 0.001
    assert found.details["readable"].value == pytest.approx(2 / 3)
