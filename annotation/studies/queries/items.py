"""What is known of a study's items by their position: their ids, and the groups they fall into."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db.models.functions import Coalesce

from annotation.studies.models.studies import Item, Study
from core.errors import InputError

PROFILE = Coalesce("dialogue__scenario__profile__external_id", "pair__profile__external_id")

GROUPINGS: dict[str, str | Coalesce] = {
    "stratum": "stratum",
    "domain": "dialogue__scenario__task__domains",
    "condition": "dialogue__condition",
    "assistant_model": "dialogue__assistant_model",
    "kind": "pair__kind",
    "source_tier": "pair__source_tier",
    "profile": PROFILE,
}
"""By the name that a researcher uses: the field that says the group."""

STRATA = ("stratum", "domain", "condition", "assistant_model", "kind")
"""Groupings within which items may be resampled, each keeping its size: the sample was drawn so, or is read so."""

NONE = "(none)"
SEVERAL_DOMAINS = "several domains"


def ids(study: int, positions: Collection[int]) -> list[int]:
    """Of the items at these positions. One query.

    PostgreSQL finds what was said of some items by their ids; given their positions it would rather read everything.
    """
    return list(Item.objects.filter(study=study, position__in=positions).values_list("pk", flat=True))


def external_ids(study: Study, positions: Collection[int]) -> dict[int, str]:
    """By these positions of items, the id of the dialogue or pair in its source. One query."""
    external_id = Coalesce("dialogue__external_id", "pair__external_id")
    return dict(study.items.filter(position__in=positions).order_by().values_list("position", external_id))


def groups(study: Study, by: str) -> dict[int, str]:
    """By item position, the item's group. Raises InputError where there is no such grouping."""
    if by not in GROUPINGS:
        raise InputError(f"items cannot be grouped by {by!r}; choose one of {', '.join(GROUPINGS)}", field="by")
    return {position: group_name(group) for position, group in study.items.values_list("position", GROUPINGS[by])}


def strata(study: Study, by: str) -> dict[int, str]:
    """By item position, the stratum within which it is resampled. Raises InputError where there is no such one."""
    if by not in STRATA:
        raise InputError(f"items are not resampled within {by!r}; choose one of {', '.join(STRATA)}", field="strata")
    return groups(study, by)


def group_name(group: Any) -> str:
    """What a group is called, by the field that says it."""
    if isinstance(group, list):
        return SEVERAL_DOMAINS if len(group) > 1 else "".join(group) or NONE
    return str(group or NONE)
