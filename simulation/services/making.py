"""Models make material: profiles, preferences, summaries, tasks, situations; and look for conflicts in profiles.

An order is cut into steps, a reply each. A reply is checked field by field; one that does not fit is asked for again
with what is wrong, twice at most. What fits is kept at once, so that no step is paid for twice; profile, tasks or
scenario are stored only when all steps fit.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from decimal import Decimal
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from kombu.exceptions import OperationalError

from annotation.errors import InputError
from annotation.hashing import content_hash
from annotation.models import Profile, Task, User
from annotation.services.acts import act
from judging import pricing
from judging.models import Worker
from judging.providers.base import JudgeRequest, PermanentError, Reply, TransientError
from judging.queries.workers import unheld
from judging.services import workers
from judging.services.cache import storable
from judging.services.keys import ring_of
from simulation.models import Agent, Conflict, ConflictReview, Making
from simulation.parsing.made import UnfitError
from simulation.prompts import making as prompts
from simulation.prompts.scene import Cue
from simulation.services import agents, purse, recipes
from simulation.services.reserving import PostponedError, set_aside
from simulation.speakers import request_of

logger = logging.getLogger(__name__)

TASK = "simulation.make"
MOST_TRIES = 3
MOST_TASKS = 20
LONGEST_SHOWN = 20_000
"""Characters of a reply that does not fit that the model is shown again."""


@act("making.order", says=("kind", "agent", "source", "domains", "profile", "task", "n", "seed"))
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
    more: Mapping[str, Any] | None = None,
    replaced: Mapping[str, str] | None = None,
    seed: int = 0,
    queue: bool = True,
) -> Making:
    """Order something to be made. `source` says whose preference types hold; `more` is what one kind alone asks.

    `replaced` are texts that take the place of Concord's own, by the names of `simulation.prompts.making.GENERATORS`.
    """
    if kind not in Making.Kind.values:
        raise InputError(f"{kind!r} is not one of {', '.join(Making.Kind.values)}.", field="kind")
    check(kind, domains, demographics, profile, task, n)
    if problems := prompts.problems(replaced or {}):
        raise InputError(" ".join(problems), field="prompts")
    if kind in ("profile", "preferences", "tasks"):
        recipes.types_of(source, domains or recipes.all_domains(source))
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
                **({"prompts": dict(replaced)} if replaced else {}),
                **(more or {}),
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
    if kind in ("preferences", "interactions") and not domains:
        raise InputError("Name at least one domain.", field="domains")
    if kind in ("mask", "preferences", "interactions", "situation", "check") and profile is None:
        raise InputError("Name the profile that it is for.", field="profile")
    if kind == "candidates" and profile is None:
        raise InputError("Candidates are ordered with `candidates`, for profiles and questions.", field="kind")
    if kind == "situation" and task is None:
        raise InputError("Name the task that it is for.", field="task")
    if not 1 <= n <= MOST_TASKS:
        raise InputError(f"The number is from 1 to {MOST_TASKS}.", field="n")
    held_of = {"mask": "interests", "preferences": "preferences", "interactions": "interactions"}
    if profile is not None and kind in held_of:
        held = getattr(profile, held_of[kind])
        if there := [domain for domain in domains if domain in held]:
            raise InputError(f"{profile} has {kind} for {there[0]} already; they are not replaced.", field="domains")
        lacking = [domain for domain in domains if domain not in profile.preferences]
        if kind == "interactions" and lacking:
            raise InputError(f"{profile} has no preferences for {lacking[0]} to write about.", field="domains")


def make(pk: int) -> None:
    """Claim an order and work on it. Does nothing if it is not free, so it may be called twice."""
    with workers.beating() as worker:
        if claim(pk, worker):
            through(Making.objects.select_related("agent", "profile").get(pk=pk))
            Making.objects.filter(pk=pk, worker=worker).update(worker=None)


def claim(pk: int, worker: Worker) -> bool:
    """Whether it is now the worker's: left, and held by no other living process."""
    free = Making.objects.filter(unheld(), pk=pk, finished_at__isnull=True).first()
    if free is None or free.worker_id == worker.pk:  # a process that stood still holds what it held
        return False
    unchanged = Making.objects.filter(pk=pk, finished_at__isnull=True, worker=free.worker_id)
    return unchanged.update(worker=worker) == 1


def through(making: Making) -> None:
    """All steps of an order, and what comes of them."""
    try:
        for step in recipes.steps(making):
            making.parts[step.key] = fitting(making, step)
            making.save(update_fields=["parts"])
        store(making)
    except UnfitError as error:
        finish(making, problem=f"{error} (asked {MOST_TRIES} times)")
    except PostponedError as error:
        logger.info("Order %s waits: %s", making.pk, error)  # it is free again, and sent again by the recovery
    except (PermanentError, TransientError, InputError) as error:
        finish(making, problem=str(error))


def fitting(making: Making, step: recipes.Step) -> Any:
    """What the step is to give, from the first reply that fits. UnfitError of the last one where none does."""
    cue = step.cue
    for attempt in range(1, MOST_TRIES + 1):
        request = request_for(making, step, cue, attempt)
        set_aside(making, request)
        reply = asked(making, request)
        text = reply.text[: settings.MAX_REPLY_CHARACTERS]
        note: dict[str, Any] = {"step": step.key, "attempt": attempt, "text": text, "prompt": cue.version}
        note |= paid(making, reply)
        try:
            found = storable(read(step, reply.text))
        except UnfitError as error:
            keep(making, note | {"field": error.field, "problem": error.message})
            if attempt == MOST_TRIES:
                raise
            cue = prompts.again(step.cue, text[:LONGEST_SHOWN], str(error))
        else:
            keep(making, note | {"field": "", "problem": ""})
            return found
    raise AssertionError("unreachable")


def read(step: recipes.Step, text: str) -> Any:
    """What the step makes of a reply. UnfitError where it does not fit, or is larger than this site reads."""
    if len(text) > settings.MAX_REPLY_CHARACTERS:
        raise UnfitError("is larger than this site reads", "reply")
    return step.read(text)


def request_for(making: Making, step: recipes.Step, cue: Cue, attempt: int) -> JudgeRequest:
    seed = int(content_hash([making.seed, step.key, attempt])[:8], 16) & 0x7FFFFFFF
    return request_of(cue, item=f"{making.kind}/{step.key}", number=attempt, seed=seed)


def asked(making: Making, request: JudgeRequest) -> Reply:
    """One reply, from a loop in a thread of its own: the caller may be in a loop itself."""

    keys = ring_of(making.project_id)

    async def ask() -> Reply:
        speaker = agents.speaker_of(making.agent, keys)
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
    making.cost_usd += Decimal(str(note["cost_usd"] or 0))
    making.reserved_usd = Decimal(0)
    making.save(update_fields=["replies", "cost_usd", "reserved_usd"])


def finish(making: Making, *, problem: str = "") -> None:
    making.problem, making.finished_at = problem, timezone.now()
    making.save(update_fields=["problem", "finished_at", "made", "profile"])


@transaction.atomic
def store(making: Making) -> None:
    """What the order was for, from its parts."""
    making.made = recipes.STORES[making.kind](making)
    finish(making)


@act("conflict.decide", on="conflict", says=("decision",))
def decide(*, by: User | None, conflict: Conflict, decision: str, note: str = "") -> ConflictReview:
    """A person says whether it is a conflict. An earlier decision stays on record; the newest counts."""
    if decision not in ConflictReview.Decision.values:
        raise InputError(f"{decision!r} is not one of {', '.join(ConflictReview.Decision.values)}.", field="decision")
    return ConflictReview.objects.create(conflict=conflict, decision=decision, note=note.strip(), decided_by=by)


@act("making.resume", on="making")
def again(*, by: User | None, making: Making) -> None:  # noqa: ARG001
    """Try an order that failed once more. What fits already is not asked for again."""
    failed = Making.objects.filter(pk=making.pk, finished_at__isnull=False).exclude(problem="")
    with transaction.atomic():
        if not failed.update(problem="", finished_at=None):
            raise InputError("Only what has failed can be tried again.", field="making")
        send_later(making.pk)


def again_all(found: QuerySet[Making]) -> int:
    """Try all of these that failed once more. Returns how many."""
    with transaction.atomic():
        failed = list(found.exclude(problem="").order_by("pk").values_list("pk", flat=True))
        for pk in failed:
            Making.objects.filter(pk=pk).update(problem="", finished_at=None)
            send_later(pk)
    return len(failed)


def send_later(pk: int) -> None:
    """Note that a message goes out, and send it once that is committed."""
    Making.objects.filter(pk=pk).update(queued_at=timezone.now())
    transaction.on_commit(lambda: send(pk))


def send(pk: int) -> None:
    try:
        current_app.send_task(TASK, args=[pk])
    except OperationalError:
        logger.exception("The broker took no message about order %s; it is sent again later.", pk)


def abandoned(of: Q) -> list[int]:
    """Free the orders of processes that are gone."""
    held = Making.objects.filter(of, finished_at__isnull=True).order_by("pk").values_list("pk", "worker")
    return [pk for pk, worker in held if Making.objects.filter(pk=pk, worker=worker).update(worker=None)]


def lost(before: datetime) -> list[int]:
    """Orders that nobody works on although a message went out before then."""
    left = Making.objects.filter(finished_at__isnull=True, queued_at__lt=before, worker__isnull=True)
    return list(left.order_by("pk").values_list("pk", flat=True))
