"""The protocol of scorers."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judging.judges.providers.base import Usage
from judging.judges.providers.keys import ENVIRONMENT, Keyring

if TYPE_CHECKING:
    from judging.judges.providers.scorer import ScorerParameters


@dataclass(frozen=True, slots=True)
class Score:
    """How good one response is for the person, the higher the better; NaN, with the reason, where nobody can say."""

    value: float
    reason: str = ""
    usage: Usage | None = None

    def explain(self) -> str:
        """Why there is no number."""
        if self.reason:
            return self.reason
        return "the scorer gave NaN." if math.isnan(self.value) else f"the scorer gave {self.value}."


class Scorer(ABC):
    """Scores one response by itself. Made with the name it goes by, the judge's parameters and the project's keys."""

    is_asked = False
    """Whether somebody else is asked, so that answers are worth keeping."""

    def __init__(self, name: str, parameters: ScorerParameters, keys: Keyring = ENVIRONMENT) -> None:
        self.name, self.parameters, self.keys = name, parameters, keys

    def problems(self) -> list[str]:
        """What stands in the way of scoring, in sentences."""
        return []

    @abstractmethod
    async def score(self, persona: str, question: str, response: str, *, seed: int = 0) -> Score:
        """The score of a response. `persona` is what may be known of the person, perhaps nothing.

        Raises TransientError or PermanentError where there is no answer at all.
        """

    async def aclose(self) -> None:  # noqa: B027 — most scorers hold nothing open
        """Let go of connections."""


def to_score(value: object) -> Score:
    """A number as a score; NaN with the reason for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Score(math.nan, f"{type(value).__name__} {str(value)[:80]!r} is not a number.")
    return Score(float(value))
