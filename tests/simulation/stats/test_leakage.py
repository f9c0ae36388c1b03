from __future__ import annotations

from simulation.stats.leakage import leaked

LIKES = {"Restaurants": {"Cuisine": ["Thai", "Ethiopian"], "Ambiance": "quiet corner", "Outdoor": True}}


def test_values_that_are_named():
    assert leaked("A Thai place with a quiet corner?", LIKES) == ["Thai", "quiet corner"]


def test_words_apart_are_no_value():
    assert leaked("A corner that is quiet", LIKES) == []


def test_part_of_a_word_is_no_value():
    assert leaked("Something from Thailand", LIKES) == []


def test_what_the_task_says_itself_is_no_leak():
    assert leaked("A Thai place", LIKES, given="The user looks for a Thai restaurant.") == []


def test_values_that_tell_nothing():
    assert leaked("Yes, any place", {"Music": {"Live": "Yes", "Kind": ["any"]}}) == []
