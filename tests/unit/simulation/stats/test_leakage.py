from __future__ import annotations

from simulation.stats.utterances import find_leaked

LIKES = {"Restaurants": {"Cuisine": ["Thai", "Ethiopian"], "Ambiance": "quiet corner", "Outdoor": True}}


def test_values_that_are_named():
    assert find_leaked("A Thai place with a quiet corner?", LIKES) == ["Thai", "quiet corner"]


def test_words_apart_are_no_value():
    assert find_leaked("A corner that is quiet", LIKES) == []


def test_part_of_a_word_is_no_value():
    assert find_leaked("Something from Thailand", LIKES) == []


def test_what_the_task_says_itself_is_no_leak():
    assert find_leaked("A Thai place", LIKES, given="The user looks for a Thai restaurant.") == []


def test_values_that_tell_nothing():
    assert find_leaked("Yes, any place", {"Music": {"Live": "Yes", "Kind": ["any"]}}) == []
