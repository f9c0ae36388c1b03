from __future__ import annotations

import json
import re

import pytest

from simulation.agents.parsing import generated
from simulation.agents.parsing.generated import UnfitError
from simulation.agents.prompts.generation import TypeSpec

CUISINE = TypeSpec("Restaurants", "Cuisine", several=True, possible=("Thai", "Greek"))
PRICE = TypeSpec("Restaurants", "Price", possible=("low", "high"))
PLACE = TypeSpec("Restaurants", "Place")
TYPES = [CUISINE, PRICE, PLACE]
GOOD = {"Cuisine": ["Thai", "Thai", "Greek"], "Price": "low", "Place": "Olive"}


def test_preferences_that_fit():
    assert generated.preferences(f"Here you are: {json.dumps(GOOD)} Enjoy.", TYPES) == {
        "Cuisine": ["Thai", "Greek"],
        "Price": "low",
        "Place": "Olive",
    }


@pytest.mark.parametrize(
    ("change", "field", "why"),
    [
        ({"Cuisine": ["Martian"]}, "Restaurants: Cuisine", "'Martian' is not one of Thai; Greek"),
        ({"Cuisine": []}, "Restaurants: Cuisine", "takes a list of texts"),
        ({"Price": ["low", "high"]}, "Restaurants: Price", "takes one value"),
        ({"Price": 3}, "Restaurants: Price", "takes text"),
        ({"Place": " "}, "Restaurants: Place", "takes text"),
        ({"Colour": "red"}, "Colour", "is not a preference of this domain"),
        ({"Price": None}, "Restaurants: Price", "takes text"),
    ],
)
def test_preferences_that_do_not_fit_name_the_field(change, field, why):
    with pytest.raises(UnfitError) as error:
        generated.preferences(json.dumps(GOOD | change), TYPES)
    assert (error.value.field, error.value.message) == (field, why)


def test_a_preference_that_is_missing():
    with pytest.raises(UnfitError, match="Restaurants: Place: is missing"):
        generated.preferences(json.dumps({"Cuisine": ["Thai"], "Price": "low"}), TYPES)


@pytest.mark.parametrize("reply", ["", "I will not.", "{broken", "} {", '{"a": }'])
def test_what_is_no_json_is_said(reply):
    with pytest.raises(UnfitError) as error:
        generated.preferences(reply, TYPES)
    assert error.value.field == "reply"


def test_a_summary_has_some_length():
    assert generated.summary(json.dumps({"summary": "She asks for Thai food. " * 3})).startswith("She")
    with pytest.raises(UnfitError, match="summary"):
        generated.summary('{"summary": "Short."}')


class TestTasks:
    ONE = {"description": "d", "intent": "i", "goal": "g", "preference_types": ["Price"]}

    def test_as_many_as_asked_for(self):
        assert generated.tasks(json.dumps({"tasks": [self.ONE]}), TYPES, 1) == [self.ONE]
        with pytest.raises(UnfitError, match="tasks: holds 1 and not 2"):
            generated.tasks(json.dumps({"tasks": [self.ONE]}), TYPES, 2)

    def test_a_preference_type_that_is_not_there(self):
        wrong = {"tasks": [self.ONE | {"preference_types": ["Colour"]}]}
        with pytest.raises(UnfitError, match=r"tasks\.0\.preference_types: 'Colour' is not a preference type here"):
            generated.tasks(json.dumps(wrong), TYPES, 1)

    def test_a_field_that_is_missing(self):
        with pytest.raises(UnfitError, match=r"tasks\.0\.goal"):
            generated.tasks('{"tasks": [{"description": "d", "intent": "i", "preference_types": ["Price"]}]}', TYPES, 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, None),
        ({"Device": "phone"}, "Device: takes a value and a justification"),
        ({"Device": {"value": "phone"}}, "Device: takes a value and a justification"),
        ({"Device": {"value": "phone", "justification": " "}}, "Device.justification: takes text"),
        ({"Device": {"value": None, "justification": "y"}}, "Device.value: takes text"),
        ({"Mood": {"value": "x", "justification": "y"}}, "Mood: was not asked for"),
    ],
)
def test_a_situation_has_five_parts_each_justified(change, message):
    parts = {name: {"value": "x", "justification": "y"} for name in generated.SITUATION} | change
    if message is None:
        assert generated.situation(json.dumps(parts)) == parts
        return
    with pytest.raises(UnfitError, match=re.escape(message)):
        generated.situation(json.dumps(parts))


def test_conflicts_are_between_fields_that_there_are():
    fields = generated.list_fields({"age": "9"}, {"Restaurants": {"Cuisine": ["Thai"]}})
    assert fields == ["Demographics: age", "Restaurants: Cuisine"]
    one = {"label": "l", "explanation": "e", "fields": fields}
    assert generated.conflicts(json.dumps({"conflicts": [one]}), fields) == [one]
    assert generated.conflicts('{"conflicts": []}', fields) == []
    with pytest.raises(UnfitError, match=r"conflicts\.0\.fields: 'Books: Genre' is not in the profile"):
        generated.conflicts(json.dumps({"conflicts": [one | {"fields": ["Books: Genre"]}]}), fields)
