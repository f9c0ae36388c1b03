"""Which scenarios an experiment may take: those whose user cares for every domain of the task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.corpus.models import Scenario
from simulation.agents.prompts import Scene
from simulation.experiments.models.schemas import PreferenceType

COLUMNS = (
    "pk",
    "variant",
    "profile__source",
    "profile__external_id",
    "profile__interests",
    "task__external_id",
    "task__domains",
    "task__is_multi_domain",
)


@dataclass(frozen=True, slots=True)
class EligibleScenario:
    """A scenario by ids that are the same in every database, and the domains that its user masks."""

    pk: int
    source: str
    user: str
    task: str
    variant: str
    domains: tuple[str, ...]
    is_multi_domain: bool
    masked: tuple[str, ...]

    @property
    def key(self) -> tuple[str, str, str, str]:
        return (self.source, self.user, self.task, self.variant)


def candidates(*, source: str = "", users: Iterable[str] = (), tasks: Iterable[str] = ()) -> list[EligibleScenario]:
    """All scenarios with a user and a task, masked ones too, in the order of their ids. One query."""
    rows = Scenario.objects.filter(profile__isnull=False, task__isnull=False)
    if source:
        rows = rows.filter(profile__source=source)
    if wanted := list(users):
        rows = rows.filter(profile__external_id__in=wanted)
    if chosen := list(tasks):
        rows = rows.filter(task__external_id__in=chosen)
    found = (candidate(row) for row in rows.order_by().values(*COLUMNS).iterator(chunk_size=5000))
    return sorted(found, key=lambda one: one.key)


def candidate(row: Mapping[str, Any]) -> EligibleScenario:
    domains = tuple(row["task__domains"] or ())
    return EligibleScenario(
        pk=row["pk"],
        source=row["profile__source"],
        user=row["profile__external_id"],
        task=row["task__external_id"],
        variant=row["variant"],
        domains=domains,
        is_multi_domain=row["task__is_multi_domain"] or len(domains) > 1,
        masked=list_masked(domains, row["profile__interests"] or {}),
    )


def list_masked(domains: Sequence[str], interests: Mapping[str, Any]) -> tuple[str, ...]:
    """The domains that the user does not care for. One that the profile says nothing of is not masked."""
    return tuple(domain for domain in domains if domain in interests and not interests[domain])


Alternatives = Mapping[str, Mapping[str, Sequence[str]]]


def alternatives(source: str, *, closed: bool = False) -> Alternatives:
    """Domain -> type -> possible values, of a source whose schema was imported. One query.

    `closed`: only of types whose values are all there are, and not examples.
    """
    found: dict[str, dict[str, Sequence[str]]] = {}
    known = PreferenceType.objects.filter(source=source)
    for one in known.filter(is_categorical=True) if closed else known:
        found.setdefault(one.domain, {})[one.name] = one.possible_values
    return found


def build_scene(scenario: Scenario, known: Alternatives | None = None) -> Scene:
    """What prompts are made from. The scenario's profile and task must be loaded with it."""
    profile, task = scenario.profile, scenario.task
    if profile is None or task is None:
        raise ValueError(f"scenario {scenario.pk} has no user or no task")
    persona = {"Description": profile.persona} if profile.persona else {}
    return Scene(
        demographics={**persona, **{key: value for key, value in profile.demographics.items() if key != "user_id"}},
        preferences=profile.preferences,
        interactions=profile.interactions,
        situation=scenario.variables,
        task=task.description,
        intent=task.intent,
        goal=task.goal,
        domains=tuple(task.domains),
        preference_types=tuple(task.preference_types),
        alternatives=known or {},
    )
