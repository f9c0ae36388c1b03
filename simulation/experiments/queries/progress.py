"""How far experiments are, counted from their dialogues and turns."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, IntegerField, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from core.errors import InputError
from core.jobs.heartbeat import gone_before
from judging.judges.queries import workers
from simulation.agents.parsing.endings import ENDINGS, REGULAR
from simulation.experiments.models.experiments import Experiment, SimulatedDialogue, Turn

LATELY = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Ended:
    """Dialogues that ended in one way. `regular`: both sides kept to their part."""

    key: str
    name: str
    regular: bool
    n: int


@dataclass(frozen=True)
class Progress:
    """An experiment in numbers. `rate` is in turns a second: of the last minute, or on average if it is over."""

    state: str
    total: int
    begun: int
    endings: tuple[Ended, ...]
    turns: int
    cut: int
    cut_off: int
    rate: float | None
    held: bool
    workers: int
    waits_until: datetime | None

    @property
    def ended(self) -> int:
        return sum(one.n for one in self.endings)

    @property
    def regular(self) -> int:
        """Dialogues that became material."""
        return sum(one.n for one in self.endings if one.regular)

    @property
    def irregular(self) -> int:
        return self.ended - self.regular

    @property
    def failed(self) -> int:
        return sum(one.n for one in self.endings if one.key.endswith("_failed"))

    @property
    def is_running(self) -> bool:
        return self.state == "running"

    @property
    def needs_worker(self) -> bool:
        """Whether nothing will happen until somebody starts a worker."""
        return self.is_running and not self.workers and not self.held

    @property
    def can_resume(self) -> bool:
        return not self.is_running and (self.ended < self.total or self.failed > 0)


def progress(experiment: Experiment) -> Progress:
    """Four queries, whatever the size of the experiment."""
    counts = list(experiment.dialogues.order_by().values("ending").annotate(n=Count("pk")))
    now = timezone.now()
    turns = Turn.objects.filter(simulated__experiment=experiment).aggregate(
        n=Count("pk"),
        cut=Count("pk", filter=Q(cut=True)),
        cut_off=Count("pk", filter=~Q(cut_off=[])),
        lately=Count("pk", filter=Q(created_at__gte=now - LATELY)),
        last=Max("created_at"),
        dialogues=Count("simulated", distinct=True),
    )
    return Progress(
        state=experiment.state,
        total=sum(count["n"] for count in counts),
        begun=turns["dialogues"],
        endings=endings(counts),
        turns=turns["n"],
        cut=turns["cut"],
        cut_off=turns["cut_off"],
        rate=rate(experiment, turns, now),
        held=Experiment.objects.filter(pk=experiment.pk, worker__seen_at__gte=gone_before()).exists(),
        workers=workers.alive().count(),
        waits_until=experiment.queued_at
        if experiment.error and experiment.queued_at and experiment.queued_at > now
        else None,
    )


def endings(counts: list[dict[str, Any]]) -> tuple[Ended, ...]:
    """In the order of ENDINGS."""
    by_key = {count["ending"]: count["n"] for count in counts}
    return tuple(Ended(key, name, key in REGULAR, by_key[key]) for key, name in ENDINGS.items() if key in by_key)


def rate(experiment: Experiment, turns: dict[str, Any], now: datetime) -> float | None:
    if not turns["n"]:
        return None
    if experiment.state == "running":
        n, since, until = turns["lately"], now - LATELY, now
    else:
        n, since, until = turns["n"], experiment.created_at, turns["last"]
    seconds: float = (until - max(since, experiment.created_at)).total_seconds()
    return float(n) / max(seconds, 1.0)


def list_experiments() -> QuerySet[Experiment]:
    """All experiments with how many dialogues they have, how many ended, and as they should; newest first."""
    dialogues = SimulatedDialogue.objects.filter(experiment=OuterRef("pk"))
    return (
        Experiment.objects.select_related("user_agent", "created_by", "project")
        .prefetch_related("assistants")
        .annotate(
            n_dialogues=count_rows(dialogues),
            n_ended=count_rows(dialogues.exclude(ending="")),
            n_regular=count_rows(dialogues.filter(ending__in=REGULAR)),
        )
        .order_by("-created_at", "-pk")
    )


def count_rows(rows: QuerySet[Any]) -> Coalesce:
    of_experiment = rows.order_by().values("experiment").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(of_experiment, output_field=IntegerField()), 0)


def find_unfinished_like(*, input_hash: str, name: str, seed: int) -> Experiment | None:
    """One that was asked for with the same words and is not over, so that asking again goes on with it."""
    found = Experiment.objects.filter(
        input_hash=input_hash, name=name, seed=seed, finished_at__isnull=True, stopped_at__isnull=True
    )
    return found.order_by("-created_at").first()


def experiment_called(name: str) -> Experiment:
    """The experiment of this number or name. Raises InputError if there is none, or several of the name."""
    named = list(Experiment.objects.filter(name=name).order_by("pk"))
    if not named and name.isascii() and name.isdigit() and len(name) < 19:
        named = list(Experiment.objects.filter(pk=int(name)))
    if not named:
        raise InputError(f"There is no experiment called {name!r}.", field="name")
    if len(named) > 1:
        numbers = ", ".join(str(one.pk) for one in named)
        raise InputError(f"Several experiments are called {name!r}: name one by its number, {numbers}.", field="name")
    return named[0]


def dialogues(experiment: Experiment) -> QuerySet[SimulatedDialogue]:
    """The experiment's dialogues with the number of turns and the last one's moment."""
    turns = Turn.objects.filter(simulated=OuterRef("pk")).order_by()
    n = turns.values("simulated").annotate(n=Count("pk")).values("n")
    last = turns.values("simulated").annotate(at=Max("created_at")).values("at")
    return (
        experiment.dialogues.select_related("scenario__profile", "scenario__task", "assistant")
        .annotate(n_turns=Coalesce(Subquery(n, output_field=IntegerField()), 0), last_turn=Subquery(last))
        .order_by("index")
    )


def latest(experiment: Experiment) -> SimulatedDialogue | None:
    """The dialogue in which something was said last."""
    turn = Turn.objects.filter(simulated__experiment=experiment).order_by("-created_at", "-pk")
    newest = turn.select_related("simulated__scenario__profile", "simulated__scenario__task").first()
    return newest.simulated if newest else None


MOST_TO_LOOK_AFTER = 50


def group_by_state() -> dict[str, int]:
    """How many experiments are running, stopped, finished. One query."""
    return Experiment.objects.aggregate(
        running=Count("pk", filter=Q(finished_at=None, stopped_at=None)),
        stopped=Count("pk", filter=Q(stopped_at__isnull=False)),
        finished=Count("pk", filter=Q(finished_at__isnull=False)),
    )


def list_needing_attention(experiments: QuerySet[Experiment]) -> QuerySet[Experiment]:
    """Of the experiments, those that are running, or stopped themselves; the newest first."""
    running = Q(finished_at=None, stopped_at=None)
    return experiments.filter(running | ~Q(stop_reason="")).order_by("-created_at", "-pk")[:MOST_TO_LOOK_AFTER]
