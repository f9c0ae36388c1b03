"""What replies on the way from seeds must be, by rule."""

from __future__ import annotations

import json

import pytest

from simulation.agents.parsing import seeds
from simulation.agents.parsing.generated import UnfitError
from simulation.agents.prompts import text
from simulation.agents.prompts.generation import LEVELS

QUESTION = "What should I cook tonight?"
GOOD = [
    "Cook the green curry that you like.",
    "I can't recommend steak to a vegan, but a curry of chickpeas is quick and keeps for two days in the fridge.",
    "Sorry to hear that your oven is broken! Try a salad.",
    "Curry (咖喱) is quick.",
    "42",
]


@pytest.mark.parametrize("words", GOOD)
@pytest.mark.parametrize("level", LEVELS)
def test_an_answer_is_taken_as_it_is(words, level):
    assert seeds.response(f" {words}\n", question=QUESTION, level=level) == words


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (" \n", "is empty"),
        ("I'm sorry, but I can't help with that.", "is a refusal"),
        ("I cannot assist with this request.", "is a refusal"),
        ("As an AI language model, I have no taste.", "is a refusal"),
        ("I'm sorry for the confusion, but as an AI I have no kitchen.", "is a refusal"),
        ("很抱歉，我无法回答这个问题。", "is a refusal"),
        ("今晚可以做绿咖喱。", "is in Han letters, and Latin ones were asked for"),
    ],
)
def test_what_is_no_answer_is_told(words, problem):
    with pytest.raises(UnfitError) as caught:
        seeds.response(words, question=QUESTION, level="none")
    assert (caught.value.field, caught.value.message) == ("reply", problem)


@pytest.mark.parametrize("level", LEVELS)
def test_its_own_prompt_is_no_answer(level):
    prompt = text(f"candidates/{level}").replace("$question", QUESTION).replace("$persona", "Mei")
    with pytest.raises(UnfitError, match="repeats its prompt"):
        seeds.response(prompt, question=QUESTION, level=level)


def test_a_person_has_enough_facts_in_the_language_of_the_traits():
    made = {"name": "Mei", "description": "She lives by the sea and works nights. " * 2, "facts": {}}
    with pytest.raises(UnfitError, match="facts"):
        seeds.person(json.dumps(made), like="vegan")
    made["facts"] = {f"Topic {k}": "A fact." for k in range(4)}
    assert seeds.person(json.dumps(made), like="vegan")["name"] == "Mei"
    with pytest.raises(UnfitError, match="description: is in Latin letters, and Han ones were asked for"):
        seeds.person(json.dumps(made), like="素食者")


def test_lists_hold_as_many_as_asked_for_and_every_response_is_told_of_once():
    assert seeds.questions('{"questions": ["Why?", "When?"]}', 2, like="diet") == ["Why?", "When?"]
    with pytest.raises(UnfitError, match="questions: holds 1 and not 2"):
        seeds.questions('{"questions": ["Why?"]}', 2, like="diet")
    one = {"number": 1, "answers": True, "same_language": True, "level": "full"}
    assert seeds.parse_opinions(json.dumps({"responses": [one]}), 1)[0]["level"] == "full"
    for wrong in ([one, one], [{**one, "number": 2}], [{**one, "level": "much"}]):
        with pytest.raises(UnfitError, match="responses"):
            seeds.parse_opinions(json.dumps({"responses": wrong}), len(wrong))
