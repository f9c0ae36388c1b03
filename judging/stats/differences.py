"""Which of two judges is better? On the same items, from the same resamples, so that the difference is paired.

Two judges share the items, and with them most of what makes agreement vary. The interval of their difference
is therefore narrower than their own two intervals suggest: that these overlap says little. The best of several judges
is the best by chance as well: intervals of several differences hold together.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from annotation.stats.against_group import minus
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import STUDENT, Basis, estimates
from annotation.stats.jackknife import find_scales
from annotation.stats.resampling import Replicates, Resampling
from annotation.stats.simultaneous import compute_differences, compute_order, level_of_each, list_pairs, rank_sets
from annotation.stats.table import MISSING, FloatArray, RatingTable
from judging.stats import figures
from judging.stats.agreement import check_codes
from judging.stats.figures import RatersAgainstPeople
from judging.stats.result_types import FigureDifferenceDocument, JudgeDifferenceDocument, RankedJudgeDocument


@dataclass(frozen=True)
class FigureDifference:
    """One figure of two judges on their common items, and the first minus the second."""

    a: Estimate
    b: Estimate
    difference: Estimate

    def to_json(self) -> FigureDifferenceDocument:
        """The figure as JSON types."""
        return {"a": self.a.to_json(), "b": self.b.to_json(), "difference": self.difference.to_json()}


@dataclass(frozen=True)
class JudgeDifference:
    """Two judges on the ``n_items`` items that both scored, by the names of figures."""

    a: str
    b: str
    n_items: int
    figures: Mapping[str, FigureDifference]

    def to_json(self) -> JudgeDifferenceDocument:
        """The comparison as JSON types."""
        return {
            "a": self.a,
            "b": self.b,
            "n_items": self.n_items,
            "figures": {name: figure.to_json() for name, figure in self.figures.items()},
        }


BuildFigures = Callable[[RatersAgainstPeople, int], Replicates]
"""What computes some figures of one of the raters."""


def compare_judges(
    people: RatingTable,
    judges: Mapping[str, npt.ArrayLike],
    *,
    most: int | None = None,
    bootstrap: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
    build: BuildFigures = figures.build_figures,
    names: Sequence[str] = figures.ALL,
) -> tuple[JudgeDifference, ...]:
    """Every two judges, figure by figure.

    The intervals of the differences of one figure hold together (`annotation.stats.simultaneous`): those of every two
    judges with a verdict on a rated item, also where only some are told.

    Parameters
    ----------
    people
        The annotators' ratings.
    judges
        By name, (n_items,) category of each item of ``people``, -1 without a verdict. Items that either of
        two judges left without one are left out of their comparison.
    most
        Tell only of the first so many judges.
    bootstrap, confidence, seed
        As in `annotation.stats.agreement.agreement`.
    build, names
        What computes the figures of one judge, and what they are called.

    Raises
    ------
    ValueError
        If a judge's codes do not fit the table.
    """
    codes = {name: check_codes(said, people, name) for name, said in judges.items()}
    rated = people.ratings_per_item > 0
    speaking = sum(bool((one[rated] != MISSING).any()) for one in codes.values())
    found, level = [], level_of_each(confidence, len(list_pairs(speaking)))
    for a, b in combinations(list(codes)[:most], 2):
        both = np.column_stack([codes[a], codes[b]])
        held = RatersAgainstPeople.build(people, both, [a, b], bootstrap=bootstrap, confidence=confidence, seed=seed)
        compared = _compared(held, build(held, 0), build(held, 1), names, level)
        found.append(JudgeDifference(a, b, len(held.codes), compared))
    return tuple(found)


def _compared(
    held: RatersAgainstPeople, a: Replicates, b: Replicates, names: Sequence[str], level: float
) -> dict[str, FigureDifference]:
    columns = [*(_estimates(one, held, names) for one in (a, b)), _differences(minus(a, b), held, names, level)]
    return {name: FigureDifference(*row) for name, row in zip(names, zip(*columns, strict=True), strict=True)}


def _estimates(replicates: Replicates, held: RatersAgainstPeople, names: Sequence[str]) -> list[Estimate]:
    bases, reasons = held.bases(), held.reasons()
    return estimates(
        replicates,
        held.resampling,
        [bases[name] for name in names],
        [reasons[name] for name in names],
        scale=find_scales(names),
    )


def _differences(found: Replicates, held: RatersAgainstPeople, names: Sequence[str], level: float) -> list[Estimate]:
    """Differences with intervals at ``level``, which hold together with the stated confidence."""
    bases, reasons = held.bases(), held.reasons()
    each = estimates(
        found,
        replace(held.resampling, confidence=level),
        [bases[name] for name in names],
        [reasons[name] for name in names],
        student=True,
    )
    return [replace(one, confidence=held.resampling.confidence) for one in each]


@dataclass(frozen=True)
class RankedJudge:
    """One of several judges: its figure on the items that it scored, and the best and worst rank that the differences
    to the others allow.
    """

    name: str
    figure: Estimate
    best: int
    worst: int

    def to_json(self) -> RankedJudgeDocument:
        """The judge as JSON types."""
        return {"judge": self.name, "figure": self.figure.to_json(), "ranks": [self.best, self.worst]}


@dataclass(frozen=True)
class Ranking:
    """Judges held to people, first the one that agrees most with them.

    Attributes
    ----------
    figure
        The name of the figure, one of `judging.stats.figures.MEANS`.
    judges
        In the order of the means of their differences to the others.
    pairs
        By the names of two judges, the one that stands first before the other: both on the items that both scored, and
        the first minus the second. All of these intervals hold together with the stated confidence.
    """

    figure: str
    judges: tuple[RankedJudge, ...]
    pairs: Mapping[tuple[str, str], JudgeDifference]

    @property
    def differences(self) -> dict[tuple[str, str], Estimate]:
        """The differences alone, by the same names."""
        return {names: pair.figures[self.figure].difference for names, pair in self.pairs.items()}


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
        By name, (n_items,) category of each item of ``people``, -1 without a verdict. Every two are compared as by
        `compare_judges`.
    figure
        One of `judging.stats.figures.MEANS`.
    bootstrap, seed
        Of the intervals of the judges' own figures, as in `annotation.stats.agreement.agreement`.
    confidence
        With which all intervals of differences, and all rank sets, hold at once.

    Raises
    ------
    ValueError
        If a judge's codes do not fit the table.
    """
    build, names = figures.means_over_annotators, tuple(figures.MEANS)
    found = compare_judges(
        people, judges, bootstrap=bootstrap, confidence=confidence, seed=seed, build=build, names=names
    )
    by_names = {(one.a, one.b): one for one in found} | {(one.b, one.a): _turn(one) for one in found}
    order = _sort_judges(list(judges), by_names, figure)
    pairs = {(a, b): by_names[a, b] for a, b in combinations(order, 2)}
    between = [one.figures[figure].difference for one in pairs.values()]
    ranks = rank_sets(np.array([one.low for one in between]), np.array([one.high for one in between]), len(order))
    ranked = []
    for name, rank in zip(order, ranks, strict=True):
        held = RatersAgainstPeople.build(
            people, np.asarray(judges[name])[:, None], [name], bootstrap=bootstrap, confidence=confidence, seed=seed
        )
        own = dict(zip(names, _estimates(build(held, 0), held, names), strict=True))
        ranked.append(RankedJudge(name, own[figure], *rank))
    return Ranking(figure, tuple(ranked), pairs)


def _turn(one: JudgeDifference) -> JudgeDifference:
    """The same with the second judge before the first."""
    turned = {
        name: FigureDifference(
            found.b,
            found.a,
            replace(
                found.difference,
                value=-found.difference.value,
                low=-found.difference.high,
                high=-found.difference.low,
            ),
        )
        for name, found in one.figures.items()
    }
    return JudgeDifference(one.b, one.a, one.n_items, turned)


def _sort_judges(names: Sequence[str], pairs: Mapping[tuple[str, str], JudgeDifference], figure: str) -> list[str]:
    """By the mean of a judge's differences to the others, the highest first; those with none last.

    Where all judges scored the same items, that is the order of their figures. Elsewhere it compares them on items that
    they share, so that nobody comes first by having scored only the easy ones.
    """
    means = []
    for name in names:
        known = [pairs[name, other].figures[figure].difference.value for other in names if other != name]
        known = [value for value in known if not np.isnan(value)]
        means.append(sum(known) / len(known) if known else np.nan)
    return [names[place] for place in compute_order(means)]


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
