"""Models make material: profiles, preferences, summaries, tasks, situations; and look for conflicts in profiles.

An order is cut into steps, a reply each. A reply is checked field by field; one that does not fit is asked for again
with what is wrong, twice at most. What fits is kept at once, so that no step is paid for twice; profile, tasks or
scenario are stored only when all steps fit.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from celery import current_app
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from kombu.exceptions import OperationalError

from annotation.errors import InputError
from annotation.hashing import content_hash
from annotation.models import Profile, Scenario, Task, User
from judging import pricing
from judging.models import Worker
from judging.providers.base import PermanentError, Reply, TransientError
from judging.queries.workers import gone_before, unheld
from judging.services import workers
from judging.services.cache import storable
from simulation.models import Agent, Conflict, ConflictReview, Making, PreferenceType
from simulation.parsing import made
from simulation.parsing.made import UnfitError
from simulation.prompts import making as prompts
from simulation.prompts.making import TypeSpec
from simulation.prompts.scene import Cue
from simulation.services import agents, purse
from simulation.speakers import request_of

logger = logging.getLogger(__name__)

TASK = "simulation.make"
MOST_TRIES = 3
SOURCE = "made"
"""Where records that were made here say that they come from."""

MOST_TASKS = 20
LOST_AFTER = timedelta(minutes=1)


@dataclass(frozen=True)
class Step:
    """One reply to get: what is asked, and how it is read. `read` raises UnfitError."""

    key: str
    cue: Cue
    read: Callable[[str], Any]


def order(
    *,
    by: User | None,
    kind: str,
    agent: Agent,
    source: str = "personalens",
    domains: Sequence[str] = (),
    demographics: Mapping[str, Any] | None = None,
    profile: Profile | None = None,
    task: Task | None = None,
    n: int = 1,
    seed: int = 0,
    queue: bool = True,
) -> Making:
    """Order something to be made. `source` says whose preference types hold."""
    if kind not in Making.Kind.values:
        raise InputError(f"{kind!r} is not one of {', '.join(Making.Kind.values)}.", field="kind")
    check(kind, domains, demographics, profile, task, n)
    if kind in ("profile", "preferences", "tasks"):
        types_of(source, domains)
    with transaction.atomic():
        making = Making.objects.create(
            kind=kind,
            agent=agents.saved(by=by, agent=agent),
            asked={
                "source": source,
                "domains": list(domains),
                "demographics": dict(demographics or {}),
                "task": task.pk if task else None,
                "n": n,
            },
            profile=profile,
            seed=seed,
            created_by=by,
        )
        if queue:
            send_later(making.pk)
    return making


def check(
    kind: str,
    domains: Sequence[str],
    demographics: Mapping[str, Any] | None,
    profile: Profile | None,
    task: Task | None,
    n: int,
) -> None:
    """What each kind needs."""
    if kind == "profile" and not demographics:
        raise InputError("A profile is made from demographics: give some.", field="demographics")
    if kind in ("profile", "preferences", "interactions", "tasks") and not domains:
        raise InputError("Name at least one domain.", field="domains")
    if kind in ("preferences", "interactions", "situation", "check") and profile is None:
        raise InputError("Name the profile that it is for.", field="profile")
    if kind == "situation" and task is None:
        raise InputError("Name the task that it is for.", field="task")
    if not 1 <= n <= MOST_TASKS:
        raise InputError(f"The number is from 1 to {MOST_TASKS}.", field="n")
    if profile is not None and kind in ("preferences", "interactions"):
        held = profile.preferences if kind == "preferences" else profile.interactions
        if there := [domain for domain in domains if domain in held]:
            raise InputError(f"{profile} has {kind} for {there[0]} already; they are not replaced.", field="domains")
        lacking = [domain for domain in domains if domain not in profile.preferences]
        if kind == "interactions" and lacking:
            raise InputError(f"{profile} has no preferences for {lacking[0]} to write about.", field="domains")


def types_of(source: str, domains: Sequence[str]) -> dict[str, list[TypeSpec]]:
    """The preference types of the domains. InputError where one is not known."""
    found: dict[str, list[TypeSpec]] = {domain: [] for domain in domains}
    for one in PreferenceType.objects.filter(source=source, domain__in=domains).order_by("domain", "name"):
        possible = tuple(one.possible_values) if one.is_categorical else ()
        found[one.domain].append(TypeSpec(one.domain, one.name, one.description, one.has_multiple_values, possible))
    if unknown := [domain for domain, types in found.items() if not types]:
        raise InputError(
            f"No preference types of {unknown[0]!r} are known: import_schema FILE --source {source}.", field="domains"
        )
    return found


# the steps of each kind


def steps(making: Making) -> Iterator[Step]:
    """What is still to be asked, in order; each is made from what was made before."""
    for step in KINDS[making.kind](making):
        if step.key not in making.parts:
            yield step


def profile_steps(making: Making) -> Iterator[Step]:
    person = making.asked["demographics"]
    for domain, types in types_of(making.asked["source"], making.asked["domains"]).items():
        yield preference_step(domain, types, person, made_so_far(making, "preferences"))
        held = making.parts.get(f"preferences {domain}", {})
        yield interaction_step(domain, person, held)


def preference_steps(making: Making) -> Iterator[Step]:
    profile = profile_of(making)
    for domain, types in types_of(making.asked["source"], making.asked["domains"]).items():
        known = {**profile.preferences, **made_so_far(making, "preferences")}
        yield preference_step(domain, types, profile.demographics, known)


def interaction_steps(making: Making) -> Iterator[Step]:
    profile = profile_of(making)
    for domain in making.asked["domains"]:
        yield interaction_step(domain, profile.demographics, profile.preferences.get(domain, {}))


def task_steps(making: Making) -> Iterator[Step]:
    domains, n = making.asked["domains"], making.asked["n"]
    types = [one for of_domain in types_of(making.asked["source"], domains).values() for one in of_domain]
    yield Step("tasks", prompts.tasks(domains, types, n), lambda reply: made.tasks(reply, types, n))


def situation_steps(making: Making) -> Iterator[Step]:
    task = Task.objects.get(pk=making.asked["task"])
    cue = prompts.situation(task.intent or task.description, profile_of(making).demographics)
    yield Step("situation", cue, made.situation)


def check_steps(making: Making) -> Iterator[Step]:
    profile = profile_of(making)
    fields = made.fields_of(profile.demographics, profile.preferences)
    cue = prompts.conflicts(profile.demographics, profile.preferences)
    yield Step("conflicts", cue, lambda reply: made.conflicts(reply, fields))


def preference_step(
    domain: str, types: Sequence[TypeSpec], person: Mapping[str, Any], known: Mapping[str, Any]
) -> Step:
    cue = prompts.preferences(domain, types, person, known)
    return Step(f"preferences {domain}", cue, lambda reply: made.preferences(reply, types))


def interaction_step(domain: str, person: Mapping[str, Any], held: Mapping[str, Any]) -> Step:
    return Step(f"interactions {domain}", prompts.interactions(domain, person, held), made.summary)


KINDS: dict[str, Callable[[Making], Iterator[Step]]] = {
    "profile": profile_steps,
    "preferences": preference_steps,
    "interactions": interaction_steps,
    "tasks": task_steps,
    "situation": situation_steps,
    "check": check_steps,
}


def made_so_far(making: Making, what: str) -> dict[str, Any]:
    """Domain -> what was made of it."""
    return {
        domain: making.parts[f"{what} {domain}"]
        for domain in making.asked["domains"]
        if f"{what} {domain}" in making.parts
    }


def profile_of(making: Making) -> Profile:
    if making.profile is None:
        raise InputError("The profile is gone.", field="profile")
    return making.profile


# working


def make(pk: int) -> None:
    """Claim an order and work on it. Does nothing if it is not free, so it may be called twice."""
    with workers.beating() as worker:
        if claim(pk, worker):
            through(Making.objects.select_related("agent", "profile").get(pk=pk))
            Making.objects.filter(pk=pk, worker=worker).update(worker=None)


def claim(pk: int, worker: Worker) -> bool:
    """Whether it is now the worker's: left, and held by no other living process."""
    free = Making.objects.filter(unheld(), pk=pk, finished_at__isnull=True).first()
    if free is None:
        return False
    unchanged = Making.objects.filter(pk=pk, finished_at__isnull=True, worker=free.worker_id)
    return unchanged.update(worker=worker) == 1


def through(making: Making) -> None:
    """All steps of an order, and what comes of them."""
    try:
        for step in steps(making):
            making.parts[step.key] = fitting(making, step)
            making.save(update_fields=["parts"])
        store(making)
    except UnfitError as error:
        finish(making, problem=f"{error} (asked {MOST_TRIES} times)")
    except (PermanentError, TransientError, InputError) as error:
        finish(making, problem=str(error))


def fitting(making: Making, step: Step) -> Any:
    """What the step is to give, from the first reply that fits. UnfitError of the last one where none does."""
    cue = step.cue
    for attempt in range(1, MOST_TRIES + 1):
        reply = asked(making, step, cue, attempt)
        note: dict[str, Any] = {"step": step.key, "attempt": attempt, "text": reply.text, "prompt": cue.version}
        note |= paid(making, reply)
        try:
            found = storable(step.read(reply.text))
        except UnfitError as error:
            keep(making, note | {"field": error.field, "problem": error.message})
            if attempt == MOST_TRIES:
                raise
            cue = prompts.again(step.cue, reply.text, str(error))
        else:
            keep(making, note | {"field": "", "problem": ""})
            return found
    raise AssertionError("unreachable")


def asked(making: Making, step: Step, cue: Cue, attempt: int) -> Reply:
    """One reply, from a loop in a thread of its own: the caller may be in a loop itself."""
    seed = int(content_hash([making.seed, step.key, attempt])[:8], 16) & 0x7FFFFFFF
    request = request_of(cue, item=f"{making.kind}/{step.key}", number=attempt, seed=seed)

    async def ask() -> Reply:
        speaker = agents.speaker_of(making.agent)
        try:
            return await speaker.judge(request)
        finally:
            await speaker.aclose()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, ask()).result()


def paid(making: Making, reply: Reply) -> dict[str, Any]:
    cost = pricing.cost(reply.usage, purse.rate(making.agent))
    usage = reply.usage
    return {
        "input_tokens": usage.input_tokens if usage else None,
        "output_tokens": usage.output_tokens if usage else None,
        "cost_usd": None if cost is None else float(cost),
    }


def keep(making: Making, note: dict[str, Any]) -> None:
    """The reply is kept before anything is done with it."""
    making.replies.append(storable(note))
    making.save(update_fields=["replies"])


def finish(making: Making, *, problem: str = "") -> None:
    making.problem, making.finished_at = problem, timezone.now()
    making.save(update_fields=["problem", "finished_at", "made", "profile"])


@transaction.atomic
def store(making: Making) -> None:
    """What the order was for, from its parts."""
    making.made = STORES[making.kind](making)
    finish(making)


def store_profile(making: Making) -> list[Any]:
    preferences, interactions = made_so_far(making, "preferences"), made_so_far(making, "interactions")
    found = Profile.objects.create(
        source=SOURCE,
        external_id=f"made-{making.pk}",
        content_hash=content_hash([making.asked["demographics"], preferences, interactions]),
        demographics=making.asked["demographics"],
        preferences=preferences,
        interests=dict.fromkeys(preferences, 1),
        interactions=interactions,
        extra={"making": making.pk, "agent": str(making.agent), "schema": making.asked["source"]},
    )
    making.profile = found
    return [["profile", found.pk]]


def store_in_profile(making: Making) -> list[Any]:
    """Add to the profile what it does not have."""
    profile = Profile.objects.select_for_update().get(pk=profile_of(making).pk)
    held = getattr(profile, making.kind)
    held.update({domain: part for domain, part in made_so_far(making, making.kind).items() if domain not in held})
    profile.content_hash = content_hash([profile.demographics, profile.preferences, profile.interactions])
    profile.save()
    return [["profile", profile.pk]]


def store_tasks(making: Making) -> list[Any]:
    domains = making.asked["domains"]
    found = [
        Task.objects.create(
            source=SOURCE,
            external_id=f"made-{making.pk}-{place}",
            content_hash=content_hash(one),
            description=one["description"],
            intent=one["intent"],
            goal=one["goal"],
            domains=domains,
            preference_types=one["preference_types"],
            is_multi_domain=len(domains) > 1,
            extra={"making": making.pk, "agent": str(making.agent)},
        )
        for place, one in enumerate(making.parts["tasks"], start=1)
    ]
    return [["task", one.pk] for one in found]


def store_situation(making: Making) -> list[Any]:
    """A situation of its own for the profile and the task, beside those that there are."""
    found = Scenario.objects.create(
        profile=profile_of(making),
        task_id=making.asked["task"],
        variant=f"made-{making.pk}",
        situation=making.parts["situation"],
    )
    return [["scenario", found.pk]]


def store_conflicts(making: Making) -> list[Any]:
    profile = profile_of(making)
    found = Conflict.objects.bulk_create(
        Conflict(
            making=making,
            profile=profile,
            label=one["label"],
            explanation=one["explanation"],
            fields=one["fields"],
            is_between_domains=len({field.partition(": ")[0] for field in one["fields"]}) > 1,
        )
        for one in making.parts["conflicts"]
    )
    return [["conflict", one.pk] for one in found]


STORES: dict[str, Callable[[Making], list[Any]]] = {
    "profile": store_profile,
    "preferences": store_in_profile,
    "interactions": store_in_profile,
    "tasks": store_tasks,
    "situation": store_situation,
    "check": store_conflicts,
}


def decide(*, by: User | None, conflict: Conflict, decision: str, note: str = "") -> ConflictReview:
    """A person says whether it is a conflict. An earlier decision stays on record; the newest counts."""
    if decision not in ConflictReview.Decision.values:
        raise InputError(f"{decision!r} is not one of {', '.join(ConflictReview.Decision.values)}.", field="decision")
    return ConflictReview.objects.create(conflict=conflict, decision=decision, note=note.strip(), decided_by=by)


def again(*, by: User | None, making: Making) -> None:  # noqa: ARG001
    """Try an order that failed once more. What fits already is not asked for again."""
    failed = Making.objects.filter(pk=making.pk, finished_at__isnull=False).exclude(problem="")
    with transaction.atomic():
        if not failed.update(problem="", finished_at=None):
            raise InputError("Only what has failed can be tried again.", field="making")
        send_later(making.pk)


def send_later(pk: int) -> None:
    """Note that a message goes out, and send it once that is committed."""
    Making.objects.filter(pk=pk).update(queued_at=timezone.now())
    transaction.on_commit(lambda: send(pk))


def send(pk: int) -> None:
    try:
        current_app.send_task(TASK, args=[pk])
    except OperationalError:
        logger.exception("The broker took no message about order %s; it is sent again later.", pk)


def lost() -> list[int]:
    """Orders that nobody works on although a message went out a while ago."""
    left = Making.objects.filter(finished_at__isnull=True, queued_at__lt=timezone.now() - LOST_AFTER)
    nobody = Q(worker__isnull=True) | Q(worker__seen_at__lt=gone_before())
    return list(left.filter(nobody).order_by("pk").values_list("pk", flat=True))
