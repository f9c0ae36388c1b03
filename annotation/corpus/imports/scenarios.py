"""The scenario that an imported dialogue belongs to: its user, its task and the situation, as far as they are known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models import Q

from annotation.corpus.models import Scenario, variables_of
from core.hashing import content_hash


class ScenarioKey(NamedTuple):
    """A scenario by its parts; one of profile and task may be unknown. An empty situation fits any."""

    profile: int | None
    task: int | None
    situation: dict[str, Any]


def find_or_create(wanted: Sequence[ScenarioKey]) -> list[Scenario | None]:
    """A scenario for each of `wanted`, in order; None where neither profile nor task is known."""
    known = load_scenarios(wanted)
    new: list[Scenario] = []
    found: list[Scenario | None] = []
    for one in wanted:
        if one.profile is None and one.task is None:
            found.append(None)
            continue
        options = known[one.profile, one.task]
        scenario = find_fitting_scenario(options, one.situation)
        if scenario is None:
            scenario = Scenario(profile_id=one.profile, task_id=one.task, situation=one.situation)
            scenario.variant = "" if all(option.variant for option in options) else content_hash(one.situation)[:16]
            options.append(scenario)
            new.append(scenario)
        found.append(scenario)
    Scenario.objects.bulk_create(new)
    return found


def load_scenarios(wanted: Sequence[ScenarioKey]) -> dict[tuple[int | None, int | None], list[Scenario]]:
    """The scenarios there are, by profile and task. One query."""
    profiles = {one.profile for one in wanted if one.profile is not None}
    tasks = {one.task for one in wanted if one.task is not None}
    rows = Scenario.objects.filter(
        Q(profile__in=profiles, task__in=tasks)
        | Q(profile__in=profiles, task__isnull=True)
        | Q(profile__isnull=True, task__in=tasks)
    )
    known: dict[tuple[int | None, int | None], list[Scenario]] = defaultdict(list)
    for scenario in rows.order_by("variant"):
        known[scenario.profile_id, scenario.task_id].append(scenario)
    return known


def find_fitting_scenario(options: Sequence[Scenario], situation: dict[str, Any]) -> Scenario | None:
    """The option of the same situation, however it was made; the first one where the situation is not told."""
    if not situation:
        return options[0] if options else None
    return next((option for option in options if option.variables == variables_of(situation)), None)
