"""What of an annotator a page of all annotators shows: agreement with the others' majority, and careless answers.

`annotation.stats.annotators` says more of each one, above all how they agree with every single other annotator; with
sixty of them that is 1,770 pairs with intervals. Here everybody is compared with one column: what the others say.
"""

from dataclasses import dataclass

import numpy as np

from annotation.stats import cohen
from annotation.stats.annotators import UNLIKELY, find_inverted_raters, longest_run
from annotation.stats.distinct import distinct_items
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import Basis, estimates
from annotation.stats.majority import compute_majority
from annotation.stats.resampling import Resampling, replicate
from annotation.stats.table import MISSING, BoolArray, IntArray, RatingTable
from annotation.stats.warnings import ENOUGH_TO_COMPARE

KAPPA = cohen.KINDS.index("cohen_kappa")


@dataclass(frozen=True)
class AnnotatorSigns:
    """One annotator.

    Attributes
    ----------
    annotator
        Name.
    n_ratings
        Ratings given.
    kappa
        Cohen's kappa with the majority of the others, where these have one.
    inverted, constant, straight_lining
        As in `annotation.stats.annotators.AnnotatorProfile`.
    """

    annotator: str
    n_ratings: int
    kappa: Estimate
    inverted: bool
    constant: bool
    straight_lining: bool


def annotator_signs(
    table: RatingTable, *, bootstrap: int = 2000, confidence: float = 0.95, seed: int = 0
) -> tuple[AnnotatorSigns, ...]:
    """Those with ratings, in the order of the table, who are taken to have rated in the order of its items.

    The figures are those of `annotation.stats.annotators.annotator_report` with the same options.
    """
    columns = np.flatnonzero((table.codes != MISSING).any(axis=0)).tolist()
    kappas = versus_others(table, columns, bootstrap=bootstrap, confidence=confidence, seed=seed)
    backwards, others = find_inverted_raters(table), majorities_without(table, columns)
    return tuple(
        _signs(table, column, kappa, others[:, place], table.raters[column] in backwards)
        for place, (column, kappa) in enumerate(zip(columns, kappas, strict=True))
    )


def _signs(table: RatingTable, column: int, kappa: Estimate, others: IntArray, inverted: bool) -> AnnotatorSigns:
    rated = table.codes[:, column] != MISSING
    answers = table.codes[rated, column]
    many = len(answers) >= ENOUGH_TO_COMPARE
    return AnnotatorSigns(
        annotator=table.raters[column],
        n_ratings=len(answers),
        kappa=kappa,
        inverted=inverted,
        constant=many and is_constant(table, column),
        straight_lining=many and longest_run(answers, others[rated])[1] < UNLIKELY,
    )


def is_constant(table: RatingTable, column: int) -> bool:
    """Whether a rater says one thing only, and the items that others rated as well are not all said to be the same."""
    said = table.codes[:, column]
    common = table.codes[(said != MISSING) & table.pairable]
    return np.unique(said[said != MISSING]).size == 1 and np.unique(common[common != MISSING]).size > 1


def versus_others(
    table: RatingTable, columns: list[int], *, bootstrap: int, confidence: float, seed: int
) -> list[Estimate]:
    """Cohen's kappa of each of ``columns`` with the majority of the others, all from the same draws of items."""
    if not columns:
        return []
    distinct = distinct_items(table)
    resampling = Resampling.from_table(
        distinct.table, bootstrap=bootstrap, confidence=confidence, seed=seed, copies=distinct.copies
    )
    n = len(columns)
    both = np.column_stack([distinct.table.codes[:, columns], majorities_without(distinct.table, columns)])
    pairs = [(place, n + place) for place in range(n)]
    statistic = cohen.pairs_statistic(both, pairs, table.n_categories, None)
    (found,) = replicate([statistic], resampling)
    of_kappa = slice(KAPPA * n, (KAPPA + 1) * n)
    kappas = found.select(of_kappa)
    decided = majorities_without(table, columns) != MISSING
    bases, reasons = zip(*(_basis(table, column, decided[:, i]) for i, column in enumerate(columns)), strict=True)
    return estimates(kappas, resampling, bases, reasons, scale="coefficient")


def majorities_without(table: RatingTable, columns: list[int]) -> IntArray:
    """(n_items, k) category that most of the others than each of ``columns`` chose; -1 where none is first."""
    found = np.empty((table.n_items, len(columns)), dtype=np.int64)
    for place, column in enumerate(columns):
        counts, said = table.counts.copy(), table.codes[:, column]
        rated = np.flatnonzero(said != MISSING)
        counts[rated, said[rated]] -= 1
        found[:, place] = compute_majority(counts)
    return found


def _basis(table: RatingTable, column: int, decided: BoolArray) -> tuple[Basis, str]:
    """What one kappa rests on, the others' ratings counted, and why it may be undefined."""
    rated = table.codes[:, column] != MISSING
    others = table.ratings_per_item - rated
    used = rated & decided
    basis = Basis(int(used.sum()), table.n_raters - 1, int(others[used].sum()))
    if not (rated & (others > 0)).any():
        return basis, "no item rated by someone else as well"
    return basis, "one category used" if basis.n_items else "the others are tied on every common item"
