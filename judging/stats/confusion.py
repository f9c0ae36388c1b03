"""What the judge said against what most people said, as a table of counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.stats.labels import Label
from annotation.stats.majority import Majority
from annotation.stats.table import MISSING, BoolArray, IntArray


@dataclass(frozen=True)
class Confusion:
    """Counts of items by the judge's category and the people's majority.

    Attributes
    ----------
    categories
        The q categories of both sides, in scale order.
    counts
        q rows (judge) of q columns (majority): items where both have a category.
    unscored
        Per majority category: items on which the judge gave no usable verdict.
    tied
        Per judge category: items on which people are tied.
    """

    categories: tuple[Label, ...]
    counts: tuple[tuple[int, ...], ...]
    unscored: tuple[int, ...]
    tied: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """The table as JSON types; it says itself what its rows and columns are."""
        return {
            "rows": "judge",
            "columns": "majority",
            "categories": list(self.categories),
            "counts": [list(row) for row in self.counts],
            "unscored": list(self.unscored),
            "tied": list(self.tied),
        }


def confusion(judge: IntArray, people: Majority, unscored: BoolArray, categories: Sequence[Label]) -> Confusion:
    """Cross the judge's codes (n_items,) with the majority; ties and missing verdicts are counted apart.

    ``unscored`` (n_items,) marks replies without a usable verdict; an item that the judge was never given is
    neither scored nor unscored and appears nowhere.
    """
    q = len(categories)
    scored = judge != MISSING
    decided = people.codes != MISSING
    both = scored & decided
    cells = np.bincount(judge[both] * q + people.codes[both], minlength=q * q).reshape(q, q)
    return Confusion(
        categories=tuple(categories),
        counts=tuple(tuple(row) for row in cells.tolist()),
        unscored=_tally(people.codes[unscored & decided], q),
        tied=_tally(judge[scored & people.tied], q),
    )


def _tally(codes: IntArray, q: int) -> tuple[int, ...]:
    return tuple(np.bincount(codes, minlength=q).tolist())
