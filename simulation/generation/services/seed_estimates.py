"""What a run from seeds will take before it starts: requests, tokens and dollars by stage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import fmean

from django.utils.translation import gettext as _

from judging.judges.providers.base import approximate_tokens
from judging.runs.services.budgets import compute_expected_cost
from simulation.agents import services as agents_services
from simulation.agents.models import Agent
from simulation.agents.prompts import generation as prompts
from simulation.agents.prompts.scene import Cue
from simulation.experiments.services import budget_tracker
from simulation.generation.models import Making
from simulation.generation.result_types import SeedEstimateDocument, StageShareDocument
from simulation.generation.services.seed_runs import SeedPlan

LATEST = 200
USUAL_TOKENS = {"persona": 250, "questions": 150, "memories": 400, "check": 60, "candidates": 250, "responses": 120}
"""Tokens of a reply of each kind where none is known of the model."""

TYPICAL = "A sentence about the person as a model would write it. " * 10


@dataclass(frozen=True, slots=True)
class StageShare:
    """The requests of one kind to one agent."""

    kind: str
    agent: Agent
    requests: int
    prompt_tokens: float


def estimate(plan: SeedPlan, *, agent: Agent, checker: Agent | None, levels: Sequence[str]) -> SeedEstimateDocument:
    """Reckon a run in which nothing is left out and every reply fits. What cannot be known is None, with why."""
    plan.check(levels)
    rows = [describe_share(one) for one in shares(plan, agent, checker, levels) if one.requests]
    seconds = sum_known([row["seconds"] for row in rows])
    unknown = sorted({row["agent"] for row in rows if row["usd"] is None})
    return {
        "stages": rows,
        "requests": sum(row["requests"] for row in rows),
        "input_tokens": sum(row["input_tokens"] for row in rows),
        "output_tokens": sum(row["output_tokens"] for row in rows),
        "usd": sum_known([row["usd"] for row in rows]),
        "seconds": seconds,
        "basis": _(
            "Nothing is left out and every reply fits. Tokens are estimated from the length of the texts; replies "
            "are as long as the model's last ones of the kind, or as such replies usually are."
        ),
        "why": [
            *(
                _("The price of {name} is not known: enter it on the page Prices.").format(name=name)
                for name in unknown
            ),
            *([_("How long a reply takes is not known until there are some.")] if seconds is None else []),
        ],
    }


def sum_known(values: Sequence[float | None]) -> float | None:
    """The sum; None where one of them is not known."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def shares(plan: SeedPlan, agent: Agent, checker: Agent | None, levels: Sequence[str]) -> Iterator[StageShare]:
    """Stage by stage. A response for anybody is asked once for all personas."""
    people, traits = plan.personas, plan.seeds[0]["traits"]
    known = {"persona": TYPICAL, "demographics": traits}
    shared = plan.general + len(plan.questions)
    per_person = plan.specific + shared

    def tokens(cue: Cue) -> float:
        return approximate_tokens(cue.text)

    yield StageShare("persona", agent, people, tokens(prompts.describe_person(traits)))
    yield StageShare(
        "questions", agent, people * bool(plan.specific), tokens(prompts.ask_specific(known, plan.specific))
    )
    yield StageShare(
        "questions", agent, int(bool(plan.general)), tokens(prompts.ask_general(list(traits), plan.general))
    )
    yield StageShare("memories", agent, people * bool(plan.memories), tokens(prompts.remember(known, plan.memories)))
    yield StageShare("check", checker or agent, people, tokens(prompts.conflicts(traits, {"Facts": {"": TYPICAL}})))
    asked = "A question as people ask it, in a sentence or two?"
    for level in levels:
        n = people * plan.specific + shared if level == "none" else people * per_person
        yield StageShare("candidates", agent, n, tokens(prompts.candidate(level, asked, known)))
    if checker:
        texts = [TYPICAL * 2] * len(levels)
        yield StageShare(
            "responses", checker, people * per_person, tokens(prompts.judge_responses(asked, texts, known))
        )


def describe_share(one: StageShare) -> StageShareDocument:
    """A share as JSON types."""
    written, ms = habits(one.agent, one.kind)
    usd = compute_expected_cost(round(one.prompt_tokens), round(written), budget_tracker.rate(one.agent))
    concurrency = agents_services.build_speaker(one.agent).concurrency
    return {
        "kind": one.kind,
        "agent": str(one.agent),
        "requests": one.requests,
        "input_tokens": round(one.requests * one.prompt_tokens),
        "output_tokens": round(one.requests * written),
        "usd": None if usd is None else float(usd * Decimal(one.requests)),
        "seconds": None if ms is None else one.requests * ms / 1000 / concurrency,
    }


def habits(agent: Agent, kind: str) -> tuple[float, float | None]:
    """Tokens and milliseconds of the model's last replies of the kind; None where nobody knows how long they took."""
    orders = Making.objects.filter(agent__provider=agent.provider, agent__model=agent.model, kind=kind)
    replies = [one for found in orders.order_by("-pk").values_list("replies", flat=True)[:LATEST] for one in found]
    asked = [one for one in replies if not one.get("cached")]
    tokens = [one["output_tokens"] for one in asked if one.get("output_tokens")]
    times = [one["latency_ms"] for one in asked if one.get("latency_ms")]
    return fmean(tokens) if tokens else USUAL_TOKENS[kind], fmean(times) if times else None
