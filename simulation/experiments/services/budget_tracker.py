"""What an experiment may still spend.

One process works on an experiment, so it counts by itself; a run's processes look at what all have spent, and orders,
which several runs may want, set aside in the database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from core.errors import InputError
from judging.judges.models import Judge
from judging.judges.pricing import Rate
from judging.judges.queries.prices import find_rate
from judging.runs.services.budgets import check_amount, compute_expected_cost, say_reached
from simulation.agents.models import Agent
from simulation.experiments import queries
from simulation.experiments.models import Experiment


def rate(agent: Agent) -> Rate | None:
    """What the agent's model costs; None if nobody has said. What is computed here costs nothing."""
    return find_rate(Judge(provider=agent.provider, model=agent.model))


def check(agents: Sequence[Agent], budget_usd: Decimal | None) -> None:
    """Raise InputError where a budget makes no sense or cannot be kept."""
    if budget_usd is None:
        return
    check_amount(budget_usd)
    for agent in agents:
        if rate(agent) is None:
            raise InputError(
                "The price of {agent} is not known, so that a budget cannot be kept. Enter it on the page Prices.",
                field="budget_usd",
                agent=agent,
            )


@dataclass
class BudgetTracker:
    """What the one process that works on an experiment may start.

    A turn is started only if what is on its way and this one fit into the budget, each with as many tokens as its
    reply may have.
    """

    budget: Decimal | None
    spent: Decimal
    rates: Mapping[int, Rate | None]
    reserved: Decimal = Decimal(0)

    @classmethod
    def build(cls, experiment: Experiment, agents: Sequence[Agent]) -> BudgetTracker:
        rates = {agent.pk: rate(agent) for agent in agents}
        return cls(experiment.budget_usd, queries.load_spending(experiment).usd, rates)

    def price(self, agent: Agent, input_tokens: int, output_tokens: int) -> Decimal:
        """The most that a turn costs; 0 where no price is known."""
        return compute_expected_cost(input_tokens, output_tokens, self.rates[agent.pk]) or Decimal(0)

    def reserve(self, amount: Decimal) -> bool:
        """Set aside what a turn may cost. False if the budget has no room for it."""
        if self.budget is not None and self.spent + self.reserved + amount > self.budget:
            return False
        self.reserved += amount
        return True

    def settle(self, amount: Decimal, cost: Decimal | None) -> None:
        """The turn came, or will not come (cost 0). An unknown cost is counted as what was set aside."""
        self.reserved -= amount
        self.spent += amount if cost is None else cost

    def find_reached(self, amount: Decimal) -> str:
        """That the budget leaves no room for another turn, in a sentence."""
        return say_reached("The experiment's budget", self.budget or Decimal(0), self.spent, amount, what="turn")
