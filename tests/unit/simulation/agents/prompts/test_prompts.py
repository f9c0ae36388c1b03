from __future__ import annotations

import pytest

from simulation.agents import prompts
from simulation.agents.prompts import (
    CONDITIONS,
    TASK_PREFERENCES,
    USER_INFORMATION,
    Scene,
    SpokenTurn,
    build_assistant_cue,
    build_user_cue,
    roles,
)

SCENE = Scene(
    demographics={"age": "35-44 years old"},
    preferences={
        "Restaurants": {"Cuisine": ["Thai", "Ethiopian"], "Ambiance": "quiet"},
        "Books": {"Genre": ["history"]},
    },
    interactions={"Restaurants": "She always asks for a window.", "Books": "She reads at night."},
    situation={"Location": "Toronto"},
    task="The user books a table.",
    intent="Book a table for tonight.",
    goal="A table is booked.",
    domains=("Restaurants",),
    preference_types=("Cuisine",),
)
TALK = [
    SpokenTurn("user", "A table for tonight, please."),
    SpokenTurn("assistant", "Thai at eight?"),
    SpokenTurn("user", "Yes."),
]


class TestUser:
    def test_as_a_variant_it_knows_the_goal_and_only_the_preferences_that_the_task_names(self):
        cue = build_user_cue(SCENE, [], information=TASK_PREFERENCES)

        for fact in ("35-44", "Thai, Ethiopian", "Toronto", "Book a table for tonight.", "A table is booked.", "[END]"):
            assert fact in cue.system
        assert "quiet" not in cue.system, "the task does not ask for the ambiance"
        assert "history" not in cue.system

    def test_the_end_is_offered_once_the_assistant_has_spoken(self):
        assert "TERMINATE" not in build_user_cue(SCENE, []).system
        assert "TERMINATE" in build_user_cue(SCENE, TALK[:2]).system

    def test_it_is_asked_to_begin(self):
        assert [message.role for message in build_user_cue(SCENE, []).messages] == ["user"]

    def test_its_own_turns_are_those_of_the_model(self):
        roles = [(message.role, message.content) for message in build_user_cue(SCENE, TALK[:2]).messages[1:]]

        assert roles == [("assistant", TALK[0].text), ("user", TALK[1].text)]

    def test_each_strategy_asks_for_something_else_and_has_its_version(self):
        cues = {name: build_user_cue(SCENE, TALK[:2], strategy=name) for name in prompts.STRATEGIES}

        assert "<think>" in cues["chain_of_thought"].system
        assert "<state>" in cues["state_tracking"].system
        assert "<" not in cues["vanilla"].system
        assert len({cue.version for cue in cues.values()}) == 3

    def test_where_nothing_is_known_that_is_said(self):
        assert prompts.NOTHING_KNOWN in build_user_cue(Scene(task="Anything."), []).system

    def test_a_domain_without_the_named_types_is_there_with_all_of_its_own(self):
        scene = Scene(preferences={"Books": {"Genre": ["history"]}}, domains=("Books",), preference_types=("Format",))

        assert "history" in build_user_cue(scene, [], information=TASK_PREFERENCES).system


class TestAssistant:
    @pytest.mark.parametrize(
        ("key", "there", "absent"),
        [
            ("base", [], ["35-44", "window", "Toronto"]),
            ("base+D", ["35-44"], ["window", "Toronto"]),
            ("base+I", ["window"], ["35-44", "Toronto", "at night"]),
            ("base+S", ["Toronto"], ["35-44", "window"]),
            ("base+all", ["35-44", "window", "Toronto"], ["at night"]),
            ("base+I-retrieved", ["She reads."], ["35-44", "window", "Toronto"]),
        ],
    )
    def test_a_condition_grants_its_parts_and_nothing_else(self, key, there, absent):
        cue = build_assistant_cue(SCENE, TALK, condition=CONDITIONS[key], retrieved=["She reads."])

        assert all(fact in cue.system for fact in there)
        assert not any(fact in cue.system for fact in absent)
        assert "Thai, Ethiopian" not in cue.system, "preferences are for the assistant to find out"

    def test_vanilla_has_two_lines_and_none_has_nothing(self):
        vanilla, none = (
            build_assistant_cue(SCENE, TALK, condition=CONDITIONS[key]).system for key in ("vanilla", "none")
        )

        assert (len(vanilla.splitlines()), none) == (2, "")

    def test_no_number_of_sentences_is_asked_for(self):
        assert "sentence" not in build_assistant_cue(SCENE, TALK, condition=CONDITIONS["base"]).system

    def test_the_conversation_follows_as_it_was(self):
        cue = build_assistant_cue(SCENE, TALK, condition=CONDITIONS["base"])

        assert [(message.role, message.content) for message in cue.messages] == [(t.side, t.text) for t in TALK]

    def test_a_part_of_which_nothing_is_known_is_left_out(self):
        cue = build_assistant_cue(Scene(), TALK, condition=CONDITIONS["base+all"])

        assert "Who the user is" not in cue.system
        assert "$" not in cue.system

    def test_every_condition_has_its_version(self):
        versions = {prompts.version(prompts.assistant_role(key), key) for key in CONDITIONS}

        assert len(versions) == len(CONDITIONS)


class TestReplaced:
    """An experiment brings texts of its own."""

    def test_the_text_takes_the_place_of_the_own_one_and_has_its_version(self):
        replaced = {"user_later": "Ask for $intent, then say $mark."}

        cue = build_user_cue(SCENE, TALK[:2], replaced=replaced)

        assert cue.system == "Ask for Book a table for tonight., then say TERMINATE."
        assert cue.version != build_user_cue(SCENE, TALK[:2]).version
        assert build_user_cue(SCENE, [], replaced=replaced) == build_user_cue(SCENE, []), "the first turn keeps its own"

    def test_the_assistant_is_told_what_its_condition_grants_wherever_that_stands(self):
        replaced = {"assistant": "Help. Known: $demographics $situation"}

        cue = build_assistant_cue(SCENE, TALK, condition=CONDITIONS["base+D"], replaced=replaced)

        assert "35-44" in cue.system
        assert "Toronto" not in cue.system
        assert "$" not in cue.system

    def test_vanilla_can_be_instructed(self):
        cue = build_assistant_cue(SCENE, TALK, condition=CONDITIONS["vanilla"], replaced={"vanilla": "Be brief."})

        assert cue.system == "Be brief."

    @pytest.mark.parametrize(
        ("replaced", "conditions", "said"),
        [
            ({"narrator": "Tell."}, [], "'narrator' is not a role; there are user_opening"),
            ({"user_opening": "Speak."}, [], "User agent, first turn: The template lacks $intent, so the user agent"),
            ({"user_later": "$intent"}, [], "lacks $mark, so no dialogue would end"),
            ({"user_later": "$intent $mark $mood"}, [], "${mood} is not a placeholder for this role; there are $demo"),
            ({"vanilla": "$situation"}, [], "${situation} is not a placeholder for this role; there are none"),
            ({"assistant": "Help."}, ["base", "base+S"], "lacks $situation, so the condition base+S would tell"),
        ],
    )
    def test_what_cannot_be_used_is_said(self, replaced, conditions, said):
        assert said in " ".join(roles.problems(replaced, conditions))

    def test_concords_own_texts_can_be_used(self):
        for information in USER_INFORMATION:
            own = {role: roles.load_own_text(role, information) for role in ("user_later", "assistant")}
            assert roles.problems(own, CONDITIONS) == []


def test_a_dollar_in_the_material_is_text():
    assert "under $30" in build_user_cue(Scene(intent="Eat for under $30."), []).system


def test_unknown_conditions_are_named():
    assert prompts.unknown(["base", "base+X"]) == ["base+X"]
