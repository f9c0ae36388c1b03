"""What a choice between two responses hides: the same people's grades of both, beside their choice."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.stats.arrays import ratio
from annotation.stats.benchmarks.result_types import HiddenDocument
from annotation.stats.clustered import estimate_clustered_means, number_units
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import Basis, estimates
from annotation.stats.jackknife import Scale
from annotation.stats.resampling import Resampling, SumStatistic, replicate
from annotation.stats.table import FloatArray, IntArray

CHOICES = {"1": 1, "tie": 0, "2": -1}
NOBODY = "nobody both chose and graded"
NO_ORDER = "no order: one choice or one difference is all there is"


@dataclass(frozen=True, slots=True)
class Both:
    """One person's choice on a case and grades of its two responses."""

    case: str
    persona: str
    annotator: str
    choice: str
    grade_1: float
    grade_2: float

    @property
    def difference(self) -> float:
        """Grade of response 1 minus grade of response 2."""
        return self.grade_1 - self.grade_2

    @property
    def sign(self) -> int:
        """1 for response 1, -1 for response 2, 0 for a tie."""
        return CHOICES[self.choice]


@dataclass(frozen=True)
class Hidden:
    """What choices hide.

    Attributes
    ----------
    n, cases, annotators
        Choices with both grades, and of how many cases and people.
    no_difference
        Share of the preferences (no tie) whose two grades are equal: a choice without a difference.
    same_sign
        Of the preferences with unequal grades: share in which the chosen response has the higher grade.
    opposite
        Share of the preferences in which the chosen response has the lower grade.
    both_high, both_low
        Share of the preferences in which both grades are above, or both below, the middle of the scale: whichever is
        chosen, the label says nothing of how good the responses are.
    difference
        Mean difference of grades in favour of the chosen response.
    correlation
        Spearman's rank correlation of choice and difference, ties at their mean rank.
    by_difference
        Difference -> how often each response, or a tie, was chosen.
    """

    n: int
    cases: int
    annotators: int
    no_difference: Estimate
    same_sign: Estimate
    opposite: Estimate
    both_high: Estimate
    both_low: Estimate
    difference: Estimate
    correlation: Estimate
    by_difference: tuple[tuple[float, dict[str, int]], ...]

    def to_json(self) -> HiddenDocument:
        """As JSON types."""
        return {
            "n": self.n,
            "cases": self.cases,
            "annotators": self.annotators,
            "resampled": "personas",
            "no_difference": self.no_difference.to_json(),
            "same_sign": self.same_sign.to_json(),
            "opposite": self.opposite.to_json(),
            "both_high": self.both_high.to_json(),
            "both_low": self.both_low.to_json(),
            "difference": self.difference.to_json(),
            "correlation": self.correlation.to_json(),
            "by_difference": [{"difference": value, "choices": counts} for value, counts in self.by_difference],
        }


def compute_hidden(rows: Sequence[Both], *, middle: float, bootstrap: int = 2000, seed: int = 0) -> Hidden:
    """What the choices of `rows` hide; intervals resample personas. `middle` is the middle of the scale of grades."""
    sign = np.array([one.sign for one in rows], dtype=float)
    difference = np.array([one.difference for one in rows], dtype=float)
    low, high = (np.array([pick(one.grade_1, one.grade_2) for one in rows], dtype=float) for pick in (min, max))
    chose, unequal = sign != 0, difference != 0
    agrees = (np.sign(difference) == sign).astype(float)
    columns = [
        np.where(chose, (~unequal).astype(float), np.nan),
        np.where(chose & unequal, agrees, np.nan),
        np.where(chose, (unequal & (agrees == 0)).astype(float), np.nan),
        np.where(chose, (low > middle).astype(float), np.nan),
        np.where(chose, (high < middle).astype(float), np.nan),
        np.where(chose, difference * sign, np.nan),
    ]
    clusters = [one.persona or f"case {one.case}" for one in rows]
    figures = estimate_clustered_means(
        np.column_stack(columns), clusters, bootstrap=bootstrap, seed=seed, reason=NOBODY, scale=SCALES
    )
    return Hidden(
        n=len(rows),
        cases=len({one.case for one in rows}),
        annotators=len({one.annotator for one in rows}),
        **dict(zip(MEANS, figures, strict=True)),
        correlation=rank_correlation(sign, difference, clusters, bootstrap=bootstrap, seed=seed),
        by_difference=tuple(_by_difference(rows)),
    )


MEANS = ("no_difference", "same_sign", "opposite", "both_high", "both_low", "difference")
SCALES: tuple[Scale, ...] = (*("share",) * 5, "plain")


def _by_difference(rows: Sequence[Both]) -> list[tuple[float, dict[str, int]]]:
    found: dict[float, dict[str, int]] = {}
    for one in rows:
        found.setdefault(one.difference, dict.fromkeys(CHOICES, 0))[one.choice] += 1
    return sorted(found.items())


def rank_correlation(
    x: FloatArray, y: FloatArray, clusters: Sequence[str], *, bootstrap: int = 2000, seed: int = 0
) -> Estimate:
    """Spearman's rank correlation of few-valued variables with an interval that resamples clusters.

    Ties have their mean rank (Kendall and Gibbons 1990, Rank Correlation Methods, chapter 3), so that it is Pearson's
    correlation of mid-ranks, and a function of the cross table of the two alone.
    """
    values_x, row = np.unique(x, return_inverse=True)
    values_y, column = np.unique(y, return_inverse=True)
    shape = (len(values_x), len(values_y))
    group: IntArray = (row.ravel() * max(shape[1], 1) + column.ravel()).astype(np.int64)
    unit, n_units = number_units(clusters)
    resampling = Resampling(
        unit=unit,
        stratum=np.zeros(n_units, dtype=np.int64),
        item_weights=np.ones(len(x)),
        n_replicates=bootstrap if len(x) else 0,
        confidence=0.95,
        seed=seed,
        unit_name="clusters",
    )
    cells = (group[:, None] == np.arange(shape[0] * shape[1])).astype(float)
    statistic = SumStatistic(cells, lambda totals: _spearman(totals, shape)[..., None])
    basis = Basis(len(x), n_units, len(x))
    reason = NO_ORDER if len(x) else NOBODY
    return estimates(replicate([statistic], resampling)[0], resampling, [basis], [reason], scale="coefficient")[0]


def _spearman(totals: FloatArray, shape: tuple[int, int]) -> FloatArray:
    """(…) correlation of mid-ranks from (…, rows * columns) totals of a cross table."""
    if not shape[0] * shape[1]:
        return np.full(totals.shape[:-1], np.nan)
    table = totals.reshape(*totals.shape[:-1], *shape)
    a, b = (_centred_ranks(table.sum(axis=axis)) for axis in (-1, -2))
    together = np.einsum("...ij,...i,...j->...", table, a, b)
    spread = (table.sum(axis=-1) * a**2).sum(axis=-1) * (table.sum(axis=-2) * b**2).sum(axis=-1)
    found: FloatArray = ratio(together, np.sqrt(spread))
    return found


def _centred_ranks(counts: FloatArray) -> FloatArray:
    """(…, k) mean rank of each value less the mean of all ranks."""
    ranks = np.cumsum(counts, axis=-1) - counts / 2
    centred: FloatArray = ranks - counts.sum(axis=-1, keepdims=True) / 2
    return centred
