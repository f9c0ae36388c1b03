"""Runs of candidates for a benchmark to be: begun, stopped, and gone on with."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from django.db import transaction
from django.utils import timezone

from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.names import check_name
from judging.judges.pricing import format_dollars
from simulation.agents.models import Agent
from simulation.agents.prompts.candidates import LEVELS
from simulation.experiments.services import budget_tracker
from simulation.generation.models.candidates import CandidateRun
from simulation.generation.models.orders import Making
from simulation.generation.queries import candidates as queries
from simulation.generation.services import candidates, generation
from simulation.generation.services.candidates import Question


@audited("candidates.order", says=("agent", "questions", "levels", "seed", "budget_usd"))
def begin(
    *,
    by: User | None,
    name: str,
    agent: Agent,
    questions: Sequence[Question],
    levels: Sequence[str] = LEVELS,
    seed: int = 0,
    budget_usd: Decimal | None = None,
    queue: bool = True,
) -> CandidateRun:
    """Order candidates together. What was ordered before is a part of the run and is not ordered again.

    A budget needs a known price of the model. It is looked at before every reply.
    """
    name = check_name(name, what="A run")
    budget_tracker.check([agent], budget_usd)
    with transaction.atomic():
        orders = candidates.order(by=by, agent=agent, questions=questions, levels=levels, seed=seed, queue=queue)
        run = CandidateRun.objects.create(
            name=name,
            agent=orders[0].agent,
            levels=candidates.check_levels(levels),
            seed=seed,
            budget_usd=budget_usd,
            created_by=by,
        )
        run.makings.set(orders)
    return run


@audited("candidates.stop", on="run")
def stop(*, by: User | None, run: CandidateRun) -> int:  # noqa: ARG001
    """Ask for no more; what came is kept. Returns how many were not begun. One under way ends after its reply."""
    with transaction.atomic():
        CandidateRun.objects.filter(pk=run.pk, stopped_at__isnull=True).update(stopped_at=timezone.now())
        live = CandidateRun.objects.filter(stopped_at__isnull=True)
        wanted_elsewhere = Making.objects.filter(candidate_runs__in=live)
        unbegun = run.makings.filter(finished_at__isnull=True, worker__isnull=True)
        waiting = unbegun.exclude(pk__in=wanted_elsewhere.values("pk")).values("pk")
        return Making.objects.filter(pk__in=waiting, finished_at__isnull=True, worker__isnull=True).update(
            problem=queries.STOPPED, finished_at=timezone.now()
        )


@audited("candidates.resume", on="run", says=("budget_usd",))
def resume(*, by: User | None, run: CandidateRun, budget_usd: Decimal | None = None) -> int:  # noqa: ARG001
    """Go on with a stopped run, and try again what failed. `budget_usd` takes the place of the budget.

    Levels that came are not asked for again. Returns how many orders go on.
    """
    budget = run.budget_usd if budget_usd is None else budget_usd
    budget_tracker.check([one for one in (run.agent, run.checker) if one], budget)
    if budget is not None and (spent := queries.progress(run).spent) >= budget:
        raise InputError(
            f"The run has cost {format_dollars(spent)} already: give it a higher budget.", field="budget_usd"
        )
    with transaction.atomic():
        CandidateRun.objects.filter(pk=run.pk).update(stopped_at=None, problem="", budget_usd=budget)
        return generation.retry_all(Making.objects.filter(candidate_runs=run, finished_at__isnull=False))
