"""Orders of material, conflicts, and runs of candidates: how far they are, what came back, what failed, what they cost.

All of it is read from the orders, so that it is the same whenever it is read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeVar

from django.db.models import Count, Model, OuterRef, Q, QuerySet, Subquery, Sum
from django.utils.translation import gettext_noop

from annotation.corpus.models import Profile
from core.accounts.models.users import User
from core.accounts.permissions import filter_visible
from core.batches import iterate_batches
from core.errors import InputError
from simulation.agents.prompts.generation import LEVELS
from simulation.generation.models import Candidate, CandidateRun, Conflict, ConflictReview, Making
from simulation.generation.result_types import ResponseOpinionDocument, StageRow
from simulation.stats.drawing import distinct

AT_ONCE = 5000
STOPPED = "Stopped by a person before it was asked."
FAILURE, UNCHECKED = gettext_noop("failed"), gettext_noop("not checked")
SAME, CONFLICTING = gettext_noop("nearly the same as another"), gettext_noop("facts in conflict")
"""Why something does not go on to the next stage."""

DONE = Q(makings__finished_at__isnull=False, makings__problem="")
FAILED = Q(makings__finished_at__isnull=False) & ~Q(makings__problem="")


@dataclass(frozen=True)
class CandidateProgress:
    """A run, counted: questions of a profile, candidates by level, dollars known to be spent."""

    total: int
    done: int
    failed: int
    spent: Decimal
    has_more_stages: bool = False

    @property
    def ended(self) -> int:
        return self.done + self.failed

    @property
    def is_running(self) -> bool:
        return self.ended < self.total or self.has_more_stages


@dataclass(frozen=True)
class Failure:
    """Orders that failed at the same level for the same reason; `example` is one of them."""

    level: str
    reason: str
    n: int
    example: int


def runs() -> QuerySet[CandidateRun]:
    """All runs with `n_total`, `n_done` and `n_failed` questions, newest first."""
    return (
        CandidateRun.objects.select_related("agent", "created_by")
        .annotate(
            n_total=Count("makings"),
            n_done=Count("makings", filter=DONE),
            n_failed=Count("makings", filter=FAILED),
            n_unfinished=Count("makings", filter=Q(makings__finished_at__isnull=True)),
        )
        .order_by("-created_at", "-pk")
    )


def progress(run: CandidateRun) -> CandidateProgress:
    """One query."""
    found = run.makings.aggregate(
        total=Count("pk"),
        done=Count("pk", filter=Q(finished_at__isnull=False, problem="")),
        failed=Count("pk", filter=Q(finished_at__isnull=False) & ~Q(problem="")),
        spent=Sum("cost_usd"),
    )
    more = bool(run.plan) and run.stage != CandidateRun.Stage.DONE and not (run.problem or run.stopped_at)
    return CandidateProgress(found["total"], found["done"], found["failed"], found["spent"] or Decimal(0), more)


def list_left(run: CandidateRun) -> list[int]:
    """The candidates that a run's orders left, in their order; also those that were there with the same words."""
    made = run.makings.order_by("pk").values_list("made", flat=True)
    rows = (row for found in made.iterator(chunk_size=AT_ONCE) for row in found)
    return list(dict.fromkeys(pk for kind, pk in rows if kind == "candidate"))


def group_by_level(ids: Sequence[int]) -> dict[str, int]:
    """How many of these candidates there are of each level."""
    found: Counter[str] = Counter()
    for some in iterate_batches(ids, AT_ONCE):
        rows = Candidate.objects.filter(pk__in=some).order_by().values_list("level").annotate(n=Count("pk"))
        found.update(dict(rows))
    return {level: found[level] for level in LEVELS}


def load_run(run: CandidateRun) -> Iterator[Candidate]:
    """The candidates of a run with their profiles."""
    for some in iterate_batches(list_left(run), AT_ONCE):
        yield from Candidate.objects.filter(pk__in=some).select_related("profile").order_by("pk")


def failures(run: CandidateRun) -> list[Failure]:
    """Why orders of a run failed, the most frequent reason first. One query."""
    failed = run.makings.filter(finished_at__isnull=False).exclude(problem="").order_by("pk")
    found: dict[tuple[str, str], list[int]] = {}
    for pk, asked, parts, problem in failed.values_list("pk", "asked", "parts", "problem").iterator(chunk_size=AT_ONCE):
        found.setdefault((find_failed_level(asked, parts), problem), []).append(pk)
    rows = [Failure(level, reason, len(pks), pks[0]) for (level, reason), pks in found.items()]
    return sorted(rows, key=lambda row: (-row.n, row.example))


def find_failed_level(asked: Mapping[str, Sequence[str]], parts: Mapping[str, object]) -> str:
    """The first level without a reply that fits."""
    return next((level for level in asked.get("levels", []) if f"candidate {level}" not in parts), "")


def stock() -> list[tuple[str, str, dict[str, int]]]:
    """All candidates by who wrote them and kind of question: how many of each level. One query."""
    rows = Candidate.objects.order_by("provider", "model", "kind", "level")
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for provider, model, kind, level, n in rows.values_list("provider", "model", "kind", "level").annotate(
        n=Count("pk")
    ):
        counts.setdefault((f"{provider} {model}".strip(), kind), dict.fromkeys(LEVELS, 0))[level] = n
    return [(who, kind, levels) for (who, kind), levels in counts.items()]


def kinds() -> list[str]:
    """Kinds of questions that candidates answer."""
    return list(Candidate.objects.order_by("kind").values_list("kind", flat=True).distinct())


Row = TypeVar("Row", bound=Model)


def orders() -> QuerySet[Making]:
    """All orders, newest first."""
    return Making.objects.select_related("agent", "profile").order_by("-created_at", "-pk")


def conflicts() -> QuerySet[Conflict]:
    """All conflicts with the newest decision, those that wait for one first."""
    newest = ConflictReview.objects.filter(conflict=OuterRef("pk")).order_by("-decided_at", "-pk")
    return (
        Conflict.objects.select_related("profile", "making__agent")
        .prefetch_related("reviews__decided_by")
        .annotate(decision=Subquery(newest.values("decision")[:1]))
    )


def count_undecided(by: User) -> int:
    return filter_visible(by, Conflict.objects.filter(reviews__isnull=True)).count()


def find_record(kind: type[Row], external_id: str, *, field: str) -> Row | None:
    """The profile or task of this id; None where none is named. InputError, with the field, where there is none."""
    name = external_id.strip()
    found = kind._default_manager.filter(external_id=name).order_by("source").first() if name else None
    if name and found is None:
        raise InputError("There is no {kind} {name!r}.", field=field, kind=field, name=name)
    return found


@dataclass(frozen=True)
class SeedOrder:
    """A question, whose it is (None for general ones), and the order that it came from."""

    text: str
    profile: int | None
    making: int


@dataclass(frozen=True)
class StageResult:
    """What goes on to the next stage, and how many do not, by reason."""

    pks: list[int]
    left_out: dict[str, int]


def load_kind(run: CandidateRun, kind: str) -> QuerySet[Making]:
    return run.makings.filter(kind=kind).order_by("pk")


def personas(run: CandidateRun) -> StageResult:
    """The personas that are not nearly the same as an earlier one."""
    orders = load_kind(run, "persona")
    made = [pk for pk in orders.filter(problem="").values_list("profile", flat=True) if pk]
    found = Profile.objects.in_bulk(made)
    texts = [found[pk].persona for pk in made]
    kept = [made[place] for place in distinct(texts, near=run.plan["near"])]
    return StageResult(kept, count_reasons({FAILURE: count_failed(orders), SAME: len(made) - len(kept)}))


def sound(run: CandidateRun) -> StageResult:
    """Of the personas, those that were checked and in which no conflict stands."""
    kept, checks = personas(run).pks, load_kind(run, "check")
    checked = set(checks.filter(finished_at__isnull=False, problem="").values_list("profile", flat=True))
    standing = {
        conflict.profile_id
        for conflict in Conflict.objects.filter(making__in=checks).prefetch_related("reviews")
        if latest(conflict) != ConflictReview.Decision.NONE
    }
    good = [pk for pk in kept if pk in checked and pk not in standing]
    conflicting = len(standing & set(kept))
    return StageResult(good, count_reasons({CONFLICTING: conflicting, UNCHECKED: len(kept) - len(good) - conflicting}))


def latest(conflict: Conflict) -> str:
    reviews = sorted(conflict.reviews.all(), key=lambda one: (one.decided_at, one.pk))
    return reviews[-1].decision if reviews else ""


def questions(run: CandidateRun) -> tuple[list[SeedOrder], dict[str, int]]:
    """The questions that are not nearly the same as an earlier one of the same persona, or as a general one."""
    orders = load_kind(run, "questions")
    good, general = set(sound(run).pks), [SeedOrder(text, None, 0) for text in run.plan.get("questions", [])]
    by_profile: dict[int, list[SeedOrder]] = {}
    fitting = orders.filter(problem="")
    for pk, parts in fitting.filter(profile=None).values_list("pk", "parts"):
        general += [SeedOrder(text, None, pk) for text in parts.get("questions", [])]
    for pk, profile, parts in fitting.filter(profile__in=good).values_list("pk", "profile", "parts"):
        by_profile[profile] = [SeedOrder(text, profile, pk) for text in parts.get("questions", [])]
    near = run.plan["near"]
    shared = [general[place] for place in distinct([one.text for one in general], near=near)]
    n, kept = len(general), list(shared)
    for mine in by_profile.values():
        texts = [one.text for one in (*shared, *mine)]
        kept += [mine[place - len(shared)] for place in distinct(texts, near=near) if place >= len(shared)]
        n += len(mine)
    return kept, count_reasons({FAILURE: count_failed(orders), SAME: n - len(kept)})


def iterate_judged(run: CandidateRun) -> Iterator[tuple[int, str]]:
    """Each response that was looked at, with what is wrong with it; empty where nothing is."""
    for asked, parts in load_kind(run, "responses").filter(problem="").values_list("asked", "parts"):
        levels = dict(zip(asked["candidates"], asked["levels"], strict=True))
        for pk, found in zip(asked["candidates"], parts.get("responses", []), strict=False):
            yield pk, list_problems(found, levels[pk])


def list_problems(found: ResponseOpinionDocument, level: str) -> str:
    if not found["answers"]:
        return gettext_noop("does not answer the question")
    if not found["same_language"]:
        return gettext_noop("in another language")
    return "" if found["level"] == level else gettext_noop("of another level")


def responses(run: CandidateRun, pks: Sequence[int]) -> StageResult:
    """Of the responses, those with which nothing is wrong. Without a checker all go on."""
    if run.checker_id is None:
        return StageResult(list(pks), {})
    seen = dict(iterate_judged(run))
    kept = [pk for pk in pks if seen.get(pk) == ""]
    reasons = Counter(seen.get(pk, UNCHECKED) for pk in pks if seen.get(pk) != "")
    return StageResult(kept, count_reasons(reasons))


def unfit(run: CandidateRun) -> dict[str, int]:
    """Replies that did not fit, by what was asked and what was wrong. Each was asked for again within the bound.

    One that several orders share counts once.
    """
    found: Counter[str] = Counter()
    for kind, replies in run.makings.values_list("kind", "replies").iterator(chunk_size=AT_ONCE):
        found.update(f"{kind}: {plain(one)}" for one in replies if one.get("problem") and not one.get("cached"))
    return dict(found.most_common())


def plain(note: Mapping[str, object]) -> str:
    """What was wrong with a reply, without the places and values that differ from one to the next."""
    return re.sub(r"\d+", "…", f"{note['field']} {note['problem']}".strip())[:120]


def faults(run: CandidateRun) -> dict[str, int]:
    """Why orders could not be worked on at all, other than by replies that did not fit."""
    failed_ones = run.makings.filter(finished_at__isnull=False).exclude(problem="")
    rows = failed_ones.values_list("problem", "replies").iterator(chunk_size=AT_ONCE)
    return dict(Counter(problem for problem, replies in rows if not (replies and replies[-1].get("problem"))))


def count_failed(orders: QuerySet[Making]) -> int:
    return orders.filter(finished_at__isnull=False).exclude(problem="").count()


def count_reasons(reasons: Mapping[str, int]) -> dict[str, int]:
    return {reason: n for reason, n in reasons.items() if n}


def report(run: CandidateRun, *, whole: bool = False) -> list[StageRow]:
    """Stage by stage: what was ordered and made, and what does not go on, by reason.

    Stages that are not over are left out, unless it is the `whole`.
    """
    if not run.plan:
        return []
    people, good, (asked, questions_out) = personas(run), sound(run), questions(run)
    pks = list_left(run)
    kept = responses(run, pks)
    n_memories = sum(len(one) for one in Profile.objects.filter(pk__in=people.pks).values_list("memories", flat=True))
    reached = list(CandidateRun.Stage.values).index(run.stage)
    rows = [
        (gettext_noop("seeds"), len(run.plan["seeds"]), run.plan["left_out"], 0),
        (gettext_noop("personas"), len(people.pks), people.left_out, 0),
        (gettext_noop("personas without conflicts"), len(good.pks), good.left_out, 2),
        (gettext_noop("questions"), len(asked), questions_out, 2),
        (gettext_noop("memories"), n_memories, {}, 2),
        (gettext_noop("responses"), len(pks), {FAILURE: count_failed(load_kind(run, "candidates"))}, 3),
        (gettext_noop("responses that pass the checks"), len(kept.pks), kept.left_out, 4),
    ]
    return [
        {"what": what, "n": n, "left_out": count_reasons(left_out)}
        for what, n, left_out, since in rows
        if whole or reached >= since
    ]
