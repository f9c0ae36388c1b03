"""What is known of a study's items by their position: ids, the groups that they fall into, columns of the source."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TypedDict

from django.db.models import QuerySet
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_noop

from annotation.studies.models.studies import Item, Study
from core.errors import InputError

LOOKED_AT = 2000
"""Records that are read to find what columns there are."""

MOST_VALUES = 30
"""Values of a column that a page lists."""

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

NONE, SEVERAL_DOMAINS = gettext_noop("(none)"), gettext_noop("several domains")


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
        return load_own_groups(study, by)
    return {position: group_name(group) for position, group in study.items.values_list("position", GROUPINGS[by])}


def load_own_groups(study: Study, by: str) -> dict[int, str]:
    """By item position, its entry in a column of the source. Raises InputError where no item has one."""
    found = {position: to_column_label(extra, by) for position, extra in list_extras(study)}
    if not any(found.values()):
        there = ", ".join([*GROUPINGS, *list_column_values(extra for _, extra in list_extras(study))])
        raise InputError("items cannot be grouped by {by!r}; choose one of {there}", field="by", by=by, there=there)
    return {position: label or NONE for position, label in found.items()}


def list_extras(study: Study) -> QuerySet[Item, tuple[int, object]]:
    """Positions of items and what their source has beside what Concord reads."""
    return study.items.order_by("position").values_list("position", f"{study.kind}__extra")


def list_own_groupings(study: Study) -> list[str]:
    """Columns of the source that some of the first items can be grouped by."""
    return list(list_column_values(extra for _, extra in list_extras(study)[:LOOKED_AT]))


def strata(study: Study, by: str) -> dict[int, str]:
    """By item position, the stratum within which it is resampled. Raises InputError where there is no such one."""
    if by not in STRATA:
        raise InputError(
            "a stratified bootstrap cannot use {by!r}; choose one of {strata}",
            field="strata",
            by=by,
            strata=", ".join(STRATA),
        )
    return groups(study, by)


def group_name(group: object) -> str:
    """What a group is called, by the field that says it."""
    if isinstance(group, list):
        return SEVERAL_DOMAINS if len(group) > 1 else "".join(group) or NONE
    return str(group or NONE)


class Highlight(TypedDict):
    """Words that an annotator marked: the name of the text, where they begin and end there, and the words."""

    part: str
    start: int
    end: int
    text: str


def list_texts(item: Item) -> dict[str, str]:
    """The texts of an item in which words can be marked, by their names; with line ends as a browser has them."""
    if item.dialogue is not None:
        found = {f"turn-{number}": turn["content"] for number, turn in enumerate(item.dialogue.turns, start=1)}
    elif pair := item.pair:
        found = {"question": pair.question, "context": pair.context}
        found |= {one.part: str(one.text) for one in pair.responses}
    else:
        found = {}
    return {name: text.replace("\r\n", "\n").replace("\r", "\n") for name, text in found.items()}


def to_column_label(extra: object, key: str) -> str:
    """Return the entry of a column as text; empty where it is none, or is neither text nor a number."""
    found = extra.get(key) if isinstance(extra, Mapping) else None
    return str(found) if isinstance(found, str | int | float) and not isinstance(found, bool) else ""


def list_column_values(extras: Iterable[object]) -> dict[str, list[str]]:
    """List the values of each column, sorted; without columns with one value, or a different one in every record."""
    rows = list(extras)
    found: dict[str, list[str]] = {}
    for key in sorted({key for extra in rows if isinstance(extra, Mapping) for key in extra}):
        labels = [label for extra in rows if (label := to_column_label(extra, key))]
        if len(set(labels)) > 1 and len(set(labels)) < max(len(labels), 3):
            found[key] = sorted(set(labels))
    return found
