"""Figures with an interval by formula: means with a standard error, and shares of a count."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy

from annotation.stats.estimate import Estimate
from annotation.stats.intervals import STUDENT, explain_no_interval
from annotation.stats.jackknife import Jackknife, t_ends
from annotation.stats.resampling import PreparedSums, Resampling, SumStatistic
from annotation.stats.shares import EFFECTIVE, build_undefined, figure, quantile, share, wilson
from annotation.stats.table import BoolArray, FloatArray

__all__ = [
    "build_resampling",
    "build_undefined",
    "compute_lower_p",
    "correct_skewness",
    "drop_interval",
    "estimate_by_jackknife",
    "few_units",
    "figure",
    "normal",
    "quantile",
    "share",
    "sum_by_cluster",
    "undo_skewness",
    "wilson",
]

TINY = 1e-12
"""A skewness below this is none."""


def normal(
    value: float,
    se: float,
    *,
    n_items: int,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (-np.inf, np.inf),
    reason: str | None = None,
    n_raters: int = 2,
    n_ratings: int | None = None,
    df: float = np.inf,
) -> Estimate:
    """Value -+ z * se, or Student's t * se with ``df`` degrees of freedom, cut at ``bounds``.

    A standard error of 0 gives no interval: what never varied says nothing of how much it varies.
    """
    flat = not se > 0
    half = np.nan if flat else float(scipy.special.stdtrit(df, (1 + confidence) / 2)) * se
    why = reason or ("no interval: the data do not vary" if flat else None)
    ends = (max(value - half, bounds[0]), min(value + half, bounds[1])) if not flat else (np.nan, np.nan)
    return figure(
        value,
        ends,
        n_items=n_items,
        confidence=confidence,
        method="normal" if np.isinf(df) else "t",
        reason=why,
        n_raters=n_raters,
        n_ratings=n_ratings,
    )


def estimate_by_jackknife(
    statistic: SumStatistic,
    *,
    clusters: Sequence[str] | None = None,
    strata: Sequence[str] | None = None,
    n_items: int,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (-np.inf, np.inf),
    n_raters: int = 2,
    n_ratings: int | None = None,
) -> tuple[Estimate, float]:
    """One figure of sums over items, and its standard error, also where there are too few units for an interval.

    Items, or whole ``clusters``, are left out in turn. Between finite ``bounds`` the interval is symmetric in the log
    odds of where the value stands between them; a share of 0 or 1 that no unit contradicts has Wilson's, as by
    `annotation.stats.intervals.bound_unanimous`. Items that lie in one of the ``strata`` count by the stratum where
    they are not clustered.
    """
    resampling = build_resampling(len(statistic.contributions), clusters, None, confidence, strata=strata)
    prepared = PreparedSums.prepare([statistic], resampling)
    value = statistic.function(resampling.times @ prepared.rows)
    weight = statistic.find_unit_weights(value, resampling)
    knife = Jackknife.from_left_out(value, prepared.evaluate_left_out()[0], resampling, weight)
    if weight is not None and knife.flat[0] and value[0] in (0, 1):
        method = EFFECTIVE
        low, high = wilson(float(value[0]), float(1 / (resampling.times @ weight**2)[0]), confidence)
    else:
        method = STUDENT
        low, high = (float(end[0]) for end in _between(value, knife, confidence, bounds))
    unknown = "no interval: the data do not vary" if knife.flat[0] else "not enough evidence: it hangs on single items"
    why = explain_no_interval(resampling) or (unknown if np.isnan(low) else None)
    found = figure(
        float(value[0]),
        (np.nan, np.nan) if why else (low, high),
        n_items=n_items,
        confidence=confidence,
        method=method,
        reason=why,
        n_raters=n_raters,
        n_ratings=n_ratings,
    )
    error = float(knife.se[0]) if not knife.flat[0] else 0.0
    return (found if why or knife.flat[0] else replace(found, se=error, df=float(knife.df[0]))), error


def drop_interval(found: Estimate, why: str | None) -> Estimate:
    """The same figure without its interval, where there is a reason ``why`` it can have none."""
    if why is None or not found.defined:
        return found
    return replace(found, low=np.nan, high=np.nan, method="none", reason=why, se=np.nan, df=np.nan, seed=None)


def few_units(kept: BoolArray, clusters: Sequence[str] | None = None, weights: FloatArray | None = None) -> str | None:
    """Why the items (n,) that are kept, or their clusters, are too few or too unequal for an interval; else None."""
    names = None if clusters is None else np.asarray(clusters, dtype=object)[kept].tolist()
    return explain_no_interval(build_resampling(int(kept.sum()), names, None if weights is None else weights[kept]))


def build_resampling(
    n: int,
    clusters: Sequence[str] | None,
    weights: FloatArray | None = None,
    confidence: float = 0.95,
    *,
    strata: Sequence[str] | None = None,
    bootstrap: int = 0,
    seed: int = 0,
) -> Resampling:
    """Every item by itself, in its stratum; or clusters as they are. Weights (n,) are made to have the mean 1."""
    w = np.ones(n) if weights is None or not n else weights / weights.mean()
    if clusters is not None:
        unit = np.unique(np.asarray(clusters, dtype=object).astype(str), return_inverse=True)[1].astype(np.int64)
        k = int(unit.max(initial=-1)) + 1
        return Resampling(unit, np.zeros(k, dtype=np.int64), w, bootstrap, confidence, seed, unit_name="clusters")
    stratum = np.zeros(n, dtype=np.int64) if strata is None else np.unique(strata, return_inverse=True)[1]
    return Resampling(np.arange(n), stratum.astype(np.int64), w, bootstrap, confidence, seed)


def _between(
    value: FloatArray, knife: Jackknife, confidence: float, bounds: tuple[float, float]
) -> tuple[FloatArray, FloatArray]:
    """Ends of a t interval: in the log odds between finite bounds, else plain."""
    lowest, highest = bounds
    if not np.isfinite(highest - lowest):
        return t_ends(value, knife.se, knife.df, confidence)
    width = highest - lowest
    low, high = t_ends((value - lowest) / width, knife.se / width, knife.df, confidence, "share")
    return np.clip(lowest + low * width, *bounds), np.clip(lowest + high * width, *bounds)


def compute_lower_p(t: float | FloatArray, df: float | FloatArray, acceleration: float | FloatArray) -> FloatArray:
    """One-sided p-values that figures lie below 0, by Student's t or by that without skewness: the less sure counts."""
    found: FloatArray = np.maximum(
        scipy.special.stdtr(df, t), scipy.special.stdtr(df, correct_skewness(t, acceleration))
    )
    return found


def correct_skewness(t: float | FloatArray, acceleration: float | FloatArray) -> FloatArray:
    """The t of an estimate without what the skewness of its units does to it.

    Hall (1992), "On the removal of skewness by transformation", JRSS B 54:221-228, with the acceleration of Efron
    (1987) for a sixth of the skewness of the estimate.
    """
    a = np.asarray(acceleration)
    return np.asarray(t + 2 * a * t**2 + 4 / 3 * a**2 * t**3 + a)


def undo_skewness(t: float, acceleration: float) -> float:
    """The t of which `correct_skewness` makes ``t``."""
    a = acceleration
    return t if abs(a) < TINY else (float(np.cbrt(1 + 6 * a * (t - a))) - 1) / (2 * a)


def sum_by_cluster(influence: FloatArray, clusters: Sequence[str] | None) -> FloatArray:
    """Influences (n, …) added up within each cluster; as they are without clusters."""
    if clusters is None:
        return influence
    index = np.unique(np.asarray(clusters, dtype=object).astype(str), return_inverse=True)[1]
    summed = np.zeros((int(index.max(initial=-1)) + 1, *influence.shape[1:]))
    np.add.at(summed, index, influence)
    return summed
