"""Whether a benchmark ranks models as another one does: rank correlations with intervals. Pure functions.

The models, and their places in the other benchmark, are taken as they are; an interval says how the correlation would
vary with other personas, and not with other models. Ranks jump where accuracies cross, so that neither a jackknife nor
a bootstrap fits them: the interval runs from the lowest to the highest correlation of the orders that the simultaneous
intervals of all differences of accuracies leave possible (Mogstad et al. 2024, see `annotation.stats.simultaneous`).
"""

from collections.abc import Sequence

import numpy as np
import scipy

from annotation.stats.arrays import ratio
from annotation.stats.clustered import build_resampling
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import NOT_ASKED, explain_no_interval
from annotation.stats.shares import build_undefined, figure
from annotation.stats.simultaneous import SAME, bound_differences, compute_differences, rank_sets
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
    m, other = len(scores), np.asarray(theirs, dtype=float)
    if m < FEWEST:
        nothing = build_undefined(TOO_FEW, n_items=m, confidence=sheet.confidence, n_raters=1)
        return nothing, nothing
    personas = sheet.cases.persona.astype(str).tolist()
    resampling = build_resampling(personas, bootstrap=sheet.bootstrap, confidence=sheet.confidence, seed=sheet.seed)
    accuracy, low, high = bound_differences(np.column_stack(scores), resampling)
    values = rank_correlations(accuracy, other)
    why = explain_no_interval(resampling) if sheet.bootstrap else NOT_ASKED
    ends = np.full((2, 2), np.nan) if why or np.isnan(values).any() else bound_correlations(low, high, other)
    spearman, kendall = (
        figure(
            value,
            (min(value, lowest), max(value, highest)),
            n_items=m,
            n_raters=1,
            confidence=sheet.confidence,
            method="simultaneous t",
            reason=why if np.isfinite(value) else ALL_ALIKE,
        )
        for value, (lowest, highest) in zip(values.tolist(), ends.tolist(), strict=True)
    )
    return spearman, kendall


def bound_correlations(low: FloatArray, high: FloatArray, theirs: FloatArray) -> FloatArray:
    """(2, 2) ends of Spearman's correlation, and of Kendall's tau-b, of the orders of m models that are possible.

    Spearman's are those of all orders in which every model has one of its possible ranks, tau-b's those of either order
    of every two that the intervals do not tell apart: both may be a little too wide.

    Parameters
    ----------
    low, high
        Ends of the intervals of `compute_differences` of the accuracies.
    theirs
        (m,) what the models have elsewhere.
    """
    m = len(theirs)
    place = scipy.stats.rankdata(theirs) - (m + 1) / 2
    ranks = np.arange(1, m + 1)
    best, worst = np.array(rank_sets(low, high, m)).T[..., None]
    gain = np.where((ranks >= best) & (ranks <= worst), place[:, None] * ((m + 1) / 2 - ranks), np.nan)
    length = np.sqrt(((ranks - (m + 1) / 2) ** 2).sum() * (place**2).sum())
    spearman = [sign * _assign(sign * gain) / length for sign in (-1, 1)]
    sure, other = (low > SAME).astype(float) - (high < -SAME), np.sign(compute_differences(theirs))
    open_pairs, pairs = np.abs(other[sure == 0]).sum(), np.sqrt(len(other) * (other**2).sum())
    return np.array([spearman, [(sure @ other + sign * open_pairs) / pairs for sign in (-1, 1)]])


def _assign(gain: FloatArray) -> float:
    """The largest sum of one entry of each row and column of (m, m); NaN is not allowed."""
    rows, columns = scipy.optimize.linear_sum_assignment(np.where(np.isnan(gain), np.inf, -gain))
    return float(gain[rows, columns].sum())


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
