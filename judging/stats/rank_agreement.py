"""Whether a benchmark ranks models as another one does: rank correlations with intervals. Pure functions.

The models, and their places in the other benchmark, are taken as they are; personas are resampled, so that an interval
says how the correlation would vary with other personas, and not with other models.
"""

from collections.abc import Sequence

import numpy as np
import scipy

from annotation.stats.arrays import ratio
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import Basis, estimates
from annotation.stats.resampling import SumStatistic, replicate
from annotation.stats.table import FloatArray
from judging.stats.benchmark import Sheet

FEWEST = 3
TOO_FEW = f"fewer than {FEWEST} models have a place in both"
ALL_ALIKE = "all models have the same place in one of the two"
DIGITS = 12
"""To which accuracies are rounded before they are ranked, so that equal ones are ties."""


def compare_ranks(scores: Sequence[FloatArray], theirs: Sequence[float], sheet: Sheet) -> tuple[Estimate, Estimate]:
    """Spearman's correlation and Kendall's tau-b of the accuracies of m models with what they have elsewhere.

    Parameters
    ----------
    scores
        m columns (n,) of scores on the cases, NaN where there is none.
    theirs
        m numbers, higher is better.
    sheet
        The cases, and how they are resampled.
    """
    m, n = len(scores), sheet.cases.n_personas
    sums = [np.bincount(sheet.cases.persona, np.nan_to_num(one), minlength=n) for one in scores]
    counts = [np.bincount(sheet.cases.persona, np.isfinite(one).astype(float), minlength=n) for one in scores]
    other = np.asarray(theirs, dtype=float)

    def correlate(totals: FloatArray) -> FloatArray:
        return rank_correlations(ratio(totals[..., :m], totals[..., m : 2 * m]), other)

    resampling = sheet.resampling()
    columns = np.column_stack([*sums, *counts, np.zeros(n)]).astype(float)
    (found,) = replicate([SumStatistic(columns, correlate)], resampling)
    reason = TOO_FEW if m < FEWEST else ALL_ALIKE
    spearman, kendall = estimates(found, resampling, [Basis(m, 1, m)] * 2, [reason] * 2, scale="coefficient")
    return spearman, kendall


def rank_correlations(ours: FloatArray, theirs: FloatArray) -> FloatArray:
    """(…, 2) Spearman's correlation and Kendall's tau-b of (…, m) values with (m,) values; NaN where undefined."""
    if len(theirs) < FEWEST:
        return np.full((*ours.shape[:-1], 2), np.nan)
    rounded = ours.round(DIGITS)
    a = scipy.stats.rankdata(rounded, axis=-1, nan_policy="propagate") - (len(theirs) + 1) / 2
    b = scipy.stats.rankdata(theirs) - (len(theirs) + 1) / 2
    spearman = ratio((a * b).sum(axis=-1), np.sqrt((a * a).sum(axis=-1) * (b * b).sum()))
    above = np.sign(rounded[..., :, None] - rounded[..., None, :])
    other = np.sign(theirs[:, None] - theirs[None, :])
    pairs = np.sqrt((above**2).sum(axis=(-2, -1)) * (other**2).sum())
    return np.stack([spearman, ratio((above * other).sum(axis=(-2, -1)), pairs)], axis=-1)
