"""A judge whose verdicts were drawn beforehand: it shows what results of a good judge look like, and reads nothing.

Never to be taken for a model. `judging.judges.services.simulated` draws its chances from stated levels.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from annotation.stats.orders import to_place
from judging.judges.providers import base
from judging.judges.providers.base import Reply
from judging.judges.providers.requests import CriterionSpec, JudgeRequest


class SimulatedParameters(base.Parameters):
    """`chances` by criterion and item id: the probability of each value. A preference names responses."""

    chances: dict[str, dict[str, dict[str, float]]] = Field(default_factory=dict)


class Simulated(base.Provider):
    Parameters = SimulatedParameters

    def check(self, criteria: Sequence[CriterionSpec]) -> list[str]:
        missing = [criterion.key for criterion in criteria if criterion.key not in self.parameters.chances]
        return [f"nothing was drawn for {', '.join(missing)}"] if missing else []

    async def judge(self, request: JudgeRequest) -> Reply:
        drawn = self.parameters.chances[request.criterion.key].get(request.item)
        if drawn is None:
            return Reply(unscored="nothing_to_measure", explanation="Simulated: nothing was drawn for this item.")
        asked = request.criterion.values
        shown = {value if value in asked else to_place(value, request.order): chance for value, chance in drawn.items()}
        return Reply(
            value=max(shown, key=shown.__getitem__),
            distribution=shown,
            explanation="Simulated, no model: drawn from the level that the item was written to have.",
        )
