"""Which of two judges is better? On the same items, from the same resamples, so that the difference is paired.

Two judges share the items, and with them most of what makes agreement vary. The interval of their difference
is therefore narrower than their own two intervals suggest: that these overlap says little. The best of several judges
is the best by chance as well: intervals of several differences hold together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from annotation.stats.against_group import minus
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import STUDENT, Basis, estimates
from annotation.stats.jackknife import find_scales
from annotation.stats.resampling import Replicates, Resampling
from annotation.stats.simultaneous import compute_differences, compute_order, level_of_each, list_pairs, rank_sets
from annotation.stats.table import FloatArray, RatingTable
from judging.stats import figures
from judging.stats.agreement import check_codes
from judging.stats.figures import RatersAgainstPeople


@dataclass(frozen=True)
class FigureDifference:
    """One figure of two judges on their common items, and the first minus the second."""

    a: Estimate
    b: Estimate
    difference: Estimate

    def to_json(self) -> dict[str, Any]:
        """The figure as JSON types."""
        return {"a": self.a.to_json(), "b": self.b.to_json(), "difference": self.difference.to_json()}


@dataclass(frozen=True)
class JudgeDifference:
    """Two judges on the ``n_items`` items that both scored, by the names of `judging.stats.figures.ALL`."""

    a: str
    b: str
    n_items: int
    figures: Mapping[str, FigureDifference]

    def to_json(self) -> dict[str, Any]:
        """The comparison as JSON types."""
        return {
            "a": self.a,
            "b": self.b,
            "n_items": self.n_items,
            "figures": {name: figure.to_json() for name, figure in self.figures.items()},
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

    The intervals of the differences of one figure hold together (`annotation.stats.simultaneous`).

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
    codes = {name: check_codes(said, people, name) for name, said in judges.items()}
    found, level = [], level_of_each(confidence, len(list_pairs(len(codes))))
    for a, b in combinations(codes, 2):
        both = np.column_stack([codes[a], codes[b]])
        held = RatersAgainstPeople.build(people, both, [a, b], bootstrap=bootstrap, confidence=confidence, seed=seed)
        found.append(JudgeDifference(a, b, len(held.codes), _compared(held, level)))
    return tuple(found)


def _compared(held: RatersAgainstPeople, level: float) -> dict[str, FigureDifference]:
    a, b = figures.build_figures(held, 0), figures.build_figures(held, 1)
    columns = [_estimates(replicates, held) for replicates in (a, b)]
    columns.append(_differences(minus(a, b), held, level, held.bases(), held.reasons()))
    return {name: FigureDifference(*row) for name, row in zip(figures.ALL, zip(*columns, strict=True), strict=True)}


def _estimates(replicates: Replicates, held: RatersAgainstPeople) -> list[Estimate]:
    bases, reasons = held.bases(), held.reasons()
    return estimates(
        replicates,
        held.resampling,
        [bases[name] for name in figures.ALL],
        [reasons[name] for name in figures.ALL],
        scale=figures.SCALES,
    )


def _differences(
    found: Replicates, held: RatersAgainstPeople, level: float, bases: Mapping[str, Basis], reasons: Mapping[str, str]
) -> list[Estimate]:
    """Differences with intervals at ``level``, which hold together with the stated confidence."""
    each = estimates(
        found,
        replace(held.resampling, confidence=level),
        [bases[name] for name in figures.ALL],
        [reasons[name] for name in figures.ALL],
        student=True,
    )
    return [replace(one, confidence=held.resampling.confidence) for one in each]


@dataclass(frozen=True)
class RankedJudge:
    """One of several judges: its figure, and the best and worst rank that the differences to the others allow."""

    name: str
    figure: Estimate
    best: int
    worst: int

    def to_json(self) -> dict[str, Any]:
        """The judge as JSON types."""
        return {"judge": self.name, "figure": self.figure.to_json(), "ranks": [self.best, self.worst]}


@dataclass(frozen=True)
class Ranking:
    """Judges on the items that all of them scored, the best first.

    Attributes
    ----------
    figure
        The name of the figure, one of `judging.stats.figures.MEANS`.
    n_items
        Items that all judges scored.
    judges
        In the order of their figures.
    differences
        By the names of two judges, the higher first: the first minus the second. All of these intervals hold together
        with the stated confidence.
    """

    figure: str
    n_items: int
    judges: tuple[RankedJudge, ...]
    differences: Mapping[tuple[str, str], Estimate]


def rank_judges(
    people: RatingTable,
    judges: Mapping[str, npt.ArrayLike],
    *,
    figure: str = "mean_cohen_kappa",
    bootstrap: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Ranking:
    """Which of several judges agrees most with people, as far as the data can tell?

    Parameters
    ----------
    people
        The annotators' ratings; its clusters are what is independent.
    judges
        By name, (n_items,) category of each item of ``people``, -1 without a verdict. Items that any judge left
        without one are left out.
    figure
        One of `judging.stats.figures.MEANS`.
    bootstrap, seed
        Of the interval of each judge's own figure, as in `annotation.stats.agreement.agreement`.
    confidence
        With which all intervals of differences, and all rank sets, hold at once.

    Raises
    ------
    ValueError
        If a judge's codes do not fit the table.
    """
    codes = {name: check_codes(said, people, name) for name, said in judges.items()}
    held = RatersAgainstPeople.build(
        people,
        np.column_stack(list(codes.values())),
        list(codes),
        bootstrap=bootstrap,
        confidence=confidence,
        seed=seed,
    )
    each = [_one_figure(held, judge, figure) for judge in range(len(codes))]
    values = np.array([one.value[0] for one in each])
    order, names = compute_order(values.tolist()), list(codes)
    values, names = values[order], [names[i] for i in order]
    basis, reason = held.bases()[figure], held.reasons()[figure]
    scale = find_scales([figure])
    own = [estimates(each[i], held.resampling, [basis], [reason], scale=scale)[0] for i in order]
    between = compute_simultaneous_differences(
        values, [each[i].left_out[:, 0] for i in order], held.resampling, basis, reason
    )
    ranks = rank_sets(np.array([one.low for one in between]), np.array([one.high for one in between]), len(names))
    return Ranking(
        figure,
        len(held.codes),
        tuple(RankedJudge(name, one, *rank) for name, one, rank in zip(names, own, ranks, strict=True)),
        {(names[i], names[j]): one for (i, j), one in zip(list_pairs(len(names)), between, strict=True)},
    )


def _one_figure(held: RatersAgainstPeople, judge: int, figure: str) -> Replicates:
    """One of the figures of `judging.stats.figures.MEANS` of a judge."""
    found, place = figures.means_over_annotators(held, judge), list(figures.MEANS).index(figure)
    one = slice(place, place + 1)
    return Replicates(found.value[one], found.bootstrap[:, one], found.left_out[:, one])


def compute_simultaneous_differences(
    values: FloatArray, left_out: Sequence[FloatArray], resampling: Resampling, basis: Basis, reason: str
) -> list[Estimate]:
    """Every value minus every later one, with intervals that hold together."""
    difference = compute_differences(values)
    without = compute_differences(np.column_stack(left_out))
    nothing = Replicates(difference, np.zeros((1, len(difference))), without)
    m = len(difference)
    at_level = replace(resampling, confidence=level_of_each(resampling.confidence, m))
    found = estimates(nothing, at_level, [basis] * m, [reason] * m, student=True)
    named = {STUDENT: "simultaneous t"}
    return [replace(one, confidence=resampling.confidence, method=named.get(one.method, one.method)) for one in found]
