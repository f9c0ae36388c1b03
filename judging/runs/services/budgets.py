"""What a run may still spend: its own budget, and what its judge may cost in a day."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal

from django.utils import timezone
from django.utils.translation import gettext as _, gettext_noop

from core.errors import InputError
from judging.judges import pricing
from judging.judges.models import Judge
from judging.judges.pricing import Rate, format_dollars
from judging.judges.providers.base import Usage
from judging.judges.queries.prices import find_rate
from judging.judges.services.quotas import USUAL_REPLY
from judging.runs.models.runs import JudgeRun
from judging.runs.queries import spending

LOOK_EVERY = 1.0  # seconds between looks at what others have spent
UNKNOWN_PRICE = gettext_noop(
    "The price of {judge}'s model is not known, so that {what} cannot be kept. Enter it on the page Prices."
)


@dataclass(frozen=True, slots=True)
class Limit:
    """A budget in dollars, what is spent of it, and what batches that are out may cost at the most."""

    name: str
    budget: Decimal
    spent: Decimal
    reserved: Decimal = Decimal(0)

    @property
    def left(self) -> Decimal:
        return self.budget - self.spent - self.reserved


class BudgetTracker:
    """What one process may start: it counts what it spends itself, and looks now and then at what all have spent.

    A request is started only if what is on its way and this one fit into the budget, each at the most that a reply
    has cost so far. The first one goes alone, to find that out.
    """

    def __init__(self, run: JudgeRun) -> None:
        self.run, self.rate = run, find_rate(run.judge)
        self.limits: list[Limit] = []
        self.dearest: Decimal | None = None
        self.since_refresh, self.first_guess = Decimal(0), Decimal(0)
        self.looked = 0.0
        self.refresh(force=True)

    def refresh(self, *, force: bool = False) -> None:
        if force or (self.limits and time.monotonic() - self.looked > LOOK_EVERY):
            self.limits, self.looked, self.since_refresh = list(limits(self.run)), time.monotonic(), Decimal(0)

    def guess(self, prompt_tokens: int) -> None:
        """What a request may cost, until replies tell."""
        self.first_guess = max(
            self.first_guess, compute_expected_cost(prompt_tokens, USUAL_REPLY, self.rate) or Decimal(0)
        )

    def pay(self, costs: Iterable[Decimal | None]) -> None:
        """Count what replies cost. An unknown amount is counted as the expected one."""
        for cost in costs:
            known = self.expected if cost is None else cost
            self.dearest = max(self.dearest or Decimal(0), known)
            self.since_refresh += known

    @property
    def is_free(self) -> bool:
        """Whether replies are known to cost nothing."""
        return self.rate is not None and self.rate.is_free

    @property
    def expected(self) -> Decimal:
        """What the next reply may cost."""
        return self.first_guess if self.dearest is None else self.dearest

    def allows(self, wanted: int, *, on_the_way: int) -> int:
        """How many of the wanted requests may be started beside those on the way."""
        if self.limits and self.dearest is None:
            wanted = min(wanted, 1 - on_the_way)
        for limit in self.limits:
            left = limit.left - self.since_refresh
            if self.expected > 0:
                wanted = min(wanted, int(left / self.expected) - on_the_way)
            elif left <= 0:
                wanted = 0
        return max(wanted, 0)

    def find_reached(self) -> str:
        """Which limit leaves no room for another request, in a sentence."""
        limit = min(self.limits, key=lambda limit: limit.left)
        return say_reached(limit.name, limit.budget, limit.spent + self.since_refresh, self.expected)


def limits(run: JudgeRun) -> Iterable[Limit]:
    if run.budget_usd is not None:
        yield Limit("The run's budget", run.budget_usd, spending.load_run(run).usd, spending.sum_reserved(run=run))
    name = run.judge.name
    daily = spending.daily_budget(name)
    if daily is not None:
        yield Limit(f"The daily budget of {name}", daily, spending.today(name), spending.sum_reserved(name=name))


def compute_expected_cost(
    input_tokens: int, output_tokens: int, rate: Rate | None, *, in_bulk: bool = False
) -> Decimal | None:
    """Dollars at the full price, or at the one for batches; None if there is no price."""
    return pricing.cost(Usage(input_tokens, output_tokens, batched=in_bulk), rate)


def compute_most_cost(input_tokens: int, output_tokens: int, rate: Rate | None) -> Decimal | None:
    """The same for a request of a batch, all of whose prompt may be put into the cache, where that costs more."""
    usage = Usage(input_tokens, output_tokens, batched=True)
    costs = [pricing.cost(one, rate) for one in (usage, replace(usage, written_tokens=input_tokens))]
    return max((cost for cost in costs if cost is not None), default=None)


def say_reached(name: str, budget: Decimal, spent: Decimal, next_one: Decimal, *, what: str = "reply") -> str:
    """Say that a budget leaves no room for what comes next, at the most that it may cost."""
    said = f"{name} of {format_dollars(budget)} is reached: {format_dollars(spent)} are spent"
    return f"{said}, and another {what} may cost {format_dollars(next_one)}."


def check_amount(budget_usd: Decimal | None) -> None:
    """Raise InputError where a budget makes no sense."""
    if budget_usd is not None and not budget_usd > 0:
        raise InputError("A budget is above 0; leave it empty for none.", field="budget_usd")


def check(judge: Judge, budget_usd: Decimal | None) -> None:
    """Raise InputError where a budget makes no sense, cannot be kept, or is used up for today."""
    check_amount(budget_usd)
    daily = spending.daily_budget(judge.name)
    if budget_usd is None and daily is None:
        return
    if find_rate(judge) is None:
        what = _("a budget") if budget_usd is not None else _("its daily budget")
        raise InputError(UNKNOWN_PRICE, field="budget_usd", judge=judge, what=what)
    if daily is not None and (spent := spending.today(judge.name)) >= daily:
        tomorrow = timezone.now().date() + timedelta(days=1)
        raise InputError(
            "{name} has cost {spent} today, and its daily budget is {daily}. Raise it, or "
            "start the run on {tomorrow:%Y-%m-%d} (UTC).",
            field="judge",
            name=judge.name,
            spent=format_dollars(spent),
            daily=format_dollars(daily),
            tomorrow=tomorrow,
        )
