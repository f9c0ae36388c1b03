"""Experiments: planned, made, held by one process, stopped, resumed. What is done with them is in `worker_sessions`.

A dialogue is mostly waiting, so one process keeps as many in flight as the models allow; several experiments go to
several workers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from annotation.corpus.imports.personalens import SOURCE as PERSONALENS
from annotation.studies.services import webhooks
from core.accounts.models.projects import Project, choose_project
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.hashing import content_hash
from core.jobs.leases import Leases
from core.names import check_name
from core.options.model import LARGEST
from core.version import code_version
from judging.judges.models import Worker
from judging.judges.pricing import format_dollars
from simulation.agents import services as agents_services
from simulation.agents.models import Agent
from simulation.agents.parsing.endings import EXCHANGES, MESSAGES, Limits
from simulation.agents.prompts import (
    CONDITIONS,
    FAITHFUL,
    STRATEGIES,
    TASK_PREFERENCES,
    USER_INFORMATION,
    roles,
    unknown,
)
from simulation.agents.prompts.roles import EMBEDDINGS
from simulation.experiments import queries
from simulation.experiments.models import Experiment, SimulatedDialogue
from simulation.experiments.options import MOST_PASSAGES, MOST_TURNS
from simulation.experiments.queries import EligibleScenario, alternatives
from simulation.experiments.services import budget_tracker
from simulation.experiments.services.grids import Grid


class ExperimentLeases(Leases[Experiment]):
    """Experiments that are neither finished nor stopped."""

    MODEL = Experiment
    TASK = "simulation.play"
    LEFT = Q(finished_at__isnull=True, stopped_at__isnull=True)
    RELATED = ("user_agent", "embedder")

    def give_up(self, row: Experiment, unchanged: QuerySet[Experiment]) -> None:
        unchanged.update(stopped_at=timezone.now(), stop_reason=self.say_given_up(row.attempts, row.error))

    def progressed(self, experiment: Experiment, worker: Worker) -> None:
        """A turn was saved: what went wrong before is over."""
        held = self.filter_held(experiment, worker)
        held.exclude(attempts=1, error="").update(attempts=1, error="")
        experiment.attempts = 1

    def finish(self, experiment: Experiment, worker: Worker) -> bool:
        """The worker is through with all dialogues."""
        now = timezone.now()
        with transaction.atomic():
            if self.filter_held(experiment, worker).update(finished_at=now, worker=None, error="") != 1:
                return False
            data = {"experiment": experiment.pk, "name": experiment.name}
            subject = f"experiment {experiment.pk} {now.isoformat()}"
            webhooks.tell("experiment.finished", project=experiment.project_id, subject=subject, data=data)
        return True


leases = ExperimentLeases()


PUBLISHED_LIMITS = Limits()


@dataclass(frozen=True)
class Plan:
    """An experiment as it would be made: checked, its dialogues in order, and the hash of all it depends on."""

    name: str
    user_agent: Agent
    assistants: tuple[Agent, ...]
    strategy: str
    conditions: tuple[str, ...]
    grid: Grid
    seed: int
    limits: Limits
    passages: int
    budget_usd: Decimal | None
    input_hash: str
    user_information: str
    prompts: Mapping[str, str]
    embedder: Agent | None = None

    @property
    def n_dialogues(self) -> int:
        return len(self.grid.scenarios) * len(self.assistants) * len(self.conditions)

    @property
    def agents(self) -> list[Agent]:
        return [self.user_agent, *self.assistants]

    def compute_most_messages(self, scenario: EligibleScenario) -> int:
        return self.limits.messages(is_multi_domain=scenario.is_multi_domain)

    def cells(self) -> Iterator[tuple[EligibleScenario, Agent, str]]:
        """Scenario by scenario, so that what is to be compared is said at about the same time."""
        for scenario in self.grid.scenarios:
            for assistant in self.assistants:
                for condition in self.conditions:
                    yield scenario, assistant, condition


def plan(
    *,
    name: str,
    user_agent: Agent,
    assistants: Sequence[Agent],
    conditions: Sequence[str],
    grid: Grid,
    strategy: str = "vanilla",
    user_information: str = "",
    prompts: Mapping[str, str] | None = None,
    seed: int = 0,
    limits: Limits = PUBLISHED_LIMITS,
    passages: int = 3,
    embedder: Agent | None = None,
    budget_usd: Decimal | None = None,
) -> Plan:
    """Check what is asked for, before a row is written.

    `user_information` is a key of USER_INFORMATION; without one, it is that of PersonaLens for its own scenarios.
    `prompts` are texts by role that take the place of Concord's own.
    """
    name = check_name(name, what="An experiment")
    check_numbers(seed, passages)
    check_limits(limits)
    if strategy not in STRATEGIES:
        raise InputError(
            "{strategy!r} is not one of {strategies}.",
            field="strategy",
            strategy=strategy,
            strategies=", ".join(STRATEGIES),
        )
    check_conditions(conditions, grid)
    information = user_information or choose_information(grid)
    if information not in USER_INFORMATION:
        raise InputError(
            "{information!r} is not one of {user_information}.",
            field="user_information",
            information=information,
            user_information=", ".join(USER_INFORMATION),
        )
    replaced = {role: words for role, words in (prompts or {}).items() if words.strip()}
    if problems := roles.problems(replaced, conditions):
        raise InputError(" ".join(problems), field="prompts")
    if not assistants:
        raise InputError("An experiment needs an assistant.", field="assistants")
    if len({agent.settings_hash for agent in assistants}) < len(assistants):
        raise InputError("An assistant is named twice.", field="assistants")
    embeds = any(CONDITIONS[key].retriever == EMBEDDINGS for key in conditions)
    if embeds and embedder is None:
        raise InputError("Name who makes the embeddings: openai_compatible:MODEL.", field="embedder")
    used = [embedder] if embeds and embedder else []
    budget_tracker.check([user_agent, *assistants, *used], budget_usd)
    return Plan(
        name=name,
        user_agent=user_agent,
        assistants=tuple(assistants),
        strategy=strategy,
        conditions=tuple(conditions),
        grid=grid,
        seed=seed,
        limits=limits,
        passages=passages,
        budget_usd=budget_usd,
        embedder=embedder if embeds else None,
        user_information=information,
        prompts=replaced,
        input_hash=content_hash(
            {
                "scenarios": [list(one.key) for one in grid.scenarios],
                "user_agent": user_agent.settings_hash,
                "assistants": [agent.settings_hash for agent in assistants],
                "conditions": list(conditions),
                "strategy": strategy,
                "turns": [limits.single, limits.multi, *([limits.unit] if limits.has_closing_reply else [])],
                "passages": passages,
                "embedder": [one.settings_hash for one in used],
                "prompts": [
                    *(roles.version(role, strategy, information, replaced) for role in ("user_opening", "user_later")),
                    *(roles.version(roles.assistant_role(key), key, replaced=replaced) for key in conditions),
                ],
            }
        ),
    )


@audited("experiment.start", says=("plan.name", "plan.conditions", "plan.seed", "plan.budget_usd"))
def make(*, by: User | None, plan: Plan, queue: bool, project: Project | None = None) -> Experiment:
    """Write the experiment with its dialogues. With `queue`, a worker is sent for once that is committed."""
    with transaction.atomic():
        found = {agent.settings_hash: agents_services.find_or_create_agent(by=by, agent=agent) for agent in plan.agents}
        experiment = Experiment.objects.create(
            project=choose_project(by, project),
            name=plan.name,
            user_agent=found[plan.user_agent.settings_hash],
            strategy=plan.strategy,
            user_information=plan.user_information,
            prompts=dict(plan.prompts),
            conditions=list(plan.conditions),
            grid=plan.grid.to_json(),
            seed=plan.seed,
            single_turns=plan.limits.single,
            multi_turns=plan.limits.multi,
            limit_unit=plan.limits.unit,
            passages=plan.passages,
            budget_usd=plan.budget_usd,
            embedder=agents_services.find_or_create_agent(by=by, agent=plan.embedder) if plan.embedder else None,
            input_hash=plan.input_hash,
            code_version=code_version(),
            created_by=by,
        )
        experiment.assistants.set([found[agent.settings_hash] for agent in plan.assistants])
        SimulatedDialogue.objects.bulk_create(
            (
                SimulatedDialogue(
                    experiment=experiment,
                    index=index,
                    scenario_id=scenario.pk,
                    assistant=found[assistant.settings_hash],
                    condition=condition,
                )
                for index, (scenario, assistant, condition) in enumerate(plan.cells(), start=1)
            ),
            batch_size=2000,
        )
        if queue:
            leases.queue([experiment.pk])
    return experiment


@audited("experiment.stop", on="experiment")
def stop(*, by: User | None, experiment: Experiment) -> bool:  # noqa: ARG001
    """Let the worker put it down, which it does within a second or two. False if it was over already."""
    return select_running(experiment).update(stopped_at=timezone.now()) == 1


def halt(*, experiment: Experiment, reason: str) -> bool:
    """An experiment stops itself and says why. False if it was over already."""
    return select_running(experiment).update(stopped_at=timezone.now(), stop_reason=reason) == 1


def select_running(experiment: Experiment) -> QuerySet[Experiment]:
    return Experiment.objects.filter(pk=experiment.pk, finished_at__isnull=True, stopped_at__isnull=True)


@audited("experiment.resume", on="experiment", says=("budget_usd",))
def resume(
    *,
    by: User | None,  # noqa: ARG001
    experiment: Experiment,
    queue: bool = True,
    budget_usd: Decimal | None = None,
) -> int:
    """Go on with the dialogues that have not ended, and with those that could not be asked. Returns how many.

    Every turn that was said stays. `budget_usd` replaces the budget, which includes what was spent.
    """
    embedder = [experiment.embedder] if experiment.embedder else []
    all_agents = [experiment.user_agent, *experiment.assistants.all(), *embedder]
    budget = experiment.budget_usd if budget_usd is None else budget_usd
    budget_tracker.check(all_agents, budget)
    if budget is not None and (spent := queries.load_spending(experiment).usd) >= budget:
        raise InputError(
            "The experiment has cost {spent} already: give it a higher budget.",
            field="budget_usd",
            spent=format_dollars(spent),
        )
    with transaction.atomic():
        failed = experiment.dialogues.filter(ending__endswith="_failed")
        failed.update(ending="", ended_at=None, error="")
        left = experiment.dialogues.filter(ending="").count()
        if left:
            Experiment.objects.filter(pk=experiment.pk).update(
                budget_usd=budget, stopped_at=None, stop_reason="", finished_at=None, attempts=0, error=""
            )
            if queue:
                leases.queue([experiment.pk])
    return left


def check_numbers(seed: int, passages: int) -> None:
    if not 0 <= seed <= LARGEST:
        raise InputError("The seed must be from 0 to {largest}.", field="seed", largest=LARGEST)
    if not 1 <= passages <= MOST_PASSAGES:
        raise InputError("The passages are from 1 to {most_passages}.", field="passages", most_passages=MOST_PASSAGES)


def choose_information(grid: Grid) -> str:
    """What the user agent is told unless an experiment says otherwise."""
    return FAITHFUL if grid.scenarios[0].source == PERSONALENS else TASK_PREFERENCES


def build_limits(
    *,
    single_exchanges: int | None = None,
    multi_exchanges: int | None = None,
    single_turns: int | None = None,
    multi_turns: int | None = None,
) -> Limits:
    """The limits as they are asked for: in exchanges, or as turns, which are messages of either side."""
    exchanges, turns = (single_exchanges, multi_exchanges), (single_turns, multi_turns)
    if turns == (None, None):
        given, unit = exchanges, EXCHANGES
    elif exchanges == (None, None):
        given, unit = turns, MESSAGES
    else:
        raise InputError("Give limits in exchanges or in turns, not both.", field="single_exchanges")
    single, multi = given
    return Limits(
        PUBLISHED_LIMITS.single if single is None else single, PUBLISHED_LIMITS.multi if multi is None else multi, unit
    )


def check_limits(limits: Limits) -> None:
    least, word = (1, "exchanges") if limits.has_closing_reply else (2, "turns")
    for side, value in (("single", limits.single), ("multi", limits.multi)):
        if not least <= value <= MOST_TURNS:
            raise InputError(
                "The limit is from {least} to {most_turns} {word}.",
                field=f"{side}_{word}",
                least=least,
                most_turns=MOST_TURNS,
                word=word,
            )


def check_conditions(conditions: Sequence[str], grid: Grid) -> None:
    if not conditions:
        raise InputError("An experiment needs a condition.", field="conditions")
    if wrong := unknown(conditions):
        raise InputError(
            "{wrong!r} is not one of {conditions}.",
            field="conditions",
            wrong=wrong[0],
            conditions=", ".join(CONDITIONS),
        )
    if len(set(conditions)) < len(conditions):
        raise InputError("A condition is named twice.", field="conditions")
    source = grid.scenarios[0].source
    if any(CONDITIONS[key].damage == "contradicted" for key in conditions) and not alternatives(source):
        raise InputError(
            "To contradict preferences, the values that they could have must be known: import_schema FILE "
            "--source {source}.",
            field="conditions",
            source=source,
        )
