"""The leases of orders. One process at a time works on an agent's orders, so that the model's limit holds over all.

So an order is not claimed by its key, as other work is: who has the agent claims some of its orders at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from core.jobs.heartbeat import is_held
from core.jobs.leases import WorkQueue
from judging.judges.models.workers import Worker
from simulation.agents.models import Agent
from simulation.generation.models.orders import Making

AT_ONCE = 5000  # orders that are named in a query


class OrderQueue(WorkQueue[Making]):
    """Orders that are not finished."""

    MODEL = Making
    TASK = "simulation.make"

    def free(self, of: Q) -> QuerySet[Making]:
        """Orders that anybody may claim, of these."""
        return self.claimable().filter(of).order_by("pk")

    def waiting(self, before: datetime | None = None) -> QuerySet[Making]:
        """Who has the agent goes on with its other orders: they do not wait."""
        busy = self.unfinished().filter(is_held()).values("agent")
        return super().waiting(before).exclude(agent__in=busy)

    def lost(self, before: datetime) -> list[int]:
        return list_one_per_agent(self.waiting(before))

    def claim(self, agent: Agent, project: int, worker: Worker, of: Q, n: int) -> list[Making]:
        """Claim up to `n` free orders of an agent. None while another living process works on the agent's orders.

        The agent's row is the lock: of two processes that reach for its orders, one waits for the other. A process
        that stood still for so long that it counts as gone does not claim again what it holds.
        """
        with transaction.atomic():
            list(Agent.objects.select_for_update().filter(pk=agent.pk).values_list("pk"))
            if self.unfinished().filter(is_held(), agent=agent).exclude(worker=worker).exists():
                return []
            found = self.free(of).filter(agent=agent, project=project).exclude(worker=worker)
            pks = list(found.values_list("pk", flat=True)[:n])
            Making.objects.filter(pk__in=pks).update(worker=worker)
        return list(Making.objects.filter(pk__in=pks).select_related("agent", "profile").order_by("pk"))

    def queue(self, keys: Sequence[int]) -> None:
        """Note that messages go out for these orders, and send one for each agent once that is committed."""
        with transaction.atomic():
            for start in range(0, len(keys), AT_ONCE):
                some = Making.objects.filter(pk__in=keys[start : start + AT_ONCE])
                transaction.on_commit(partial(self.send, list_one_per_agent(some)))
                some.update(queued_at=timezone.now())


def list_one_per_agent(found: QuerySet[Making]) -> list[int]:
    """The first order of each agent in each project."""
    rows = found.order_by("-pk").values_list("agent", "project", "pk")
    return sorted({(agent, project): pk for agent, project, pk in rows}.values())


leases = OrderQueue()
