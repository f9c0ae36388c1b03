"""What experiments have cost so far."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Avg, Count, Q, Sum
from django.utils import timezone

from simulation.agents.models import Agent
from simulation.experiments.models.experiments import Experiment, SimulatedDialogue, Turn

LATEST = 200


@dataclass(frozen=True, slots=True)
class Spending:
    """Dollars known to be spent, how many turns cost an unknown amount, and tokens."""

    usd: Decimal
    unknown: int
    input_tokens: int
    output_tokens: int


def load_experiment(experiment: Experiment) -> Spending:
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


def habits(agent: Agent, *, side: str) -> dict[str, Any]:
    """What this model's turns of late took: `tokens` written and `ms`, on average; None where there were none."""
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
    return Turn.objects.filter(pk__in=latest).aggregate(tokens=Avg("output_tokens"), ms=Avg("latency_ms"))


def usual_turns(agent: Agent) -> float | None:
    """How many turns ended dialogues with this user agent's model had, on average; None where there were none."""
    ended = SimulatedDialogue.objects.filter(
        experiment__user_agent__provider=agent.provider, experiment__user_agent__model=agent.model
    ).exclude(ending="")
    latest = list(ended.order_by("-pk").values_list("pk", flat=True)[:LATEST])
    if not latest:
        return None
    return Turn.objects.filter(simulated__in=latest).count() / len(latest)
