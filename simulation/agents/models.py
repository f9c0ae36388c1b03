"""Who speaks: a model with its parameters, as user agent or as assistant under test; and what tables call it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable

from django.conf import settings
from django.db import models


class Agent(models.Model):
    """A speaker and its parameters. It never changes: other parameters are another agent."""

    provider = models.CharField(max_length=40, help_text="A key of simulation.agents.speakers.REGISTRY.")
    model = models.CharField(max_length=120, blank=True)
    parameters = models.JSONField(default=dict, blank=True)
    settings_hash = models.CharField(max_length=64, unique=True, help_text="Of provider, model and parameters.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["provider", "model", "pk"]

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """What tables call it: the model, or where it has none the provider."""
        return self.model or self.provider

    @property
    def is_scripted(self) -> bool:
        return self.provider == "scripted"


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
