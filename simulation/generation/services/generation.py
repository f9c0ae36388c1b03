"""Models make material: profiles, preferences, summaries, tasks, situations; and look for conflicts in profiles.

An order is cut into steps, a reply each. A reply is checked field by field; one that does not fit is asked for again
with what is wrong, twice at most. What fits is kept at once, so that no step is paid for twice; profile, tasks or
scenario are stored only when all steps fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.corpus.models import Profile, Task
from core.accounts.models.projects import Project, choose_project
from core.accounts.models.users import User
from core.audit.log import audited
from core.batches import iterate_batches
from core.errors import InputError
from core.options.model import check_options
from simulation.agents import services as agents_services
from simulation.agents.models import Agent
from simulation.agents.prompts import generation as prompts
from simulation.generation.models import Conflict, ConflictReview, Making
from simulation.generation.options import ConflictDecision, NewMaking
from simulation.generation.services import generators, seed_generators
from simulation.generation.services.orders import AT_ONCE, leases


@check_options(NewMaking, but=("agent", "profile", "task", "prompts"))
@audited("making.order", says=("kind", "agent", "source", "domains", "profile", "task", "n", "seed"))
def order(
    *,
    by: User | None,
    kind: str,
    agent: Agent,
    source: str = "personalens",
    domains: Sequence[str] = (),
    demographics: Mapping[str, object] | None = None,
    profile: Profile | None = None,
    task: Task | None = None,
    n: int = 1,
    more: Mapping[str, object] | None = None,
    replaced: Mapping[str, str] | None = None,
    seed: int = 0,
    queue: bool = True,
    project: Project | None = None,
) -> Making:
    """Order something to be made. `source` says whose preference types hold; `more` is what one kind alone asks.

    `replaced` are texts that take the place of Concord's own, by the names of `prompts.making.GENERATORS`.
    """
    check(kind, domains, demographics, profile, task, has_key="key" in (more or {}))
    if problems := prompts.problems(replaced or {}):
        raise InputError(" ".join(problems), field="prompts")
    if kind in ("profile", "preferences", "tasks"):
        generators.load_types(source, domains or generators.list_all_domains(source))
    with transaction.atomic():
        making = Making.objects.create(
            project=choose_project(by, project),
            kind=kind,
            agent=agents_services.find_or_create_agent(by=by, agent=agent),
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
            leases.queue([making.pk])
    return making


def check(
    kind: str,
    domains: Sequence[str],
    demographics: Mapping[str, object] | None,
    profile: Profile | None,
    task: Task | None,
    *,
    has_key: bool,
) -> None:
    """What each kind needs. Kinds that are ordered with candidates have a key."""
    if kind == "profile" and not demographics:
        raise InputError("A profile is made from demographics: give some.", field="demographics")
    if kind in ("preferences", "interactions") and not domains:
        raise InputError("Name at least one domain.", field="domains")
    if kind in ("mask", "preferences", "interactions", "situation", "check") and profile is None:
        raise InputError("Name the profile that it is for.", field="profile")
    if kind in Making.OF_CANDIDATES and not has_key:
        raise InputError(
            "{label}: ordered with `candidates`.", field="kind", label=Making.Kind(kind).label.capitalize()
        )
    if kind == "situation" and task is None:
        raise InputError("Name the task that it is for.", field="task")
    held_of = {"mask": "interests", "preferences": "preferences", "interactions": "interactions"}
    if profile is not None and kind in held_of:
        held = getattr(profile, held_of[kind])
        if there := [domain for domain in domains if domain in held]:
            raise InputError(
                "{profile} has {kind} for {there} already; they are not replaced.",
                field="domains",
                profile=profile,
                kind=kind,
                there=there[0],
            )
        lacking = [domain for domain in domains if domain not in profile.preferences]
        if kind == "interactions" and lacking:
            raise InputError(
                "{profile} has no preferences for {lacking} to write about.",
                field="domains",
                profile=profile,
                lacking=lacking[0],
            )


def finish(making: Making, *, problem: str = "") -> None:
    making.problem, making.finished_at = problem, timezone.now()
    making.save(update_fields=["problem", "finished_at", "made", "profile"])


@transaction.atomic
def store(making: Making) -> None:
    """What the order was for, from its parts."""
    making.made = seed_generators.STORES[making.kind](making)
    finish(making)


@check_options(ConflictDecision)
@audited("conflict.decide", on="conflict", says=("decision",))
def decide(*, by: User | None, conflict: Conflict, decision: str, note: str = "") -> ConflictReview:
    """A person says whether it is a conflict. An earlier decision stays on record; the newest counts."""
    return ConflictReview.objects.create(conflict=conflict, decision=decision, note=note, decided_by=by)


@audited("making.resume", on="making")
def retry(*, by: User | None, making: Making) -> None:  # noqa: ARG001
    """Try an order that failed once more. What fits already is not asked for again."""
    failed = Making.objects.filter(pk=making.pk, finished_at__isnull=False).exclude(problem="")
    with transaction.atomic():
        if not failed.update(problem="", finished_at=None, attempts=0):
            raise InputError("Only what has failed can be tried again.", field="making")
        leases.queue([making.pk])


def retry_all(found: QuerySet[Making]) -> int:
    """Try all of these that failed once more. Returns how many."""
    failed = list(found.exclude(problem="").order_by("pk").values_list("pk", flat=True))
    with transaction.atomic():
        for some in iterate_batches(failed, AT_ONCE):
            Making.objects.filter(pk__in=some).update(problem="", finished_at=None, attempts=0)
        leases.queue(failed)
    return len(failed)


def queue_all(orders: Sequence[Making]) -> None:
    """Queue those of these orders that are not over."""
    leases.queue([one.pk for one in orders if not one.finished_at])
