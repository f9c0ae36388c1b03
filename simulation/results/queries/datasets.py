"""Profiles, tasks and dialogues as they are measured: values that are held, counts, and texts by side."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Max, Model, QuerySet

from annotation.corpus.models import Dialogue, Profile, Task
from core.hashing import content_hash
from core.version import code_version
from simulation.experiments.models import PreferenceType
from simulation.stats.regions import find_region
from simulation.stats.utterances import list_values

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
        (domain, type) -> the values of each profile that holds any, every item of a list.
    """

    n: int
    demographics: Mapping[str, Counter[str]]
    preferences: Mapping[tuple[str, str], Sequence[Sequence[str]]]


@dataclass(frozen=True)
class DatasetConversation:
    """A dialogue with whose it is. `is_multi` says whether its task has several domains."""

    profile: str
    is_multi: bool
    turns: Sequence[Mapping[str, object]]


def sources() -> list[tuple[str, int]]:
    """Count by source its profiles that have preferences by domain."""
    rows = Profile.objects.exclude(preferences={}).order_by("source").values("source")
    return list(rows.annotate(n=Count("pk")).values_list("source", "n"))


def values(source: str) -> Values:
    """Load what the profiles of a source hold. One query, streamed."""
    demographics: dict[str, Counter[str]] = defaultdict(Counter)
    preferences: dict[tuple[str, str], list[list[str]]] = defaultdict(list)
    n = 0
    rows = Profile.objects.filter(source=source).order_by("pk").values_list("demographics", "preferences")
    for person, held in rows.iterator(chunk_size=200):
        n += 1
        for field, value in add_region(person).items():
            if field not in NOT_DEMOGRAPHIC and value not in (None, "", [], {}):
                demographics[field][str(value)] += 1
        for key, found in iterate_values(held):
            preferences[key].append(found)
    return Values(n, demographics, preferences)


def add_region(person: Mapping[str, object]) -> Mapping[str, object]:
    """Add to demographics the region of the country of birth, where that is named and no region is."""
    country = person.get("birth_country")
    if "region" in person or not isinstance(country, str):
        return person
    return {**person, "region": find_region(country)}


def iterate_values(preferences: Mapping[str, object]) -> Iterator[tuple[tuple[str, str], list[str]]]:
    """Yield (domain, type) and the values that a profile holds of it, as they stand."""
    for domain, types in preferences.items():
        for name, value in (types if isinstance(types, Mapping) else {}).items():
            if found := list(list_values(value)):
                yield (domain, name), found


def possible(source: str) -> dict[tuple[str, str], PreferenceType]:
    return {(one.domain, one.name): one for one in PreferenceType.objects.filter(source=source)}


def domains(source: str) -> list[tuple[str, int, int]]:
    """Count by domain its tasks and the pairs of user and task; one of several counts in each. One query."""
    n_tasks: Counter[str] = Counter()
    n_scenarios: Counter[str] = Counter()
    tasks = Task.objects.filter(source=source).annotate(n=Count("scenarios__profile", distinct=True))
    for of_task, n in tasks.values_list("domains", "n"):
        for domain in of_task:
            n_tasks[domain] += 1
            n_scenarios[domain] += n
    return [(domain, n_tasks[domain], n_scenarios[domain]) for domain in sorted(n_tasks)]


def dialogue_sources() -> list[tuple[str, int]]:
    rows = Dialogue.objects.order_by("source").values("source")
    return list(rows.annotate(n=Count("pk")).values_list("source", "n"))


def conversations(source: str) -> Iterator[DatasetConversation]:
    """Stream all dialogues of a source in the order of their ids. One of no profile counts as a profile's own."""
    rows = Dialogue.objects.filter(source=source).order_by("external_id")
    columns = ("external_id", "scenario__profile__external_id", "scenario__task__is_multi_domain", "turns")
    for external_id, profile, is_multi, turns in rows.values_list(*columns).iterator(chunk_size=500):
        yield DatasetConversation(profile or external_id, bool(is_multi), turns)


def profiles_hash(source: str) -> str:
    """Hash of all that the measures of a source's profiles depend on. Four queries."""
    people = Profile.objects.filter(source=source).order_by("pk").values_list("pk", "content_hash", "updated_at")
    types = PreferenceType.objects.filter(source=source).order_by("pk")
    known = types.values_list("domain", "name", "is_categorical", "possible_values")
    changed = Task.objects.filter(source=source).aggregate(n=Count("pk"), last=Max("updated_at"))
    return content_hash([_texts(people), _texts(known), domains(source), str(changed), code_version()])


def dialogues_hash(source: str) -> str:
    """Hash of all that the measures of a source's dialogues depend on. One query."""
    rows = Dialogue.objects.filter(source=source).order_by("external_id")
    columns = ("external_id", "content_hash", "scenario__profile__external_id", "scenario__task__is_multi_domain")
    return content_hash([_texts(rows.values_list(*columns)), code_version()])


def _texts(rows: QuerySet[Model, tuple[object, ...]]) -> list[str]:
    return [repr(row) for row in rows.iterator(chunk_size=5000)]
