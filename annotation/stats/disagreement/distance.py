"""How far somebody's answers are from the distribution of people's, beside a fresh person in the same place.

Each of an item's people is left out in turn. The others' answers, with one imagined answer from the study's shares, are
the distribution to be met: by the judge, and by the person left out. The mean of the latter is the ceiling.

Jensen-Shannon divergence in bits, 0 to 1 (Lin 1991, IEEE Transactions on Information Theory 37:145-151); cross-entropy
in bits, what is told mixed with a tenth of the study's shares; on ordered scales the earth mover's distance, 0 to 1.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy

from annotation.stats.clustered import estimate_clustered_means
from annotation.stats.difficulty.components import is_unordered
from annotation.stats.estimate import Estimate
from annotation.stats.result_types import DistanceDocument
from annotation.stats.table import MISSING, FloatArray, RatingTable
from annotation.stats.weighting import positions

IMAGINED = 1.0
"""Answers from the study's shares that every item's others get."""

MIXED = 0.1
"""Of the study's shares in what somebody tells, for the cross-entropy: keeps it finite."""

NOTHING = "no item with two people and a verdict"


@dataclass(frozen=True, eq=False)
class Distances:
    """Distances of a judge and of a person left out, on the same items.

    Attributes
    ----------
    items
        By measure, (n,) the judge's distance on each item; NaN without two people or a verdict.
    judge, person, difference
        By measure, means over the items; differences are of the judge to the person, above 0 where people are nearer.
    """

    items: Mapping[str, FloatArray]
    judge: Mapping[str, Estimate]
    person: Mapping[str, Estimate]
    difference: Mapping[str, Estimate]

    def to_json(self) -> dict[str, DistanceDocument]:
        """The means as JSON types, by measure."""
        return {
            name: {
                "judge": judge.to_json(),
                "person": self.person[name].to_json(),
                "difference": self.difference[name].to_json(),
            }
            for name, judge in self.judge.items()
        }


def distances(table: RatingTable, told: FloatArray, *, bootstrap: int = 2000, seed: int = 0) -> Distances:
    """Distances of what a judge told of the items of a table of people's ratings.

    Parameters
    ----------
    told
        (n, q) the judge's distribution over the categories; a verdict alone is 1 on its category. NaN without one.
    bootstrap, seed
        Of the intervals, which resample clusters.

    Raises
    ------
    ValueError
        If the shape is not that of the table.
    """
    if told.shape != table.counts.shape:
        raise ValueError(f"the judge tells {told.shape} shares, the table has {table.counts.shape}")
    shares = (table.counts.sum(axis=0) + 0.5) / (table.n_ratings + 0.5 * table.n_categories)
    rows, columns = np.nonzero(table.codes != MISSING)
    kept = (table.ratings_per_item[rows] > 1) & ~np.isnan(told[rows]).any(axis=1)
    rows, columns = rows[kept], columns[kept]
    said = np.eye(table.n_categories)[table.codes[rows, columns]]
    others = table.counts[rows] - said + IMAGINED * shares
    others /= others.sum(axis=1, keepdims=True)
    both = {name: _of_both(name, others, said, told[rows], shares, table) for name in measures(table)}
    n = table.n_items
    size = np.bincount(rows, minlength=n)

    def by_item(values: FloatArray) -> FloatArray:
        with np.errstate(invalid="ignore"):
            return np.asarray(np.bincount(rows, values, n) / size)

    judge = {name: by_item(values[0]) for name, values in both.items()}
    person = {name: by_item(values[1]) for name, values in both.items()}
    columns_of = [column for name in both for column in (judge[name], person[name], judge[name] - person[name])]
    means = estimate_clustered_means(
        np.column_stack(columns_of), table.clusters or table.items, bootstrap=bootstrap, seed=seed, reason=NOTHING,
        weights=table.weights,
    )  # fmt: skip
    names = list(both)
    parts = [dict(zip(names, means[start::3], strict=True)) for start in range(3)]
    return Distances(judge, *parts)


def measures(table: RatingTable) -> tuple[str, ...]:
    """Names of the distances that the scale allows."""
    plain = ("jensen_shannon", "cross_entropy")
    return plain if is_unordered(table) else (*plain, "earth_mover")


def _of_both(
    name: str, others: FloatArray, said: FloatArray, told: FloatArray, shares: FloatArray, table: RatingTable
) -> tuple[FloatArray, FloatArray]:
    if name == "jensen_shannon":
        return jensen_shannon(told, others), jensen_shannon(said, others)
    if name == "cross_entropy":
        return cross_entropy(others, _mixed(told, shares)), cross_entropy(others, _mixed(said, shares))
    places = positions(table)
    return earth_mover(told, others, places), earth_mover(said, others, places)


def _mixed(told: FloatArray, shares: FloatArray) -> FloatArray:
    return (1 - MIXED) * told + MIXED * shares


def jensen_shannon(p: FloatArray, q: FloatArray) -> FloatArray:
    """(n,) divergences in bits of distributions (n, q)."""
    middle = (p + q) / 2
    nats = (scipy.special.rel_entr(p, middle) + scipy.special.rel_entr(q, middle)).sum(axis=1) / 2
    return np.asarray(nats / np.log(2))


def cross_entropy(truth: FloatArray, told: FloatArray) -> FloatArray:
    """(n,) expected bits of answers drawn by ``truth`` (n, q) in a code made for ``told``."""
    return np.asarray(-(truth * np.log2(told)).sum(axis=1))


def earth_mover(p: FloatArray, q: FloatArray, places: FloatArray) -> FloatArray:
    """(n,) mean way between distributions (n, q) over the length of the scale, categories at ``places`` (q,)."""
    order = np.argsort(places)
    apart = np.abs(np.cumsum((p - q)[:, order], axis=1))[:, :-1]
    return np.asarray(apart @ np.diff(places[order]) / max(float(np.ptp(places)), 1e-12))
