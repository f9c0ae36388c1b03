"""Experiments read: which scenarios they may take, how far they are, and what they have cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import Avg, Count, Max, OuterRef, Q, QuerySet, Subquery, Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.corpus.models import Scenario
from core.accounts.models.projects import Project
from core.errors import InputError
from core.jobs.heartbeat import gone_before
from core.row_counts import count_rows
from judging.judges.queries import workers
from simulation.agents.models import Agent
from simulation.agents.parsing.endings import ENDINGS, REGULAR
from simulation.agents.prompts import Scene
from simulation.experiments.models import Experiment, PreferenceType, SimulatedDialogue, Turn

COLUMNS = (
    "pk",
    "profile__source",
    "profile__external_id",
    "profile__interests",
    "task__external_id",
    "variant",
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
    found = (candidate(row) for row in rows.order_by().values_list(*COLUMNS).iterator(chunk_size=5000))
    return sorted(found, key=lambda one: one.key)


Row = tuple[int, str, str, Mapping[str, object] | None, str, str, Sequence[str] | None, bool]


def candidate(row: Row) -> EligibleScenario:
    pk, source, user, interests, task, variant, of_task, is_multi_domain = row
    domains, masked = tuple(of_task or ()), list_masked(of_task or (), interests or {})
    return EligibleScenario(pk, source, user, task, variant, domains, is_multi_domain or len(domains) > 1, masked)


def list_masked(domains: Sequence[str], interests: Mapping[str, object]) -> tuple[str, ...]:
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
    by_ending = experiment.dialogues.order_by().values("ending").annotate(n=Count("pk"))
    counts = {row["ending"]: row["n"] for row in by_ending}
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
        total=sum(counts.values()),
        begun=turns["dialogues"],
        endings=endings(counts),
        turns=turns["n"],
        cut=turns["cut"],
        cut_off=turns["cut_off"],
        rate=rate(experiment, turns["n"], turns["lately"], turns["last"], now),
        held=Experiment.objects.filter(pk=experiment.pk, worker__seen_at__gte=gone_before()).exists(),
        workers=workers.alive().count(),
        waits_until=experiment.queued_at
        if experiment.error and experiment.queued_at and experiment.queued_at > now
        else None,
    )


def endings(counts: Mapping[str, int]) -> tuple[Ended, ...]:
    """In the order of ENDINGS."""
    return tuple(Ended(key, _(name), key in REGULAR, counts[key]) for key, name in ENDINGS.items() if key in counts)


def rate(experiment: Experiment, n: int, lately: int, last: datetime | None, now: datetime) -> float | None:
    if last is None:
        return None
    if experiment.state == "running":
        n, since, until = lately, now - LATELY, now
    else:
        since, until = experiment.created_at, last
    seconds = (until - max(since, experiment.created_at)).total_seconds()
    return n / max(seconds, 1.0)


def list_experiments() -> QuerySet[Experiment]:
    """All experiments with how many dialogues they have, how many ended, and as they should; newest first."""
    dialogues = SimulatedDialogue.objects.filter(experiment=OuterRef("pk"))
    return (
        Experiment.objects.select_related("user_agent", "created_by", "project")
        .prefetch_related("assistants")
        .annotate(
            n_dialogues=count_rows(dialogues, "experiment"),
            n_ended=count_rows(dialogues.exclude(ending=""), "experiment"),
            n_regular=count_rows(dialogues.filter(ending__in=REGULAR), "experiment"),
        )
        .order_by("-created_at", "-pk")
    )


def find_unfinished_like(*, project: Project, input_hash: str, name: str, seed: int) -> Experiment | None:
    """One that was asked for with the same words and is not over, so that asking again goes on with it."""
    found = Experiment.objects.filter(
        project=project,
        input_hash=input_hash,
        name=name,
        seed=seed,
        finished_at__isnull=True,
        stopped_at__isnull=True,
    )
    return found.order_by("-created_at").first()


def experiment_called(name: str) -> Experiment:
    """The experiment of this number or name. Raises InputError if there is none, or several of the name."""
    named = list(Experiment.objects.filter(name=name).order_by("pk"))
    if not named and name.isascii() and name.isdigit() and len(name) < 19:
        named = list(Experiment.objects.filter(pk=int(name)))
    if not named:
        raise InputError("There is no experiment called {name!r}.", field="name", name=name)
    if len(named) > 1:
        numbers = ", ".join(str(one.pk) for one in named)
        raise InputError(
            "Several experiments are called {name!r}: name one by its number, {numbers}.",
            field="name",
            name=name,
            numbers=numbers,
        )
    return named[0]


def dialogues(experiment: Experiment) -> QuerySet[SimulatedDialogue]:
    """The experiment's dialogues with the number of turns and the last one's moment."""
    turns = Turn.objects.filter(simulated=OuterRef("pk")).order_by()
    last = turns.values("simulated").annotate(at=Max("created_at")).values("at")
    return (
        experiment.dialogues.select_related("scenario__profile", "scenario__task", "assistant")
        .annotate(n_turns=count_rows(turns, "simulated"), last_turn=Subquery(last))
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


LATEST = 200


@dataclass(frozen=True, slots=True)
class Spending:
    """Dollars known to be spent, how many turns cost an unknown amount, and tokens."""

    usd: Decimal
    unknown: int
    input_tokens: int
    output_tokens: int


def load_spending(experiment: Experiment) -> Spending:
    """In one query."""
    found = Turn.objects.filter(simulated__experiment=experiment).aggregate(
        usd=Sum("cost_usd"),
        unknown=Count("pk", filter=Q(cost_usd__isnull=True)),
        input_tokens=Sum("input_tokens"),
        output_tokens=Sum("output_tokens"),
    )
    return Spending(
        usd=found["usd"] or Decimal(0),
        unknown=found["unknown"],
        input_tokens=found["input_tokens"] or 0,
        output_tokens=found["output_tokens"] or 0,
    )


def habits(agent: Agent, *, side: str) -> tuple[float | None, float | None]:
    """What this model's turns of late took: tokens written and ms, on average; None where there were none."""
    since = timezone.now() - timedelta(days=90)
    turns = Turn.objects.filter(side=side, latency_ms__gt=0, created_at__gte=since)
    if side == "user":
        turns = turns.filter(
            simulated__experiment__user_agent__provider=agent.provider,
            simulated__experiment__user_agent__model=agent.model,
        )
    else:
        turns = turns.filter(simulated__assistant__provider=agent.provider, simulated__assistant__model=agent.model)
    latest = list(turns.order_by("-pk").values_list("pk", flat=True)[:LATEST])
    found = Turn.objects.filter(pk__in=latest).aggregate(tokens=Avg("output_tokens"), ms=Avg("latency_ms"))
    return found["tokens"], found["ms"]


def usual_turns(agent: Agent) -> float | None:
    """How many turns ended dialogues with this user agent's model had, on average; None where there were none."""
    ended = SimulatedDialogue.objects.filter(
        experiment__user_agent__provider=agent.provider, experiment__user_agent__model=agent.model
    ).exclude(ending="")
    latest = list(ended.order_by("-pk").values_list("pk", flat=True)[:LATEST])
    if not latest:
        return None
    return Turn.objects.filter(simulated__in=latest).count() / len(latest)
