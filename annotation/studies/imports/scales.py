"""Values of files as a criterion's scale spells them."""

from __future__ import annotations

import math

from annotation.studies.models.studies import Criterion
from core.errors import InputError


def match_scale(criterion: Criterion, given: str) -> str:
    """The value as the scale spells it: given as such, as its label, or as an equal number."""
    for category in criterion.categories:
        value = str(category["value"])
        if given.casefold() in (value.casefold(), str(category["label"]).casefold()) or is_same_number(given, value):
            return value
    if not criterion.categories and parse_number(given) is not None:
        return given
    scale = ", ".join(criterion.values) or "any number"
    raise InputError("{given!r} is not on the scale of {name} ({scale})", given=given, name=criterion.name, scale=scale)


def is_same_number(one: str, other: str) -> bool:
    first = parse_number(one)
    return first is not None and first == parse_number(other)


def parse_number(text: str) -> float | None:
    """A finite number, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
