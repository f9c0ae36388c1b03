from __future__ import annotations

from dataclasses import replace

import pytest

from judging.judges.providers.requests import Category, CriterionSpec, to_shown_criterion, to_stored_value


def criterion(*values: str) -> CriterionSpec:
    categories = tuple(Category(value, f"Response {value}", f"guideline {value}") for value in values)
    return CriterionSpec("preference", "Preference", "Which is better?", "", "nominal", categories)


@pytest.mark.parametrize("order", ["AB", "BA"])
def test_a_preference_is_asked_by_side_a_first(order):
    asked = to_shown_criterion(criterion("1", "2", "tie"), order)

    assert asked.values == ("A", "B", "tie")
    assert [category.label for category in asked.categories][:2] == ["Response A", "Response B"]


def test_what_is_stored_names_the_response():
    preference = criterion("1", "2", "tie")

    assert [to_stored_value(side, preference, "AB") for side in ("A", "B", "tie")] == ["1", "2", "tie"]
    assert [to_stored_value(side, preference, "BA") for side in ("A", "B", "tie")] == ["2", "1", "tie"]


def test_a_choice_of_three_names_the_places_of_three():
    chosen = criterion("1", "2", "3", "tie")
    asked = to_shown_criterion(chosen, "CAB")
    assert asked.values == ("A", "B", "C", "tie")
    assert [one.guideline for one in asked.categories[:3]] == ["guideline 3", "guideline 1", "guideline 2"]
    assert [to_stored_value(side, chosen, "CAB") for side in (*"ABC", "tie")] == ["3", "1", "2", "tie"]
    assert to_shown_criterion(chosen, "BA").values == ("A", "B", "tie"), "an item of two responses"


@pytest.mark.parametrize(("values", "order"), [(("1", "2", "3"), "BA"), (("yes", "no"), "BA"), (("1", "2"), "")])
def test_other_scales_stay_as_they_are(values, order):
    scale = replace(criterion(*values), level="ordinal")

    assert to_shown_criterion(scale, order) == scale
    assert to_stored_value("1", scale, order) == "1"
