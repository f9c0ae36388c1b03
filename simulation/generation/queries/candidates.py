"""Runs of candidates: how far they are, what came back by level, what failed and why, and what they have cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum

from simulation.agents.prompts.candidates import LEVELS
from simulation.generation.models.candidates import Candidate, CandidateRun

AT_ONCE = 5000
STOPPED = "Stopped by a person before it was asked."
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


def split_ids(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    """So many at once as every database takes in a query."""
    return (ids[start : start + AT_ONCE] for start in range(0, len(ids), AT_ONCE))


def group_by_level(ids: Sequence[int]) -> dict[str, int]:
    """How many of these candidates there are of each level."""
    found: Counter[str] = Counter()
    for some in split_ids(ids):
        rows = Candidate.objects.filter(pk__in=some).order_by().values_list("level").annotate(n=Count("pk"))
        found.update(dict(rows))
    return {level: found[level] for level in LEVELS}


def load_run(run: CandidateRun) -> Iterator[Candidate]:
    """The candidates of a run with their profiles."""
    for some in split_ids(list_left(run)):
        yield from Candidate.objects.filter(pk__in=some).select_related("profile").order_by("pk")


def failures(run: CandidateRun) -> list[Failure]:
    """Why orders of a run failed, the most frequent reason first. One query."""
    failed = run.makings.filter(finished_at__isnull=False).exclude(problem="").order_by("pk")
    found: dict[tuple[str, str], list[int]] = {}
    for pk, asked, parts, problem in failed.values_list("pk", "asked", "parts", "problem").iterator(chunk_size=AT_ONCE):
        found.setdefault((find_failed_level(asked, parts), problem), []).append(pk)
    rows = [Failure(level, reason, len(pks), pks[0]) for (level, reason), pks in found.items()]
    return sorted(rows, key=lambda row: (-row.n, row.example))


def find_failed_level(asked: dict[str, Any], parts: dict[str, Any]) -> str:
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
