"""Which of two judges is better? On the same items, from the same resamples, so that the difference is paired.

Two judges share the items, and with them most of what makes agreement vary. The interval of their difference
is therefore narrower than their own two intervals suggest: that these overlap says little.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from annotation.stats.against_group import minus
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import estimates
from annotation.stats.resampling import Replicates
from annotation.stats.table import RatingTable
from judging.stats import figures
from judging.stats.agreement import checked_codes
from judging.stats.figures import Held


@dataclass(frozen=True)
class Compared:
    """One figure of two judges on their common items, and the first minus the second."""

    a: Estimate
    b: Estimate
    difference: Estimate

    def as_json(self) -> dict[str, Any]:
        """The figure as JSON types."""
        return {"a": self.a.as_json(), "b": self.b.as_json(), "difference": self.difference.as_json()}


@dataclass(frozen=True)
class JudgeDifference:
    """Two judges on the ``n_items`` items that both scored, by the names of `judging.stats.figures.ALL`."""

    a: str
    b: str
    n_items: int
    figures: Mapping[str, Compared]

    def as_json(self) -> dict[str, Any]:
        """The comparison as JSON types."""
        return {
            "a": self.a,
            "b": self.b,
            "n_items": self.n_items,
            "figures": {name: figure.as_json() for name, figure in self.figures.items()},
        }


def compare_judges(
    people: RatingTable,
    judges: Mapping[str, npt.ArrayLike],
    *,
    bootstrap: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> tuple[JudgeDifference, ...]:
    """Every two judges, figure by figure.

    Parameters
    ----------
    people
        The annotators' ratings.
    judges
        By name, (n_items,) category of each item of ``people``, -1 without a verdict. Items that either of
        two judges left without one are left out of their comparison.
    bootstrap, confidence, seed
        As in `annotation.stats.agreement.agreement`.

    Raises
    ------
    ValueError
        If a judge's codes do not fit the table.
    """
    codes = {name: checked_codes(said, people, name) for name, said in judges.items()}
    found = []
    for a, b in combinations(codes, 2):
        both = np.column_stack([codes[a], codes[b]])
        held = Held.of(people, both, [a, b], bootstrap=bootstrap, confidence=confidence, seed=seed)
        found.append(JudgeDifference(a, b, len(held.codes), _compared(held)))
    return tuple(found)


def _compared(held: Held) -> dict[str, Compared]:
    a, b = figures.all_figures(held, 0), figures.all_figures(held, 1)
    columns = [_estimates(replicates, held) for replicates in (a, b, minus(a, b))]
    return {name: Compared(*row) for name, row in zip(figures.ALL, zip(*columns, strict=True), strict=True)}


def _estimates(replicates: Replicates, held: Held) -> list[Estimate]:
    bases, reasons = held.bases(), held.reasons()
    return estimates(
        replicates, held.resampling, [bases[name] for name in figures.ALL], [reasons[name] for name in figures.ALL]
    )
