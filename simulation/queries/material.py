"""Profiles and dialogues as they are measured: counts of values, and texts by side."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count

from annotation.models import Dialogue, Profile
from simulation.models import PreferenceType
from simulation.stats.leakage import values_of

NOT_DEMOGRAPHIC = ("user_id",)


@dataclass(frozen=True)
class Values:
    """What the profiles of a source have.

    Attributes
    ----------
    n
        Profiles.
    demographics
        Field -> value -> how many profiles have it.
    preferences
        (domain, type) -> value -> how many profiles hold it.
    holders
        (domain, type) -> how many profiles hold any.
    """

    n: int
    demographics: Mapping[str, Counter[str]]
    preferences: Mapping[tuple[str, str], Counter[str]]
    holders: Mapping[tuple[str, str], int]


def sources() -> list[tuple[str, int]]:
    """Sources with profiles that have preferences by domain, and how many profiles."""
    rows = Profile.objects.exclude(preferences={}).order_by("source").values("source")
    return list(rows.annotate(n=Count("pk")).values_list("source", "n"))


def values(source: str) -> Values:
    """One query; the profiles are streamed."""
    demographics: dict[str, Counter[str]] = defaultdict(Counter)
    preferences: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    holders: Counter[tuple[str, str]] = Counter()
    n = 0
    rows = Profile.objects.filter(source=source).order_by().values_list("demographics", "preferences")
    for person, held in rows.iterator(chunk_size=200):
        n += 1
        for field, value in person.items():
            if field not in NOT_DEMOGRAPHIC and value not in (None, "", [], {}):
                demographics[field][str(value)] += 1
        for key, found in held_values(held):
            holders[key] += 1
            preferences[key].update(found)
    return Values(n, demographics, preferences, holders)


def held_values(preferences: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], list[str]]]:
    """(domain, type) and the values that a profile holds of it, each once."""
    for domain, types in preferences.items():
        for name, value in (types if isinstance(types, Mapping) else {}).items():
            if found := list(dict.fromkeys(values_of(value))):
                yield (domain, name), found


def possible(source: str) -> dict[tuple[str, str], PreferenceType]:
    return {(one.domain, one.name): one for one in PreferenceType.objects.filter(source=source)}


def dialogue_sources() -> list[tuple[str, int]]:
    rows = Dialogue.objects.order_by("source").values("source")
    return list(rows.annotate(n=Count("pk")).values_list("source", "n"))


def conversations(source: str, *, most: int) -> list[list[dict[str, Any]]]:
    """The turns of at most so many dialogues of a source, in the order of their ids."""
    rows = Dialogue.objects.filter(source=source).order_by("external_id")
    return list(rows.values_list("turns", flat=True)[:most])
