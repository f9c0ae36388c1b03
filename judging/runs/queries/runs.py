"""How runs are doing, counted from what is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import Count, Exists, IntegerField, Max, Min, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation.studies.models.studies import Criterion, Study
from core import row_counts
from core.jobs.heartbeat import is_unheld
from core.row_counts import count_rows
from judging.judges.models import PANEL, Judge
from judging.judges.providers.base import OWN_EXAMPLE
from judging.judges.queries import workers
from judging.runs.models.batches import JudgeBatch
from judging.runs.models.runs import JudgeChunk, JudgeRun, Judgment
from judging.runs.queries import spending
from judging.runs.queries.judgments import reason_in_words
from judging.runs.queries.spending import Spending

LATELY = timedelta(seconds=30)
CLOCKS = timedelta(minutes=2)
"""As much as the clocks of two hosts, or a clock before and after it was set, may differ."""


@dataclass(frozen=True, slots=True)
class UnscoredReason:
    """How many replies held no verdict for one reason."""

    reason: str
    n: int

    @property
    def in_words(self) -> str:
        return reason_in_words(self.reason)


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why parts of a run ended early, or what they wait for, with how many of them."""

    message: str
    parts: int
    is_waiting: bool = False
    waits_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Bulk:
    """What is out in batches: how many, with how many requests, since when, and when the provider was last asked.

    `notes` are what went wrong with batches that are over, with how many of them.
    """

    batches: int
    requests: int
    since: datetime | None
    looked_at: datetime | None
    notes: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Progress:
    """A run, counted. `rate` is judgments per second: lately while it runs, on average afterwards; None if unknown."""

    state: str
    expected: int
    scored: int
    unscored: tuple[UnscoredReason, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    parts: int = 0
    parts_left: int = 0
    parts_held: int = 0
    rate: float | None = None
    workers: int = 0
    by_criterion: tuple[tuple[str, int, int], ...] = field(default=())
    bulk: Bulk | None = None
    paused_until: datetime | None = None
    waits_its_turn: bool = False
    spent: Spending = field(default_factory=Spending)

    @property
    def judged(self) -> int:
        """Replies received: scored or not."""
        return self.scored + self.n_unscored

    @property
    def n_unscored(self) -> int:
        return sum(reason.n for reason in self.unscored)

    @property
    def missing(self) -> int:
        return max(self.expected - self.judged, 0)

    @property
    def parts_done(self) -> int:
        return self.parts - self.parts_left

    @property
    def is_running(self) -> bool:
        return self.state == "running"

    @property
    def needs_worker(self) -> bool:
        """Whether nothing will happen until somebody starts a worker."""
        return self.is_running and not self.workers and not self.parts_held

    @property
    def share(self) -> float:
        return self.judged / self.expected if self.expected else 1.0

    @property
    def seconds_left(self) -> float | None:
        return self.missing / self.rate if self.rate and self.is_running else None

    @property
    def can_resume(self) -> bool:
        """Whether parts are left that nobody will work on by itself."""
        return not self.is_running and (self.missing > 0 or (self.state == "stopped" and self.parts_left > 0))

    @property
    def can_ask_again(self) -> int:
        """How many replies without a verdict the judge can be asked for again, now that the run is over."""
        own = sum(one.n for one in self.unscored if one.reason == OWN_EXAMPLE.unscored)
        return 0 if self.is_running or not self.parts else self.n_unscored - own

    @property
    def again_usd(self) -> Decimal | None:
        """What asking again once costs, if those replies cost as much as the others did on average; None if unknown."""
        paid = self.judged - self.spent.cached
        return self.can_ask_again * self.spent.usd / paid if paid > 0 and not self.spent.unknown else None


def progress(run: JudgeRun) -> Progress:
    """Six queries, whatever the size of the run; one more if it is asked in bulk, one if parts do not tell their size.

    Of more than 100,000 judgments the counts are up to a minute old.
    """
    criteria, parts = list(run.criteria.all()), count_batches(run)
    moment = ("judgments of a run", run.pk, run.finished_at, run.stopped_at)
    groups = run.judgments.order_by().values("criterion", "unscored_reason")  # how many, how many lately, at what cost
    lately = Count("pk", filter=Q(created_at__gte=timezone.now() - LATELY))
    rows = groups.annotate(n=Count("pk"), lately=lately, last=Max("created_at"), **spending.COUNTS)
    counts = row_counts.count_cached(moment, lambda: list(rows), lambda found: sum(one["n"] for one in found))
    told = [(one["criterion"], one["unscored_reason"], one["n"]) for one in counts]
    return Progress(
        state=run.state,
        expected=count_expected(run, parts["units"], len(criteria)),
        scored=sum(count["n"] for count in counts if not count["unscored_reason"]),
        unscored=list_unscored_reasons(told),
        troubles=troubles(run),
        parts=parts["n"],
        parts_left=parts["left"],
        parts_held=parts["held"],
        rate=rate(run, [(one["n"], one["lately"], one["last"]) for one in counts]),
        workers=workers.alive().count(),
        by_criterion=group_by_criterion(criteria, told),
        bulk=bulk(run) if run.in_bulk else None,
        paused_until=workers.find_pause(run.judge),
        waits_its_turn=not parts["held"] and workers.are_busy_with_another(run.judge),
        spent=spending.load_counts(counts),
    )


def count_batches(run: JudgeRun) -> dict[str, int]:
    """How many parts there are, are left and in work, and how many items or turns of them they ask about."""
    left = Q(finished_at__isnull=True)
    found = run.chunks.order_by().aggregate(
        n=Count("pk"),
        left=Count("pk", filter=left),
        held=Count("pk", filter=left & ~is_unheld()),
        units=Coalesce(Sum("n_units"), 0),
        untold=Count("pk", filter=Q(n_units__isnull=True)),
    )
    if found.pop("untold"):
        listed = run.chunks.filter(n_units__isnull=True).values_list("item_ids", flat=True)
        found["units"] += sum(map(len, listed.iterator(chunk_size=2000)))
    return found


def bulk(run: JudgeRun) -> Bulk:
    """How the run's batches are doing."""
    batches = list(JudgeBatch.objects.filter(chunk__run=run).order_by("pk"))
    out = [batch for batch in batches if batch.closed_at is None]
    notes = Counter(batch.error for batch in batches if batch.error)
    return Bulk(
        batches=len(out),
        requests=sum(batch.n_requests for batch in out),
        since=min((batch.created_at for batch in out), default=None),
        looked_at=max((batch.looked_at for batch in out if batch.looked_at), default=None),
        notes=tuple(sorted(notes.items())),
    )


def count_expected(run: JudgeRun, n_units: int, n_criteria: int) -> int:
    """How many judgments a complete run has."""
    if run.kind == JudgeRun.Kind.PROBE:
        return n_units
    both = run.order_policy == JudgeRun.OrderPolicy.BOTH and run.study.kind == Study.Kind.PAIR
    return n_units * n_criteria * run.repeats * (2 if both else 1)


def list_unscored_reasons(counts: Sequence[tuple[int, str, int]]) -> tuple[UnscoredReason, ...]:
    """Reasons with their counts, the most frequent first."""
    by_reason: dict[str, int] = {}
    for _, reason, n in counts:
        if reason:
            by_reason[reason] = by_reason.get(reason, 0) + n
    return tuple(UnscoredReason(*pair) for pair in sorted(by_reason.items(), key=lambda pair: (-pair[1], pair[0])))


def troubles(run: JudgeRun) -> tuple[Trouble, ...]:
    """What went wrong with parts, each message once for those that are closed and once for those that go on."""
    now = timezone.now()
    found = (
        run.chunks.exclude(error="")
        .order_by()
        .values("error", waits=Q(finished_at__isnull=True))
        .annotate(n=Count("pk"), first=Min("index"), until=Min("queued_at", filter=Q(queued_at__gt=now)))
        .order_by("first")
    )
    return tuple(Trouble(one["error"], one["n"], one["waits"], one["until"] if one["waits"] else None) for one in found)


def rate(run: JudgeRun, counts: Sequence[tuple[int, int, datetime]]) -> float | None:
    if not counts:
        return None
    if run.state == "running":
        n, since, until = sum(lately for _, lately, _ in counts), timezone.now() - LATELY, timezone.now()
    else:
        n, since, until = sum(n for n, *_ in counts), run.created_at, max(last for *_, last in counts)
    seconds = (until - max(since, run.created_at)).total_seconds()
    return float(n) / max(seconds, 1.0)


def group_by_criterion(
    criteria: Sequence[Criterion], counts: Sequence[tuple[int, str, int]]
) -> tuple[tuple[str, int, int], ...]:
    """Name, scored and unscored of every criterion."""
    return tuple(
        (
            criterion.name,
            sum(n for pk, reason, n in counts if pk == criterion.pk and not reason),
            sum(n for pk, reason, n in counts if pk == criterion.pk and reason),
        )
        for criterion in criteria
    )


def stale(run: JudgeRun, among: int) -> int:
    """How many of the run's judgments, `among` so many, are of an older text. Of 100,000 it is up to a minute old.

    What was asked here is of the text as it was then or later: it can be stale only where the text was written since.
    Of runs that came from elsewhere, or are made of others, every text is looked at.
    """
    rows = run.judgments.stale()
    if run.chunks.exists():
        rows = rows.filter(filter_written_since(run.created_at - CLOCKS, run.study))
    return row_counts.count_cached(("stale", run.pk, run.finished_at, run.stopped_at), rows.count, lambda _: among)


def filter_written_since(moment: datetime, study: Study) -> Q:
    """Of judgments: the text of the item was written after a moment."""
    return Q(**{f"item__{study.kind}__updated_at__gte": moment})


def judges() -> QuerySet[Judge]:
    """All judges with how many runs and judgments they have, newest first."""
    return (
        Judge.objects.select_related("project")
        .annotate(
            n_runs=Count("runs", distinct=True),
            n_studies=Count("runs__study", distinct=True),
            last_run=Max("runs__created_at"),
        )
        .order_by("name", "-version")
    )


def find_unfinished_like(
    study: Study, judge: Judge, *, input_hash: str, repeats: int, order_policy: str, seed: int, in_bulk: bool = False
) -> JudgeRun | None:
    """A run that was asked the same and has parts left or parts that ended early: asking again goes on with it."""
    return (
        JudgeRun.objects.filter(
            Q(finished_at__isnull=True) | Exists(JudgeChunk.objects.filter(run=OuterRef("pk")).exclude(error="")),
            study=study,
            judge=judge,
            input_hash=input_hash,
            repeats=repeats,
            order_policy=order_policy,
            seed=seed,
            in_bulk=in_bulk,
            evaluation__isnull=True,
            stopped_at__isnull=True,
        )
        .order_by("-created_at")
        .first()
    )


def find_last_run(study: Study, judge: Judge) -> JudgeRun | None:
    """The newest run of any version of the judge that is over and is of the study alone."""
    over = JudgeRun.objects.filter(study=study, judge__name=judge.name, kind=JudgeRun.Kind.ORDINARY)
    over = over.exclude(finished_at__isnull=True, stopped_at__isnull=True)
    return over.select_related("study", "judge").order_by("-created_at", "-pk").first()


def combinable(study: Study) -> QuerySet[JudgeRun]:
    """The study's finished runs that a panel can be made of, with `n_judged`, newest first."""
    runs = study.judge_runs.ordinary().filter(finished_at__isnull=False).exclude(judge__provider=PANEL)
    return (
        runs.select_related("judge", "study")
        .prefetch_related("criteria")
        .filter(Exists(Judgment.objects.filter(run=OuterRef("pk"))))
        .annotate(n_judged=count_rows(Judgment.objects.filter(run=OuterRef("pk")), "run"))
        .order_by("-created_at", "-pk")
    )


def list_runs(runs: QuerySet[JudgeRun], n: int = 20) -> list[JudgeRun]:
    """The newest runs with `n_judged`, `n_unscored`, `n_parts` and `n_parts_done`, counted beside each other."""
    judgments = Judgment.objects.filter(run=OuterRef("pk"))
    parts = JudgeChunk.objects.filter(run=OuterRef("pk"))
    return list(
        runs.select_related("judge", "study")
        .annotate(
            n_judged=count_rows(judgments, "run"),
            n_unscored=count_rows(judgments.filter(value=""), "run"),
            n_parts=count_rows(parts, "run"),
            n_parts_done=count_rows(parts.filter(finished_at__isnull=False), "run"),
        )
        .order_by("-created_at")[:n]
    )


def add_counts(chosen: QuerySet[JudgeRun]) -> Iterator[tuple[JudgeRun, int, int]]:
    """Each run with how many judgments it has and how many a complete one has. One query, and two for each old run."""
    criteria = JudgeRun.criteria.through.objects.filter(judgerun=OuterRef("pk"))
    parts = JudgeChunk.objects.filter(run=OuterRef("pk"))
    units = parts.order_by().values("run").annotate(n=Sum("n_units")).values("n")
    rows = chosen.annotate(
        n_judged=count_rows(Judgment.objects.filter(run=OuterRef("pk")), "run"),
        n_criteria=count_rows(criteria, "judgerun"),
        n_units=Coalesce(Subquery(units, output_field=IntegerField()), 0),
        is_old=Exists(parts.filter(n_units__isnull=True)),
    )
    for run in rows.iterator(chunk_size=2000):
        told = vars(run)
        n_units = count_batches(run)["units"] if told["is_old"] else told["n_units"]
        yield run, told["n_judged"], count_expected(run, n_units, told["n_criteria"])
