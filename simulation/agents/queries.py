"""What to call agents where several stand side by side."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable

from simulation.agents.models import Agent

LONGEST = 120
"""Letters of the column that names a dialogue's assistant."""


def labels(agents: Iterable[Agent]) -> dict[int, str]:
    """Their names; of those that share one, with the parameters in which they differ."""
    known = list(agents)
    shared = Counter(agent.name for agent in known)
    return {
        agent.pk: agent.name
        if shared[agent.name] == 1
        else build_distinct_name(agent, [other for other in known if other.name == agent.name])
        for agent in known
    }


def build_distinct_name(agent: Agent, alike: list[Agent]) -> str:
    """The name with what differs; with the agent's number where that is too long to say or the provider differs."""
    names = sorted({name for other in alike for name in other.parameters})
    differ = [name for name in names if len({json.dumps(other.parameters.get(name)) for other in alike}) > 1]
    said = ", ".join(f"{name} {json.dumps(agent.parameters.get(name), ensure_ascii=False)}" for name in differ)
    label = f"{agent.name} ({said})"
    return label if said and len(label) <= LONGEST else f"{agent.name[: LONGEST - 12]} (no. {agent.pk})"
