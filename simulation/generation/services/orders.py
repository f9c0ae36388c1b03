"""An order in hand: what is asked next, and what becomes of a reply."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django.conf import settings

from core.hashing import content_hash
from judging.judges import pricing
from judging.judges.models.judges import Judge
from judging.judges.providers.base import Provider, Reply
from judging.judges.providers.requests import JudgeRequest
from judging.runs.queries.requests import Pending
from judging.runs.services import cache
from judging.runs.services.cache import storable
from simulation.agents.models import Agent
from simulation.agents.parsing.generated import UnfitError
from simulation.agents.prompts import generation as prompts
from simulation.agents.speakers import build_request
from simulation.agents.speakers.base import TURN
from simulation.experiments.services import budget_tracker
from simulation.generation.models.orders import Making
from simulation.generation.services import seed_generators
from simulation.generation.services.generators import Step

MOST_TRIES = 3
LONGEST_SHOWN = 20_000
"""Characters of a reply that does not fit that the model is shown again."""

SHARED_KINDS = (Making.Kind.CANDIDATES,)
"""Kinds whose equal requests share a reply. Who orders other things twice wants two of them."""


class Order:
    """A claimed order with its steps. Every reply is kept in it before anything is made of it."""

    def __init__(self, making: Making) -> None:
        self.making, self.steps = making, seed_generators.steps(making)
        self.advance()

    def advance(self) -> None:
        """Go to the next step without a reply that fits; `step` is None where none is left."""
        self.step: Step | None = next(self.steps, None)
        self.cue = self.step.cue if self.step else None
        self.attempt = 1

    def request(self) -> JudgeRequest:
        """What is asked next."""
        if self.step is None or self.cue is None:
            raise ValueError(f"order {self.making.pk} has no step left")
        seed = int(content_hash([self.making.seed, self.step.key, self.attempt])[:8], 16) & 0x7FFFFFFF
        item = f"{self.making.kind}/{self.step.key}"
        return build_request(self.cue, item=item, number=self.attempt, seed=seed, schema=self.step.schema)

    def key(self, provider: Provider, pending: Pending) -> str:
        """The hash of the request for a reply that equal requests share; empty where they share none."""
        if self.making.kind not in SHARED_KINDS:
            return ""
        return cache.build_key(build_judge(self.making.agent), self.making.seed, provider, pending)

    def take(self, reply: Reply, *, cached: bool, latency_ms: int = 0) -> bool:
        """Keep a reply and go on: to the next step, or to the same one with what is wrong. Whether the reply fits.

        Raises UnfitError after the last try. The caller saves the order, also then.
        """
        step, cue = self.step, self.cue
        if step is None or cue is None:
            raise ValueError(f"order {self.making.pk} has no step left")
        text = reply.text[: settings.MAX_REPLY_CHARACTERS]
        note = {"step": step.key, "attempt": self.attempt, "text": text, "prompt": cue.version}
        note |= {"latency_ms": latency_ms}
        note |= {"cached": True, "cost_usd": 0.0} if cached else build_cost(self.making, reply)
        try:
            found = storable(parse_reply(step, reply))
        except UnfitError as error:
            add_reply(self.making, note | {"field": error.field, "problem": error.message})
            if self.attempt == MOST_TRIES:
                raise
            self.cue = prompts.repeat_cue(step.cue, text[:LONGEST_SHOWN], str(error), is_json=step.is_json)
            self.attempt += 1
            return False
        add_reply(self.making, note | {"field": "", "problem": ""})
        self.making.parts[step.key] = found
        self.advance()
        return True


def build_pending(order: Order) -> Pending:
    """The order's next request as the request pool takes it."""
    return Pending(order.making.pk, 0, TURN, order.request())


def build_judge(agent: Agent) -> Judge:
    """The agent's model as the judges' quotas, prices and kept replies know it."""
    return Judge(provider=agent.provider, model=agent.model)


def parse_reply(step: Step, reply: Reply) -> Any:
    """What the step makes of a reply. UnfitError where it does not fit, or is larger than this site reads."""
    if reply.unscored:
        raise UnfitError(f"there is none: {reply.unscored}", "reply")
    if reply.stop == "refusal":
        raise UnfitError("is a refusal", "reply")
    if len(reply.text) > settings.MAX_REPLY_CHARACTERS:
        raise UnfitError("is larger than this site reads", "reply")
    if reply.stop == "length":
        raise UnfitError("was cut at the most tokens that the model may write; answer more briefly", "reply")
    return step.read(reply.text)


def build_cost(making: Making, reply: Reply) -> dict[str, Any]:
    """What a reply took: tokens and dollars, None where they are not known."""
    cost = pricing.cost(reply.usage, budget_tracker.rate(making.agent))
    usage = reply.usage
    return {
        "input_tokens": usage.input_tokens if usage else None,
        "output_tokens": usage.output_tokens if usage else None,
        "cost_usd": None if cost is None else float(cost),
    }


def add_reply(making: Making, note: dict[str, Any]) -> None:
    """Add a reply and its cost to the order; nothing is on its way any more."""
    making.replies.append(storable(note))
    making.cost_usd += Decimal(str(note["cost_usd"] or 0))
    making.reserved_usd = Decimal(0)
    making.attempts = 0


REPLIED: Sequence[str] = ("replies", "parts", "cost_usd", "reserved_usd", "attempts")
"""What a reply changes of an order."""
