"""Bootstrap intervals from replicates: BCa where it exists, percentile where it does not.

Efron (1987), "Better bootstrap confidence intervals", Journal of the American Statistical Association
82:171-185.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from annotation.stats.estimate import Estimate
from annotation.stats.resampling import Replicates, Resampling
from annotation.stats.table import BoolArray, FloatArray

MOST_UNDEFINED = 0.1
"""Above this share of undefined replicates the rest no longer speak for the sampling distribution."""

SAME = 1e-12
"""Replicates this close to the value are equal to it; the difference is rounding."""


@dataclass(frozen=True)
class Basis:
    """How many items, raters and ratings a figure rests on."""

    n_items: int
    n_raters: int
    n_ratings: int


def estimates(
    replicates: Replicates,
    resampling: Resampling,
    bases: Sequence[Basis],
    reasons: Sequence[str | None],
) -> list[Estimate]:
    """m figures with their intervals.

    Parameters
    ----------
    replicates
        Values and replicates of m coefficients.
    resampling
        Where the replicates come from.
    bases
        m counts of what each value was computed from.
    reasons
        m explanations, used where the value is NaN.
    """
    influence = resampling.influence(replicates.left_out) if len(replicates.left_out) else None
    low, high, corrected = interval_ends(replicates, resampling, influence)
    undefined = np.isnan(replicates.bootstrap).sum(axis=0)
    error = standard_errors(influence, resampling, len(replicates.value))
    return [
        _estimate(
            float(replicates.value[j]),
            (float(low[j]), float(high[j]), float(error[j])),
            bool(corrected[j]),
            _missing_interval(int(undefined[j]), resampling),
            basis,
            reason,
            resampling,
        )
        for j, (basis, reason) in enumerate(zip(bases, reasons, strict=True))
    ]


def _estimate(
    value: float,
    ends: tuple[float, float, float],
    corrected: bool,
    no_interval: str | None,
    basis: Basis,
    reason: str | None,
    resampling: Resampling,
) -> Estimate:
    undefined = bool(np.isnan(value))
    without = undefined or no_interval is not None or resampling.n_replicates == 0
    return Estimate(
        value=value,
        low=np.nan if without else ends[0],
        high=np.nan if without else ends[1],
        reason=(reason or "undefined for these ratings") if undefined else no_interval,
        n_items=basis.n_items,
        n_raters=basis.n_raters,
        n_ratings=basis.n_ratings,
        confidence=resampling.confidence,
        method="none" if without else "BCa" if corrected else "percentile",
        seed=resampling.seed if resampling.n_replicates else None,
        se=np.nan if without else ends[2],
    )


def _missing_interval(undefined: int, resampling: Resampling) -> str | None:
    if resampling.n_replicates == 0:
        return None
    if resampling.n_units < 2:
        return "no interval: there is only one unit to resample"
    if undefined > MOST_UNDEFINED * resampling.n_replicates:
        return f"no interval: {undefined} of {resampling.n_replicates} resamples are undefined"
    return None


def interval_ends(
    replicates: Replicates, resampling: Resampling, influence: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Lower ends (m,), upper ends (m,) and whether each interval is BCa (else percentile).

    ``influence`` (k, m) of the units is found from the leave-one-out values where it is not given.

    Undefined replicates are left out. The percentile interval stands in where the bias correction or the
    acceleration does not exist: every replicate on one side of the value, or a coefficient that becomes
    undefined when one unit is left out.
    """
    m = len(replicates.value)
    if not len(replicates.bootstrap):
        return np.full(m, np.nan), np.full(m, np.nan), np.zeros(m, dtype=bool)
    ordered = np.sort(replicates.bootstrap, axis=0)  # NaN go last
    n_defined = (~np.isnan(ordered)).sum(axis=0)
    tail = np.array([[(1 - resampling.confidence) / 2], [(1 + resampling.confidence) / 2]])
    bias = _bias(replicates, n_defined)
    if influence is None:
        influence = resampling.influence(replicates.left_out)
    acceleration = _acceleration(influence, resampling.times)
    adjusted, corrected = _adjusted_tails(tail, bias, acceleration)
    low, high = (_quantile(ordered, n_defined, probability) for probability in adjusted)
    return low, high, corrected


def standard_errors(influence: FloatArray | None, resampling: Resampling, m: int) -> FloatArray:
    """Jackknife standard errors (m,); NaN where a leave-one-out value is undefined, or there are none."""
    if influence is None:
        return np.full(m, np.nan)
    return np.sqrt(influence_variance(influence, resampling))


def influence_variance(influence: FloatArray, resampling: Resampling) -> FloatArray:
    """Variance (m,) of a statistic whose units have the given ``influence`` (k, m), stratum by stratum."""
    size = resampling.stratum_sizes
    freed = (size / np.maximum(size - 1, 1))[resampling.stratum]
    variance: FloatArray = (resampling.times * freed) @ influence**2
    return variance


def _bias(replicates: Replicates, n_defined: FloatArray) -> FloatArray:
    """z0 (m,): how far the value lies from the median of its replicates; ties count half."""
    below = (replicates.bootstrap < replicates.value - SAME).sum(axis=0)
    equal = (np.abs(replicates.bootstrap - replicates.value) <= SAME).sum(axis=0)
    bias: FloatArray = scipy.special.ndtri((below + equal / 2) / np.maximum(n_defined, 1))
    return bias


def _acceleration(influence: FloatArray, times: FloatArray) -> FloatArray:
    """a (m,): skewness of the influences over six, each counted ``times`` (k,); 0 where nothing varies."""
    squares = influence**2
    spread = (times @ squares) ** 1.5
    constant = spread <= SAME**3
    cubes = times @ (squares * influence)
    return np.where(constant, 0.0, cubes / (6 * np.where(constant, 1.0, spread)))


def _adjusted_tails(tail: FloatArray, bias: FloatArray, acceleration: FloatArray) -> tuple[FloatArray, BoolArray]:
    """(2, m) probabilities at which to read the replicates, and where the correction exists."""
    possible = np.isfinite(bias) & np.isfinite(acceleration)
    z0, a = np.where(possible, bias, 0.0), np.where(possible, acceleration, 0.0)
    shifted = z0 + scipy.special.ndtri(tail)
    denominator = 1 - a * shifted
    possible &= (denominator > 0).all(axis=0)
    adjusted = scipy.special.ndtr(z0 + shifted / np.where(denominator > 0, denominator, 1.0))
    return np.where(possible, adjusted, tail), possible


def _quantile(ordered: FloatArray, n_defined: FloatArray, probability: FloatArray) -> FloatArray:
    """(m,) linearly interpolated quantiles of the first ``n_defined`` rows of each sorted column."""
    position = probability * np.maximum(n_defined - 1, 0)
    below = np.floor(position).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(n_defined - 1, 0))
    column = np.arange(ordered.shape[1])
    start, end = ordered[below, column], ordered[above, column]
    quantile: FloatArray = start + (position - below) * (end - start)
    return quantile
