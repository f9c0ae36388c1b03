"""What an experiment will take, before it starts: turns, tokens, dollars, time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import fmean

from django.utils.translation import gettext as _

from annotation.corpus.models import Scenario, Task
from judging.judges.providers.base import approximate_tokens
from judging.runs.services.budgets import compute_expected_cost
from simulation.agents import services as agents_services
from simulation.agents.models import Agent
from simulation.agents.prompts import CONDITIONS, Cue, Scene, SpokenTurn, build_assistant_cue, build_user_cue
from simulation.experiments import queries
from simulation.experiments.queries import build_scene
from simulation.experiments.services import budget_tracker
from simulation.experiments.services.experiments import Plan

LOOKED_AT = 20
USUAL_TURN = 60
"""Tokens of a turn where none is known of the model."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """An experiment, reckoned. What cannot be known is None, and `why` says so.

    Attributes
    ----------
    dialogues, turns
        How many; turns are those that dialogues with this user agent usually have, or the most that they may have.
    input_tokens, output_tokens
        Of all turns. The whole conversation is read before each of them.
    usd, seconds
        What they will cost, and how long they will take.
    masked, absent
        Pairs of user and task that are left out: by the user's interests, and because no scenario is about them.
    without_goal
        Tasks that do not say when they are done.
    basis, why
        How it was reckoned, and why something is not known, in words.
    """

    dialogues: int
    turns: int
    input_tokens: int
    output_tokens: int
    usd: Decimal | None
    seconds: float | None
    masked: int
    absent: int
    without_goal: int
    basis: tuple[str, ...]
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Share:
    """What one agent will be asked."""

    agent: Agent
    turns: float
    input_tokens: float
    output_tokens: float
    ms: float | None
    concurrency: int

    @property
    def usd(self) -> Decimal | None:
        return compute_expected_cost(
            round(self.input_tokens), round(self.output_tokens), budget_tracker.rate(self.agent)
        )

    @property
    def seconds(self) -> float | None:
        return None if self.ms is None else self.turns * self.ms / 1000 / self.concurrency


def estimate(plan: Plan) -> Estimate:
    """Look at up to 20 scenarios, evenly from all, and take the others to be like them."""
    usual = queries.usual_turns(plan.user_agent)
    limits = [plan.compute_most_messages(one) for one in plan.grid.scenarios]
    n_turns = fmean(min(usual, limit) if usual else limit for limit in limits)
    found = shares(plan, n_turns)
    costs, times = [share.usd for share in found], [share.seconds for share in found]
    known = [seconds for seconds in times if seconds is not None]
    return Estimate(
        dialogues=plan.n_dialogues,
        turns=round(plan.n_dialogues * n_turns),
        input_tokens=round(sum(share.input_tokens for share in found)),
        output_tokens=round(sum(share.output_tokens for share in found)),
        usd=None if None in costs else sum((cost for cost in costs if cost is not None), Decimal(0)),
        seconds=sum(known) if len(known) == len(times) else None,
        **plan.grid.left_out,
        without_goal=count_without_goal(plan),
        basis=(
            _("Dialogues with this user agent lately had {n:.1f} turns.").format(n=usual)
            if usual
            else _("No dialogue with this user agent is known yet: every one is taken to have the most turns."),
            _("Tokens are estimated from the length of the texts."),
        ),
        why=(
            *(
                _("The price of {name} is not known: enter it on the page Prices.").format(name=share.agent)
                for share, cost in zip(found, costs, strict=True)
                if cost is None
            ),
            *((_("How long a turn takes is not known until there are some."),) if None in times else ()),
        ),
    )


def count_without_goal(plan: Plan) -> int:
    """How many of the plan's tasks have no goal, so that nobody can say whether they were completed."""
    of_source = Task.objects.filter(scenarios__profile__source=plan.grid.scenarios[0].source)
    return of_source.filter(external_id__in=plan.grid.tasks, goal="").distinct().count()


def shares(plan: Plan, n_turns: float) -> list[Share]:
    """The user agent's part and that of each assistant. Each has about half of the turns."""
    scenes = sample_scenes(plan)
    user_tokens = fmean(approximate_tokens(user_cue(plan, scene).text) for scene in scenes)
    lengths = {agent.settings_hash: usual_length(agent, side) for agent, side in sides(plan)}
    per_dialogue = plan.n_dialogues / len(plan.assistants)
    reply = fmean(lengths[one.settings_hash] for one in plan.assistants)
    said = (lengths[plan.user_agent.settings_hash] + reply) / 2
    found = [share(plan.user_agent, "user", plan.n_dialogues, n_turns, user_tokens, said)]
    base = fmean(
        approximate_tokens(
            build_assistant_cue(scene, [SpokenTurn("user", "")], condition=CONDITIONS[key], replaced=plan.prompts).text
        )
        for scene in scenes
        for key in plan.conditions
    )
    return [*found, *(share(one, "assistant", per_dialogue, n_turns, base, said) for one in plan.assistants)]


def user_cue(plan: Plan, scene: Scene) -> Cue:
    """What the user agent is told before a later turn, without the talk."""
    return build_user_cue(
        scene,
        [SpokenTurn("user", "")],
        strategy=plan.strategy,
        information=plan.user_information,
        replaced=plan.prompts,
    )


def share(agent: Agent, side: str, n: float, n_turns: float, base: float, said: float) -> Share:
    """Of `n` dialogues: before each of its turns a side reads its instructions and half of the talk on average."""
    own = n * n_turns / 2
    written, ms = queries.habits(agent, side=side)
    return Share(
        agent=agent,
        turns=own,
        input_tokens=own * (base + said * n_turns / 2),
        output_tokens=own * (written or USUAL_TURN),
        ms=ms,
        concurrency=agents_services.build_speaker(agent).concurrency,
    )


def sides(plan: Plan) -> list[tuple[Agent, str]]:
    return [(plan.user_agent, "user"), *((one, "assistant") for one in plan.assistants)]


def usual_length(agent: Agent, side: str) -> float:
    return queries.habits(agent, side=side)[0] or USUAL_TURN


def sample_scenes(plan: Plan) -> Sequence[Scene]:
    every = plan.grid.scenarios
    n = min(LOOKED_AT, len(every))
    chosen = [every[int(place * len(every) / n)].pk for place in range(n)]
    rows = Scenario.objects.filter(pk__in=chosen).select_related("profile", "task").order_by("pk")
    return [build_scene(row) for row in rows]
