"""What replies on their way may cost is set aside, so that a budget holds whatever the number of workers."""

from __future__ import annotations

from decimal import Decimal

from django.db import transaction
from django.db.models import Sum

from core.errors import InputError
from judging.judges.pricing import format_dollars
from judging.judges.providers.requests import JudgeRequest
from judging.runs.services.budgets import compute_expected_cost, say_reached
from simulation.agents import services as agents_services
from simulation.experiments.services import budget_tracker
from simulation.generation.models.candidates import CandidateRun
from simulation.generation.models.orders import Making
from simulation.generation.queries import candidates


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
        return InputError(candidates.STOPPED)
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
