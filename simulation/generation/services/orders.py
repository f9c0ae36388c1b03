"""Orders in hand: who holds them, what is asked next, what its reply may cost, and what becomes of it.

One process at a time works on an agent's orders, so that the model's limit holds over all. So an order is not claimed
by its key, as other work is: who has the agent claims some of its orders at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from functools import partial

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet, Sum
from django.utils import timezone

from core.batches import iterate_batches
from core.errors import InputError
from core.hashing import content_hash
from core.jobs.heartbeat import is_held
from core.jobs.leases import WorkQueue
from judging.judges import pricing
from judging.judges.models import Judge, Worker
from judging.judges.pricing import format_dollars
from judging.judges.providers.base import Provider, Reply
from judging.judges.providers.requests import JudgeRequest
from judging.runs.queries.requests import Pending
from judging.runs.services import cache
from judging.runs.services.budgets import compute_expected_cost, say_reached
from judging.runs.services.cache import storable
from simulation.agents import services as agents_services
from simulation.agents.models import Agent
from simulation.agents.parsing.generated import UnfitError
from simulation.agents.prompts import generation as prompts
from simulation.agents.speakers import build_request
from simulation.agents.speakers.base import TURN
from simulation.experiments.services import budget_tracker
from simulation.generation import queries
from simulation.generation.models import CandidateRun, Making
from simulation.generation.result_types import ReplyCostDocument
from simulation.generation.services import seed_generators
from simulation.generation.services.generators import Step

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
            for batch in iterate_batches(keys, AT_ONCE):
                some = Making.objects.filter(pk__in=batch)
                transaction.on_commit(partial(self.send, list_one_per_agent(some)))
                some.update(queued_at=timezone.now())


def list_one_per_agent(found: QuerySet[Making]) -> list[int]:
    """The first order of each agent in each project."""
    rows = found.order_by("-pk").values_list("agent", "project", "pk")
    return sorted({(agent, project): pk for agent, project, pk in rows}.values())


leases = OrderQueue()


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


def parse_reply(step: Step, reply: Reply) -> object:
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


def build_cost(making: Making, reply: Reply) -> ReplyCostDocument:
    """What a reply took: tokens and dollars, None where they are not known."""
    cost = pricing.cost(reply.usage, budget_tracker.rate(making.agent))
    usage = reply.usage
    return {
        "input_tokens": usage.input_tokens if usage else None,
        "output_tokens": usage.output_tokens if usage else None,
        "cost_usd": None if cost is None else float(cost),
    }


def add_reply(making: Making, note: dict[str, object]) -> None:
    """Add a reply and its cost to the order; nothing is on its way any more."""
    making.replies.append(storable(note))
    making.cost_usd += Decimal(str(note["cost_usd"] or 0))
    making.reserved_usd = Decimal(0)
    making.attempts = 0


REPLIED: Sequence[str] = ("replies", "parts", "cost_usd", "reserved_usd", "attempts")
"""What a reply changes of an order."""


class PostponedError(Exception):
    """The budget has no room while other replies are on their way. They may cost less than is set aside for them."""


def reserve(making: Making, request: JudgeRequest) -> None:
    """Set aside the most that the reply may cost. Of no effect for an order without runs.

    Raises InputError where every run that wants the order is stopped or has no room left, and PostponedError where one
    may have room later.
    """
    amount = compute_most_cost(making, request)
    with transaction.atomic():
        # the runs' rows are held, so that no other worker sets aside what is seen here as free
        runs = list(CandidateRun.objects.select_for_update().filter(makings=making).order_by("pk"))
        refusals = [why for run in runs if (why := find_refusal(run, making, amount))]
        if runs and len(refusals) == len(runs):
            raise next((why for why in refusals if isinstance(why, PostponedError)), refusals[0])
        if runs:
            Making.objects.filter(pk=making.pk).update(reserved_usd=amount)


def compute_most_cost(making: Making, request: JudgeRequest) -> Decimal:
    """The most that a reply costs: as many tokens as it may have. 0 where no price is known."""
    speaker = agents_services.build_speaker(making.agent)
    tokens = speaker.estimate_tokens(request).tokens
    return compute_expected_cost(tokens, speaker.reply_tokens, budget_tracker.rate(making.agent)) or Decimal(0)


def find_refusal(run: CandidateRun, making: Making, amount: Decimal) -> InputError | PostponedError | None:
    """Why this run does not want the reply now; None where it does."""
    if run.stopped_at is not None:
        return InputError(queries.STOPPED)
    if run.budget_usd is None:
        return None
    found = run.makings.aggregate(spent=Sum("cost_usd"))
    spent = found["spent"] or Decimal(0)
    if spent >= run.budget_usd or spent + amount > run.budget_usd:
        return InputError(describe_limit(run.budget_usd, spent, amount))
    others = run.makings.filter(finished_at__isnull=True, worker__isnull=False).exclude(pk=making.pk)
    on_the_way = others.aggregate(usd=Sum("reserved_usd"))["usd"] or Decimal(0)
    if spent + on_the_way + amount > run.budget_usd:
        return PostponedError(f"{format_dollars(on_the_way)} are set aside for replies on their way.")
    return None


def describe_limit(budget: Decimal, spent: Decimal, amount: Decimal) -> str:
    if amount and spent < budget:
        return say_reached("The budget", budget, spent, amount)
    return f"The budget of {format_dollars(budget)} is reached: {format_dollars(spent)} are spent."
