"""A case of a benchmark as the statistics see it, and how shares of cases are told."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.stats.clustered import estimate_clustered_means
from annotation.stats.estimate import Estimate
from annotation.stats.table import BoolArray, FloatArray

TIERS = ("easy", "medium", "hard", "contested")
NO_CASES = "no case takes part"


@dataclass(frozen=True, slots=True)
class Case:
    """A question of a persona with two responses, and which of them people chose.

    Attributes
    ----------
    id
        The case's own name in the benchmark.
    persona
        Whose question it is; cases of one persona are resampled together. Empty where there is none.
    gold
        "1" or "2": the response chosen; empty where nobody knows.
    """

    id: str
    kind: str
    tier: str
    persona: str
    question: str
    response_1: str
    response_2: str
    gold: str

    @property
    def chosen(self) -> str:
        """The response that people chose; response 1 where nobody knows."""
        return self.response_2 if self.gold == "2" else self.response_1

    @property
    def rejected(self) -> str:
        """The response that people did not choose; response 2 where nobody knows."""
        return self.response_1 if self.gold == "2" else self.response_2

    @property
    def pair(self) -> tuple[str, str, str, str]:
        """The same for cases that ask the same persona about the same two responses, in whatever order."""
        first, second = sorted((self.response_1, self.response_2))
        return self.persona, self.question, first, second


@dataclass(frozen=True)
class Cell:
    """Cases that are told together: all, a tier, or a kind and tier."""

    kind: str
    tier: str
    members: BoolArray

    @property
    def label(self) -> str:
        """For example ``general hard``; ``all`` for all."""
        return " ".join(part for part in (self.kind, self.tier) if part) or "all"


def cells(cases: Sequence[Case]) -> Iterator[Cell]:
    """All cases, those of each tier, and those of each kind and tier where there are several kinds."""
    kinds, tiers = np.array([case.kind for case in cases]), np.array([case.tier for case in cases])
    yield Cell("", "", np.ones(len(cases), dtype=bool))
    found = [tier for tier in (*TIERS, "") if (tiers == tier).any()]
    yield from (Cell("", tier, np.asarray(tiers == tier)) for tier in found if tier)
    if len(set(kinds.tolist())) > 1:
        for kind in sorted(set(kinds.tolist())):
            for tier in found:
                members = np.asarray((kinds == kind) & (tiers == tier))
                if members.any():
                    yield Cell(kind or "(no kind)", tier or "(no tier)", members)


def shares(columns: Sequence[FloatArray], cases: Sequence[Case], *, bootstrap: int, seed: int) -> list[Estimate]:
    """The mean of each column (n,) of zeros, halves and ones, with an interval by persona; NaN takes no part.

    A case without a persona is a cluster of its own.
    """
    if not columns:
        return []
    clusters = [case.persona or f"case {case.id}" for case in cases]
    return estimate_clustered_means(
        np.column_stack(columns), clusters, bootstrap=bootstrap, seed=seed, reason=NO_CASES, scale="share"
    )


def column(cases: Sequence[Case], value: Callable[[Case], float]) -> FloatArray:
    """(n,) what `value` says of each case."""
    return np.array([value(case) for case in cases], dtype=float)
