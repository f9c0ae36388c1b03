"""Response 1 and 2 are what is stored; A and B are where they are shown. The one place that translates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from judging.judges.providers.base import Category, CriterionSpec

SIDES = {"AB": {"1": "A", "2": "B"}, "BA": {"1": "B", "2": "A"}}


def is_preference(values: Sequence[str]) -> bool:
    """Whether the values name responses: "1", "2" and perhaps "tie"."""
    return {"1", "2"} <= set(values) <= {"1", "2", "tie"}


def to_shown(criterion: CriterionSpec, order: str) -> CriterionSpec:
    """The criterion as it is asked in this order: a preference names the sides, A first."""
    if not order or not is_preference(criterion.values):
        return criterion
    categories = [_shown_category(category, order) for category in criterion.categories]
    return replace(criterion, categories=tuple(sorted(categories, key=lambda category: category.value)))


def _shown_category(category: Category, order: str) -> Category:
    side = SIDES[order].get(category.value)
    return Category(side, f"Response {side}", category.guideline) if side else category


def to_stored(value: str, criterion: CriterionSpec, order: str) -> str:
    """What is stored for a value given on the scale that `to_shown` made of this criterion."""
    if not order or not is_preference(criterion.values):
        return value
    return {side: response for response, side in SIDES[order].items()}.get(value, value)
