from __future__ import annotations

from simulation.stats.utterances import contradictions, strange_values

LIKES = {"Restaurants": {"Cuisine": ["Thai"], "Price": "low"}}
POSSIBLE = {
    "Restaurants": {"Cuisine": ["Thai", "Greek", "fine dining"], "Price": ["low", "any"], "Other": ["x"]},
    "Books": {"Genre": ["history"]},
}


def test_strange_is_what_could_be_and_is_not_held():
    # "any" tells nothing, Other and Books are no preferences of this user's task
    assert strange_values(LIKES, POSSIBLE) == ["Greek", "fine dining"]


def test_a_turn_that_names_something_else():
    strange = ["Greek", "fine dining"]
    assert contradictions("Something Greek, please.", strange) == ["Greek"]
    assert contradictions("A fine place for dining.", strange) == []
    assert contradictions("Thai, please.", strange) == []


def test_what_the_task_says_is_nobody_s_choice():
    assert contradictions("Greek, please.", ["Greek"], given="The user looks for a Greek restaurant.") == []
