"""Intraclass correlation of numeric ratings: the six of Shrout and Fleiss.

Shrout and Fleiss (1979), "Intraclass correlations: uses in assessing rater reliability", Psychological
Bulletin 86:420-428. ICC(1,·): every item has other raters (one-way). ICC(2,·): the raters are a sample of
raters, and their leniency counts as error (two-way random, absolute agreement; McGraw and Wong 1996 call it
A). ICC(3,·): these raters only, leniency left out (two-way mixed, consistency). ·,1 is one rater's
reliability, ·,k that of the mean of all k.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy

from annotation.stats import cohen
from annotation.stats.arrays import find_smallest_step, ratio
from annotation.stats.resampling import SumStatistic, scale_to_effective
from annotation.stats.table import MISSING, NO_SCORES, BoolArray, FloatArray, IntArray, RatingTable

NAMES = ("icc_2_1", "icc_2_k", "icc_1_1", "icc_1_k", "icc_3_1", "icc_3_k")

DECIMALS = 9
"""Steps are rounded to these: 0.3 is three steps of 0.1, but not in binary."""

NO_VARIANCE_OF_MEAN = "raters disagree so much that the estimated variance of an item's mean is not positive"
"""Why ICC(2,k) has no value where ICC(2,1) has one."""

EQUAL_MEANS = "all items have the same mean rating"
"""Why ICC(1,k) and ICC(3,k) have no value where ICC(1,1) has one."""

PARALLEL = "all items have the same mean rating and the raters differ by constants"
"""Why ICC(3,1) has no value where ICC(1,1) has one."""


@dataclass(frozen=True, eq=False)
class MeanSquares:
    """The analysis of variance, arrays of one shape: n items, and mean squares in Shrout and Fleiss's letters.

    ``bms`` between items, ``wms`` within items, ``jms`` between raters, ``ems`` the rest.
    """

    n: FloatArray
    bms: FloatArray
    wms: FloatArray
    jms: FloatArray
    ems: FloatArray


def mask_compared_raters(table: RatingTable) -> BoolArray:
    """(columns,) mask of the raters whose ICC is asked: those with enough ratings beside the busiest.

    The ICC needs items that all of its raters rated; one who has just begun would leave it a single item.
    """
    return cohen.enough((table.codes != MISSING).sum(axis=0))


def complete_items(table: RatingTable, raters: BoolArray) -> BoolArray:
    """(n_items,) mask of the items that every one of ``raters`` (columns,) has rated."""
    complete: BoolArray = (table.codes[:, raters] != MISSING).all(axis=1)
    return complete & (table.ratings_per_item > 0)


def icc(table: RatingTable, raters: BoolArray | None = None, *, item_weights: FloatArray | None = None) -> SumStatistic:
    """The six of `NAMES` on the items that every one of ``raters`` rated, as one statistic.

    ``raters`` (columns,) is a mask, by default `mask_compared_raters`. With ``item_weights`` (n_items,), those of all
    sums, the number of items is the effective one (`scale_to_effective`).

    Values are at most 1 and can be negative; NaN with fewer than two raters or complete items, where nothing
    varies, and where categories have no scores. ICC(2,k) is also NaN where the
    estimated variance of an item's mean is not positive: the formula would then exceed 1. ICC(1,k) and
    ICC(3,k) are NaN where items have equal means.
    """
    used = mask_compared_raters(table) if raters is None else raters
    columns = _contributions(table, used)
    return scale_to_effective(SumStatistic(columns, partial(_six, k=int(used.sum()))), columns[:, 0], item_weights)


def _contributions(table: RatingTable, raters: BoolArray) -> FloatArray:
    """(n_items, 3 + k): whether complete, sum of squares, square of the sum, and the score of each rater."""
    complete = complete_items(table, raters)
    scores = np.where(complete[:, None], table.rated_scores[:, raters], 0.0)
    scores = np.where(complete[:, None], _small_numbers(scores, complete), 0.0)
    if not table.has_scores:
        complete = np.zeros_like(complete)
    columns = [complete, (scores**2).sum(axis=1), scores.sum(axis=1) ** 2, *scores.T]
    return np.column_stack(columns).astype(float)


def explain_undefined(table: RatingTable) -> str:
    """Why the ICC has no value on these ratings."""
    if not table.has_scores:
        return NO_SCORES[table.level]
    if table.n_raters < 2:
        return "only one rater" if table.n_raters else "no ratings"
    n_complete = int(complete_items(table, mask_compared_raters(table)).sum())
    if n_complete == 0:
        return "no item rated by every rater"
    return "only one item rated by every rater" if n_complete == 1 else "one category used"


def reasons(table: RatingTable, values: FloatArray) -> list[str]:
    """Why each of the six has no value, given all of them."""
    if np.isnan(values[NAMES.index("icc_1_1")]):
        return [explain_undefined(table)] * len(NAMES)
    special = {"icc_2_k": NO_VARIANCE_OF_MEAN, "icc_1_k": EQUAL_MEANS, "icc_3_k": EQUAL_MEANS, "icc_3_1": PARALLEL}
    usual = explain_undefined(table)
    return [special.get(name, usual) for name in NAMES]


def _small_numbers(scores: FloatArray, complete: BoolArray) -> FloatArray:
    """Scores as steps from the middle one, the smallest step being 1.

    The ICC does not change; sums of squares keep their digits, and those of whole steps are exact.
    """
    used = np.unique(scores[complete])
    if len(used) < 2:
        return scores - used[0] if len(used) else scores
    steps: FloatArray = (scores - used[len(used) // 2]) / find_smallest_step(used)
    return np.round(steps, DECIMALS)


def mean_squares(sums: FloatArray, k: int) -> MeanSquares:
    """The analysis of variance from sums (…, 3 + k): items, squares, squared item totals, total per rater."""
    n, squares, item_squares, by_rater = sums[..., 0], sums[..., 1], sums[..., 2], sums[..., 3:]
    base = ratio(by_rater.sum(axis=-1) ** 2, n * k)
    between_items = item_squares / k - base
    between_raters = ratio((by_rater**2).sum(axis=-1), n) - base
    within = squares - item_squares / k
    return MeanSquares(
        n=n,
        bms=ratio(between_items, n - 1),
        wms=ratio(within, n * (k - 1)),
        jms=between_raters / (k - 1),
        ems=ratio(within - between_raters, (n - 1) * (k - 1)),
    )


def _six(sums: FloatArray, *, k: int) -> FloatArray:
    """(…, 6) values of `NAMES`."""
    if k < 2:
        return np.full((*sums.shape[:-1], len(NAMES)), np.nan)
    ms = mean_squares(sums, k)
    shift = ratio(ms.jms - ms.ems, ms.n)
    variance_of_mean = ms.bms + shift
    of_mean = np.where(variance_of_mean > 0, ratio(ms.bms - ms.ems, variance_of_mean), np.nan)
    values = [
        ratio(ms.bms - ms.ems, ms.bms + (k - 1) * ms.ems + k * shift),
        of_mean,
        ratio(ms.bms - ms.wms, ms.bms + (k - 1) * ms.wms),
        ratio(ms.bms - ms.wms, ms.bms),
        ratio(ms.bms - ms.ems, ms.bms + (k - 1) * ms.ems),
        ratio(ms.bms - ms.ems, ms.bms),
    ]
    return np.stack(values, axis=-1)


def f_intervals(
    table: RatingTable,
    confidence: float = 0.95,
    copies: IntArray | None = None,
    raters: BoolArray | None = None,
) -> dict[str, tuple[float, float]]:
    """Intervals of the six from the F distribution, which takes ratings to be normal. NaN where undefined.

    ICC(1,·) and ICC(3,·) are Shrout and Fleiss's exact intervals, ICC(2,·) their approximation. ``copies``
    says how many items each row of the table stands for; ``raters`` as in `icc`.
    """
    times = np.ones(table.n_items) if copies is None else copies.astype(float)
    used = mask_compared_raters(table) if raters is None else raters
    k = int(used.sum())
    if k < 2 or not complete_items(table, used).any():
        return dict.fromkeys(NAMES, (np.nan, np.nan))
    ms = mean_squares(times @ _contributions(table, used), k)
    n = float(ms.n)
    one = _f_ends(ratio(ms.bms, ms.wms), n - 1, n * (k - 1), confidence)
    three = _f_ends(ratio(ms.bms, ms.ems), n - 1, (n - 1) * (k - 1), confidence)
    two = _two_way_ends(ms, k, confidence)
    single = {"icc_1_1": _of_one(one, k), "icc_2_1": two, "icc_3_1": _of_one(three, k)}
    mean = {f"{name[:-1]}k": _of_mean(ends, k) for name, ends in single.items()}
    return {name: (single | mean)[name] for name in NAMES}


def _f_ends(f: FloatArray, above: float, below: float, confidence: float) -> tuple[float, float]:
    """F divided by, and times, its upper quantiles."""
    if above < 1:
        return np.nan, np.nan
    tail = (1 + confidence) / 2
    return float(f / scipy.special.fdtri(above, below, tail)), float(f * scipy.special.fdtri(below, above, tail))


def _of_one(ends: tuple[float, float], k: int) -> tuple[float, float]:
    low, high = ((f - 1) / (f + k - 1) for f in ends)  # f is at least 0 and k at least 2
    return low, high


def _of_mean(ends: tuple[float, float], k: int) -> tuple[float, float]:
    """Spearman and Brown's step from one rater to the mean of k."""
    low, high = (float(ratio(np.array(k * end), np.array(1 + (k - 1) * end))) for end in ends)
    return low, high


def _two_way_ends(ms: MeanSquares, k: int, confidence: float) -> tuple[float, float]:
    n, bms, jms, ems = ms.n, ms.bms, ms.jms, ms.ems
    shared = k * jms + (k * n - k - n) * ems
    value = ratio(n * (bms - ems), shared + n * bms)
    between = k * value * ratio(jms, ems)
    rest = n * (1 + (k - 1) * value) - k * value
    freedom = ratio((k - 1) * (n - 1) * (between + rest) ** 2, (n - 1) * between**2 + rest**2)
    tail = (1 + confidence) / 2
    upper, lower = (
        np.where(np.isfinite(f), f, np.nan)
        for f in (scipy.special.fdtri(n - 1, freedom, tail), scipy.special.fdtri(freedom, n - 1, tail))
    )
    low = ratio(n * (bms - upper * ems), upper * shared + n * bms)
    high = ratio(n * (lower * bms - ems), shared + n * lower * bms)
    return float(low), float(high)
