"""Responses 1, 2, … are what is stored; A, B, … are where they are shown. The one place that translates."""

from __future__ import annotations

from dataclasses import replace

from annotation.stats.orders import TIE, list_shown, name_responses, to_response
from judging.judges.providers.requests import Category, CriterionSpec


def is_preference(criterion: CriterionSpec) -> bool:
    """Whether the values name responses: "1", "2" and perhaps "tie"; or more numbers, which are no scale."""
    named = name_responses(criterion.values)
    return len(named) == 2 or bool(named and criterion.is_choice and criterion.level == "nominal")


def to_shown(criterion: CriterionSpec, order: str) -> CriterionSpec:
    """The criterion as it is asked in this order: a preference names the places, A first, as far as there are any."""
    if not order or not is_preference(criterion):
        return criterion
    there = list_shown(order)
    named = [
        Category(there[one.value], f"Response {there[one.value]}", one.guideline)
        for one in criterion.categories
        if one.value in there
    ]
    tie = [one for one in criterion.categories if one.value == TIE]
    return replace(criterion, categories=(*sorted(named, key=lambda one: one.value), *tie))


def to_stored(value: str, criterion: CriterionSpec, order: str) -> str:
    """What is stored for a value given on the scale that `to_shown` made of this criterion."""
    return to_response(value, order) if is_preference(criterion) else value
