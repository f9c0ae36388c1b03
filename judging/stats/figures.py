"""What a rater is measured by against a group of people. The same measures serve the judge and, as the human
ceiling, each annotator against the others.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from annotation.stats import cohen
from annotation.stats.against_group import OF_ITEMS, VERSUS_MAJORITY, VERSUS_MEAN, compute_item_figures
from annotation.stats.annotators import drop_rater
from annotation.stats.arrays import ratio
from annotation.stats.distinct import Distinct, distinct_items
from annotation.stats.intervals import Basis
from annotation.stats.jackknife import find_scales
from annotation.stats.majority import majority
from annotation.stats.pairs import NO_ORDER, count_basis
from annotation.stats.resampling import Replicates, Resampling, side_by_side
from annotation.stats.table import MISSING, NO_SCORES, FloatArray, IntArray, RatingTable

MEANS = {
    "mean_cohen_kappa": "cohen_kappa",
    "mean_weighted_cohen_kappa": "weighted_cohen_kappa",
    "mean_linear_cohen_kappa": "linear_cohen_kappa",
    "percent_agreement": "percent_agreement",
}
"""Means over annotators, by the figure of each pair."""

ALL = (*MEANS, *OF_ITEMS)
"""Every figure, in the order of `build_figures`."""

SCALES = find_scales(ALL)
"""Where the interval of each figure of `ALL` is symmetric."""


@dataclass(frozen=True, eq=False)
class RatersAgainstPeople:
    """Some raters held to people, on the items that all of them scored.

    Attributes
    ----------
    people
        The annotators' ratings of those items; says what a figure rests on.
    codes
        (n_items, j) what the j raters said, nothing missing.
    distinct
        One row for each way to rate an item, the j raters before the annotators.
    resampling
        Of these rows.
    scores
        (n_items,) scores of the first rater in units of the scale, which its correlations and errors read instead of
        its codes; every item is then a row of its own. None where the codes say all.
    is_rated
        Whether the annotators rated any item at all, scored or not.
    """

    people: RatingTable
    codes: IntArray
    distinct: RatingTable
    resampling: Resampling
    scores: FloatArray | None = None
    is_rated: bool = True

    @classmethod
    def build(
        cls,
        people: RatingTable,
        codes: IntArray,
        names: Sequence[str],
        *,
        bootstrap: int,
        confidence: float,
        seed: int,
        scores: FloatArray | None = None,
    ) -> "RatersAgainstPeople":
        """The raters with the given ``codes`` (n_items, j), -1 where an item has no score."""
        scored = (codes != MISSING).all(axis=1)
        kept, said = people.subset_items(scored), codes[scored]
        labels = [name if name not in people.raters else f"{name} (judge)" for name in names]
        together = replace(kept, codes=np.hstack([said, kept.codes]), raters=(*labels, *people.raters))
        distinct = (
            distinct_items(together) if scores is None else Distinct(together, np.ones(len(said), dtype=np.int64))
        )
        resampling = Resampling.from_table(
            distinct.table, bootstrap=bootstrap, confidence=confidence, seed=seed, copies=distinct.copies
        )
        own = None if scores is None else scores[scored]
        return cls(kept, said, distinct.table, resampling, own, is_rated=people.n_ratings > 0)

    @cached_property
    def people_alone(self) -> "RatersAgainstPeople":
        """The people without the raters that are held to them, drawn as `annotation.stats.agreement` draws them.

        What people reach among themselves has then one interval, whoever is held to it. Items in clusters are drawn
        alike in either case.
        """
        if self.people.clusters is not None or not self.people.n_items:
            return self
        distinct = distinct_items(self.people)
        resampling = Resampling.from_table(
            distinct.table,
            bootstrap=self.resampling.n_replicates,
            confidence=self.resampling.confidence,
            seed=self.resampling.seed,
            copies=distinct.copies,
        )
        return RatersAgainstPeople(self.people, self.codes[:, :0], distinct.table, resampling, is_rated=self.is_rated)

    @property
    def n_judges(self) -> int:
        """j, the number of raters that are held to the people."""
        return len(self.codes.T)

    @property
    def distinct_people(self) -> RatingTable:
        """The annotators' columns of the distinct rows."""
        codes = self.distinct.codes[:, self.n_judges :]
        return replace(self.distinct, codes=codes, raters=self.people.raters)

    @property
    def together(self) -> RatingTable:
        """All items with all columns: the raters, then the annotators."""
        codes = np.hstack([self.codes, self.people.codes])
        return replace(self.people, codes=codes, raters=self.distinct.raters)

    @property
    def columns_of_people(self) -> list[int]:
        """Columns of `together` that hold annotators with ratings."""
        rated = (self.people.codes != MISSING).any(axis=0)
        return (np.flatnonzero(rated) + self.n_judges).tolist()

    @property
    def common_items(self) -> IntArray:
        """(annotators,) items that each annotator and somebody else rated."""
        rated = (self.people.codes != MISSING) & self.people.pairable[:, None]
        n: IntArray = rated.sum(axis=0)
        return n

    @property
    def overlap(self) -> Basis:
        """Items that the raters and at least one annotator rated."""
        return count_basis(self.people, self.people.ratings_per_item > 0)

    @property
    def decided(self) -> Basis:
        """Items with a majority among the annotators."""
        return count_basis(self.people, majority(self.people).codes != MISSING)

    @property
    def reason(self) -> str:
        """Why nothing can be compared."""
        if not self.is_rated:
            return "no annotator has rated an item"
        if not len(self.codes):
            return "the judge scored no item" if self.n_judges == 1 else "no item that all of these judges scored"
        return "one category used" if self.people.n_ratings else "no annotator rated an item that the judge scored"

    def reasons(self) -> dict[str, str]:
        """Why each figure of `ALL` is undefined, where it is."""
        tied = self.people.n_ratings and not self.decided.n_items
        majority_reason = "people are tied on every item that the judge scored" if tied else self.reason
        constant = "the judge's scores or the people's means do not vary" if self.people.n_ratings else self.reason
        found = dict.fromkeys(MEANS, self.reason) | dict.fromkeys(VERSUS_MAJORITY, majority_reason)
        found |= dict.fromkeys(VERSUS_MEAN, constant)
        found |= dict.fromkeys(("mae", "within_one", "bias"), self.reason)
        if not self.people.has_scores:
            found |= dict.fromkeys(VERSUS_MEAN, NO_SCORES[self.people.level])
        if self.people.level == "nominal":
            found |= {name: NO_ORDER for name in found if "weighted" in name or "linear" in name}
        return found

    def bases(self) -> dict[str, Basis]:
        """What each figure of `ALL` rests on."""
        of_means, of_majority = self.overlap, self.decided
        return {name: of_majority if name in VERSUS_MAJORITY else of_means for name in ALL}


def means_over_annotators(held: RatersAgainstPeople, judge: int) -> Replicates:
    """The figures of `MEANS` of one of the raters, against each annotator."""
    pairs = [(judge, column) for column in held.columns_of_people]
    return mean_over_pairs(held, pairs)


def mean_over_pairs(held: RatersAgainstPeople, pairs: Sequence[cohen.Pair]) -> Replicates:
    """The figures of `MEANS` averaged over pairs of columns."""
    joint = cohen.joint_counts(held.distinct.codes, held.resampling.copies_of_items)
    member, start = cohen.everyone_and_each(pairs, (), joint), 0
    running = cohen.RunningMeans(1)
    for block, replicates in cohen.pair_blocks(held.distinct, pairs, held.resampling):
        running.add(replicates, member[start : start + len(block)])
        start += len(block)
    return compute_means(running.means()[0])


def compute_means(means: Replicates) -> Replicates:
    """The figures of `MEANS` out of those of `annotation.stats.cohen.KINDS`."""
    places = [cohen.KINDS.index(kind) for kind in MEANS.values()]
    return means.select(places)


def build_figures(held: RatersAgainstPeople, judge: int) -> Replicates:
    """The figures of `ALL` of one of the raters."""
    codes = held.distinct.codes[:, judge]
    scores = held.scores if judge == 0 else None
    items = compute_item_figures(held.distinct_people, codes, held.resampling, scores)
    return side_by_side([_like(means_over_annotators(held, judge), items), items])


def human_ceiling(held: RatersAgainstPeople) -> Replicates:
    """The figures of `ALL` of people: means over pairs of annotators, and each annotator against the others.

    An annotator is held to the majority and the mean of the *other* annotators, who are one fewer than those
    that the judge is held to; the mean over annotators is what the judge's figure can be read against.
    """
    pairs = [(a + held.n_judges, b + held.n_judges) for a, b in cohen.rater_pairs(held.people)]
    items = _mean(_each_against_the_rest(held))
    return side_by_side([_like(mean_over_pairs(held, pairs), items), items])


def count_ceiling_bases(held: RatersAgainstPeople) -> dict[str, Basis]:
    """What each figure of `human_ceiling` rests on: the items on which it could be asked of some annotator."""
    people = held.people
    paired, decided = count_basis(people, people.pairable), np.zeros(people.n_items, dtype=bool)
    for column, codes in enumerate(people.codes.T):
        rated = codes != MISSING
        if rated.any():
            decided |= rated & (majority(drop_rater(people, column)).codes != MISSING)
    return {name: count_basis(people, decided) if name in VERSUS_MAJORITY else paired for name in ALL}


def _each_against_the_rest(held: RatersAgainstPeople) -> Iterable[Replicates]:
    people = held.distinct_people
    for column in np.flatnonzero(cohen.enough(held.common_items)).tolist():
        yield compute_item_figures(drop_rater(people, column), people.codes[:, column], held.resampling)


def _mean(parts: Iterable[Replicates]) -> Replicates:
    """Means of several replicates, value by value, without what is undefined."""
    names = ("value", "bootstrap", "left_out", "weight")
    total: dict[str, FloatArray] = {}
    n: dict[str, FloatArray] = {}
    for part in parts:
        for name in names:
            values: FloatArray | None = getattr(part, name)
            if values is not None:
                total[name] = total.get(name, 0.0) + np.nan_to_num(values)
                n[name] = n.get(name, 0.0) + ~np.isnan(values)
    if not total:
        nothing = np.empty((0, len(OF_ITEMS)))
        return Replicates(np.full(len(OF_ITEMS), np.nan), nothing, nothing)
    return Replicates(**{name: ratio(total[name], n[name]) for name in total})


def _like(part: Replicates, other: Replicates) -> Replicates:
    """``part`` with as many replicates as ``other``: NaN where there was no pair to compute any from."""
    m = len(part.value)
    return Replicates(
        part.value,
        part.bootstrap if len(part.bootstrap) == len(other.bootstrap) else np.full((len(other.bootstrap), m), np.nan),
        part.left_out if len(part.left_out) == len(other.left_out) else np.full((len(other.left_out), m), np.nan),
        part.weight,
    )
