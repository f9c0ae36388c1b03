"""What runs and judges have cost so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Avg, BigIntegerField, Count, ExpressionWrapper, F, Q, QuerySet, Sum
from django.utils import timezone

from annotation.studies.queries.units import TURNS
from judging.judges.models import Judge
from judging.runs.models.batches import JudgeBatch
from judging.runs.models.runs import EarlierReply, JudgeRun, Judgment

LATEST = 200


@dataclass(frozen=True, slots=True)
class Spending:
    """Dollars known to be spent, how many judgments cost an unknown amount, tokens, and answers used again."""

    usd: Decimal = Decimal(0)
    unknown: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached: int = 0


COUNTS: dict[str, Sum | Count] = {
    "usd": Sum("cost_usd"),
    "unknown": Count("pk", filter=Q(cost_usd__isnull=True)),
    "input_tokens": Sum("input_tokens"),
    "output_tokens": Sum("output_tokens"),
    "cached": Count("pk", filter=Q(details__cached=True)),
}
"""What is summed over judgments."""


def load_run(run: JudgeRun) -> Spending:
    """In one query."""
    return load_counts([run.judgments.aggregate(**COUNTS)])


def load_counts(counts: Sequence[Mapping[str, Any]]) -> Spending:
    """The sums of groups of judgments, added up."""
    return Spending(
        usd=sum((one["usd"] or Decimal(0) for one in counts), Decimal(0)),
        **{name: sum(one[name] or 0 for one in counts) for name in COUNTS if name != "usd"},
    )


def usd(judgments: QuerySet[Judgment]) -> Decimal:
    return judgments.aggregate(total=Sum("cost_usd"))["total"] or Decimal(0)


def sum_reserved(*, run: JudgeRun | None = None, name: str = "") -> Decimal:
    """The most that the batches may cost that are out for a run, or for all versions of a judge."""
    whose = Q(chunk__run=run) if run else Q(chunk__run__judge__name=name)
    out = JudgeBatch.objects.filter(whose, closed_at__isnull=True)
    return out.aggregate(total=Sum("reserved_usd"))["total"] or Decimal(0)


def today(name: str) -> Decimal:
    """What all versions of a judge have cost since midnight UTC. Of runs that were over by then nothing is read."""
    midnight = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    since = Judgment.objects.filter(run__judge__name=name, created_at__gte=midnight)
    since = since.exclude(run__finished_at__lt=midnight)
    before = EarlierReply.objects.filter(judgment__in=since, created_at__lt=midnight)
    return usd(since) - (before.aggregate(total=Sum("cost_usd"))["total"] or Decimal(0))


def daily_budget(name: str) -> Decimal | None:
    """What all versions of a judge together may cost in a day, as its latest version says."""
    return Judge.objects.filter(name=name).order_by("-version").values_list("daily_budget_usd", flat=True).first()


def habits(judge: Judge) -> tuple[float | None, float | None]:
    """What this model's replies of late took: tokens written and ms, on average; None where there were none."""
    since = timezone.now() - timedelta(days=90)
    said = Judgment.objects.filter(
        run__judge__provider=judge.provider, run__judge__model=judge.model, latency_ms__gt=0, created_at__gte=since
    ).order_by("-pk")[:LATEST]
    latest = Judgment.objects.filter(pk__in=list(said.values_list("pk", flat=True)))
    found = latest.aggregate(tokens=Avg("output_tokens"), ms=Avg("latency_ms"))
    return found["tokens"], found["ms"]


def cost_per_item(run_ids: Iterable[int]) -> dict[tuple[int, int], float]:
    """By run and criterion, what one item, turn or response cost in dollars, all its calls together; answers used again
    do not count.

    A run and criterion with an unknown cost, or with used answers alone, is not among them. One query.
    """
    paid = Judgment.objects.filter(run_id__in=list(run_ids), details__cached__isnull=True).order_by()
    rated = ExpressionWrapper(F("item_id") * TURNS + F("turn"), BigIntegerField())
    rows = paid.values("run_id", "criterion_id").annotate(
        usd=Sum("cost_usd"), unknown=Count("pk", filter=Q(cost_usd__isnull=True)), items=Count(rated, distinct=True)
    )
    return {
        (row["run_id"], row["criterion_id"]): float(row["usd"] or 0) / row["items"]
        for row in rows
        if not row["unknown"]
    }
