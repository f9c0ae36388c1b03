"""What a design says of items: which stand together, within which strata they were drawn, and what each stands for.

Pure: labels and weights in, labels and weights out. A cluster column may have gaps; a weight may not.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotation.stats.result_types import DependenceDocument
from annotation.stats.table import FloatArray, RatingTable
from annotation.stats.warnings import StatWarning

EXTREME = 1e6
"""Largest over smallest weight from which on one item outweighs a study."""

LEAST_UNITS = 10
"""Units that each stratum needs to be kept in size: a bootstrap within n units has (n - 1) / n of the variance."""

ALONE = "item "
"""Stands before the name of an item that is in no cluster."""


@dataclass(frozen=True)
class Design:
    """What a table's clusters, strata and weights are, in words.

    Attributes
    ----------
    by
        What the items of one cluster share; empty where each item stands alone.
    within
        What the items of one stratum share; empty without strata.
    weighted
        What items are weighted by; empty without weights.
    alone
        How many items name no cluster.
    part
        What of an item each row of the table is, a turn or a response; empty where it is the item.
    """

    by: str = ""
    within: str = ""
    weighted: str = ""
    alone: int = 0
    part: str = ""

    def to_json(self, table: RatingTable, *, has_intervals: bool = True) -> DependenceDocument:
        """How a table's intervals are made, or that there are none: numbers, and one sentence."""
        clusters = None if table.clusters is None else len(set(table.clusters))
        return {
            "clusters": clusters,
            "by": self.by if clusters else None,
            "strata": None if table.strata is None else len(set(table.strata)),
            "within": self.within if table.strata is not None else None,
            "weighted": table.weights is not None,
            "alone": self.alone,
            "message": self.describe(table, has_intervals=has_intervals),
        }

    def describe(self, table: RatingTable, *, has_intervals: bool = True) -> str:
        """One sentence on how a table's intervals are made, or that there are none."""
        if not has_intervals:
            said = "There are no intervals by resampling"
        elif table.clusters is None:
            said = "Intervals treat items as independent"
        else:
            n = len(set(table.clusters))
            said = f"Intervals treat clusters as independent ({n:,} {plural(self.by, n)})"
        if table.strata is not None and has_intervals:
            said += f", each {self.within} keeping its number"
        if table.weights is not None:
            said += f"; items weighted by {self.weighted}"
        return f"{self.describe_rows()}{said}."

    def describe_rows(self) -> str:
        """A sentence where the rows of a table are no items; empty where they are."""
        return f"Each {self.part} counts by itself. " if self.part else ""


INDEPENDENT = Design()
"""Items one by one, each of the same weight."""


def plural(name: str, n: int) -> str:
    """A grouping's name for n of them: profiles, queries, batches, profiles or questions."""
    words = (name or "item").replace("_", " ").split(" or ")
    return " or ".join(words if n == 1 else map(_plural_of, words))


def _plural_of(word: str) -> str:
    if word.endswith("s"):
        return word
    if word.endswith(("ch", "sh", "x", "z")):
        return f"{word}es"
    return re.sub(r"(?<=[^aeiou])y$", "ie", word) + "s"


def fill_gaps(labels: Sequence[str | None], items: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """Clusters in which an item without a label stands alone, and how many such items there are."""
    filled = tuple(label or f"{ALONE}{item}" for label, item in zip(labels, items, strict=True))
    return filled, sum(not label for label in labels)


def find_bad_weight(weights: FloatArray) -> int | None:
    """Place of the first weight that is not a positive finite number; None where all are."""
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
    return int(bad[0]) if bad.size else None


def drop_useless(table: RatingTable) -> RatingTable:
    """The table without clusters of one item each, and without weights that are all the same."""
    single = table.clusters is not None and len(set(table.clusters)) == table.n_items
    equal = table.weights is not None and (not table.n_items or np.ptp(table.weights) == 0)
    return replace(table, clusters=None if single else table.clusters, weights=None if equal else table.weights)


def can_keep_strata(strata: Sequence[str], units: Sequence[str]) -> bool:
    """Whether no unit lies in two strata, and each of two strata or more has at least `LEAST_UNITS` units."""
    of_stratum: dict[str, set[str]] = defaultdict(set)
    for stratum, unit in zip(strata, units, strict=True):
        of_stratum[stratum].add(unit)
    total = sum(map(len, of_stratum.values()))
    nested = total == len(set(units))
    return nested and len(of_stratum) > 1 and all(len(one) >= LEAST_UNITS for one in of_stratum.values())


def design_warnings(design: Design, weights: FloatArray | None) -> list[StatWarning]:
    """What to know of a cluster column with gaps, and of weights that lie far apart."""
    found = []
    if design.alone:
        message = f"{design.alone:,} items name no {design.by.replace('_', ' ')}: each stands alone in the intervals."
        found.append(StatWarning("cluster_gaps", message))
    if weights is not None and weights.size and weights.max() > EXTREME * weights.min():
        message = f"The largest weight is {weights.max() / weights.min():,.0f} times the smallest"
        found.append(StatWarning("extreme_weights", f"{message}: a few items decide every weighted figure."))
    return found
