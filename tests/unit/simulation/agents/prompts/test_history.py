from __future__ import annotations

import pytest

from simulation.agents.prompts import CONDITIONS, DAMAGED, Scene, build_assistant_cue, version
from simulation.agents.prompts.roles import damage

SCENE = Scene(
    preferences={"Restaurants": {"Cuisine": ["Thai", "Greek"], "Ambiance": "quiet", "Outdoor": "any"}},
    interactions={
        "Restaurants": "She likes Thai food. A quiet place. Thai again. No mushrooms.",
        "Books": "She reads at night. History mostly.",
    },
    domains=("Restaurants",),
    alternatives={"Restaurants": {"Cuisine": ["Thai", "Mexican", "greek"], "Ambiance": ["quiet", "lively"]}},
)


@pytest.mark.parametrize(
    ("step", "left"),
    [
        (25, "She likes Thai food. A quiet place. Thai again."),
        (50, "She likes Thai food. A quiet place."),
        (100, ""),
    ],
)
def test_shortened(step, left):
    assert damage(SCENE, "shortened", step) == {"Restaurants": left}


def test_irrelevant_keeps_the_length():
    assert damage(SCENE, "irrelevant", 75) == {
        "Restaurants": "She likes Thai food. She reads at night. History mostly. She reads at night."
    }


def test_irrelevant_without_another_domain_is_shortened():
    scene = Scene(interactions={"A": "One. Two."}, domains=("A",))
    assert damage(scene, "irrelevant", 50) == {"A": "One."}


def test_contradicted_replaces_what_is_named_by_what_the_user_does_not_hold():
    # named are Thai (both times) and quiet; Greek is held and not named, and no substitute
    assert damage(SCENE, "contradicted", 50)["Restaurants"].startswith("She likes Mexican food. A quiet place. Mexican")
    assert damage(SCENE, "contradicted", 100) == {
        "Restaurants": "She likes Mexican food. A lively place. Mexican again. No mushrooms."
    }


def test_a_word_inside_another_is_left_alone():
    scene = Scene(
        preferences={"A": {"Kind": "art"}},
        interactions={"A": "She starts with art."},
        domains=("A",),
        alternatives={"A": {"Kind": ["art", "music"]}},
    )
    assert damage(scene, "contradicted", 100) == {"A": "She starts with music."}


def test_without_alternatives_nothing_is_contradicted():
    scene = Scene(preferences={"A": {"Kind": "art"}}, interactions={"A": "Art."}, domains=("A",))
    assert damage(scene, "contradicted", 100) == {"A": "Art."}


def test_every_step_is_a_condition_with_its_version():
    assert len(DAMAGED) == 12
    assert len({version("assistant", key) for key in DAMAGED}) == 12
    cue = build_assistant_cue(SCENE, [], condition=CONDITIONS["base+I-shortened-50"])
    assert "A quiet place." in cue.system
    assert "mushrooms" not in cue.system


def test_where_nothing_is_left_the_part_is_left_out():
    cue = build_assistant_cue(SCENE, [], condition=CONDITIONS["base+I-shortened-100"])
    assert "What is remembered" not in cue.system
