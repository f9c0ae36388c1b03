"""Intervals of figures: Student's t from the jackknife where few units speak, BCa bootstrap where many do.

Efron (1987), "Better bootstrap confidence intervals", Journal of the American Statistical Association 82:171-185; the
other is in `annotation.stats.jackknife`. BCa covers too little where fewer than about 200 units decide, be they
clusters or single items (docs/methods.md, coverage).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy

from annotation.stats.arrays import ratio
from annotation.stats.estimate import Estimate
from annotation.stats.jackknife import Jackknife, Scale, t_ends
from annotation.stats.resampling import Replicates, Resampling
from annotation.stats.shares import EFFECTIVE, wilson
from annotation.stats.table import BoolArray, FloatArray

MANY = 200
"""From this many effective units on intervals are BCa, below Student's t."""

LEAST_UNITS = 8
"""With fewer items or clusters there is no interval: the simulated coverage of a t interval falls below .93."""

LARGEST_SHARE = 0.5
"""A cluster that holds more than this share of the items decides alone, and how it would vary is unknown."""

MOST_UNDEFINED = 0.1
"""Above this share of undefined replicates the rest no longer speak for the sampling distribution."""

SAME = 1e-12
"""Replicates this close to the value are equal to it; the difference is rounding."""

STUDENT, BCA, NONE = "jackknife t", "BCa", "none"
FLAT = "no interval: leaving out any"
NOT_ASKED = "no interval: none was asked for (0 resamples)"


@dataclass(frozen=True)
class Basis:
    """How many items, raters and ratings a figure rests on."""

    n_items: int
    n_raters: int
    n_ratings: int


@dataclass(frozen=True, eq=False)
class Intervals:
    """The intervals of m figures.

    Attributes
    ----------
    low, high
        (m,) ends; NaN where there is no interval.
    se, df
        (m,) the jackknife's standard errors and their effective degrees of freedom; NaN where there are none.
    method
        (m,) ``"BCa"``, ``"jackknife t"`` or ``"none"``.
    reason
        (m,) why there is no interval; None where there is one.
    """

    low: FloatArray
    high: FloatArray
    se: FloatArray
    df: FloatArray
    method: tuple[str, ...]
    reason: tuple[str | None, ...]


def estimates(
    replicates: Replicates,
    resampling: Resampling,
    bases: Sequence[Basis],
    reasons: Sequence[str | None],
    *,
    scale: Scale | Sequence[Scale] = "plain",
    student: bool = False,
) -> list[Estimate]:
    """m figures with their intervals. A share of 0 or 1 that no unit contradicts has that of `bound_unanimous`.

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
    scale
        Where the interval is symmetric, for all figures or for each: see `annotation.stats.jackknife.Scale`.
    student
        Student's t however many units decide: for levels that a bootstrap would read from its last few replicates.
    """
    found = compute_intervals(replicates, resampling, scale, student=student)
    if replicates.weight is not None:
        units = ratio(np.ones(len(replicates.value)), resampling.times @ replicates.weight**2)
        found = bound_unanimous(found, replicates.value, units, resampling.confidence, scale)
    return [
        _estimate(float(value), found, j, basis, reason, resampling)
        for j, (value, basis, reason) in enumerate(zip(replicates.value, bases, reasons, strict=True))
    ]


def _estimate(
    value: float, found: Intervals, j: int, basis: Basis, reason: str | None, resampling: Resampling
) -> Estimate:
    undefined = bool(np.isnan(value))
    without = undefined or found.method[j] == NONE
    return Estimate(
        value=value,
        low=np.nan if without else float(found.low[j]),
        high=np.nan if without else float(found.high[j]),
        reason=(reason or "undefined for these ratings") if undefined else found.reason[j],
        n_items=basis.n_items,
        n_raters=basis.n_raters,
        n_ratings=basis.n_ratings,
        confidence=resampling.confidence,
        method=NONE if without else found.method[j],
        seed=resampling.seed if found.method[j] == BCA and not without else None,
        se=np.nan if without else float(found.se[j]),
        df=np.nan if without else float(found.df[j]),
    )


def compute_intervals(
    replicates: Replicates,
    resampling: Resampling,
    scale: Scale | Sequence[Scale] = "plain",
    *,
    student: bool = False,
) -> Intervals:
    """The intervals of m figures: BCa where many units decide and it exists, else Student's t, else none and why."""
    m = len(replicates.value)
    nothing = np.full(m, np.nan)
    if resampling.n_replicates == 0:
        return Intervals(nothing, nothing, nothing, nothing, (NONE,) * m, (NOT_ASKED,) * m)
    why = explain_no_interval(resampling)
    few = [None] * m if replicates.weight is None else _list_few_units(replicates.weight, resampling)
    if why is not None or not len(replicates.left_out):
        reasons = tuple(one or why or "no interval" for one in few)  # a figure may have fewer units than there are
        return Intervals(nothing, nothing, nothing, nothing, (NONE,) * m, reasons)
    knife = Jackknife.from_left_out(replicates.value, replicates.left_out, resampling, replicates.weight)
    undefined = np.isnan(replicates.bootstrap).mean(axis=0) > MOST_UNDEFINED
    known = ~np.isnan(knife.df) & ~undefined & np.array([one is None for one in few])
    low, high = t_ends(replicates.value, knife.se, knife.df, resampling.confidence, scale)
    many = known & (knife.df >= MANY) & (not student)
    if many.any():
        by_bootstrap = bca_ends(replicates, resampling, knife.influence)
        many &= by_bootstrap[2]
        low, high = np.where(many, by_bootstrap[0], low), np.where(many, by_bootstrap[1], high)
    return Intervals(
        np.where(known, low, np.nan),
        np.where(known, high, np.nan),
        knife.se,
        knife.df,
        tuple(np.where(many, BCA, np.where(known, STUDENT, NONE)).tolist()),
        tuple(
            None if fine else _why_undefined(flat, why, resampling.unit_name)
            for fine, flat, why in zip(known.tolist(), knife.flat.tolist(), few, strict=True)
        ),
    )


def bound_unanimous(
    found: Intervals, value: FloatArray, units: FloatArray, confidence: float, scale: Scale | Sequence[Scale]
) -> Intervals:
    """Give the shares (m,) of 0 and 1 that no unit contradicts Wilson's interval of as many items as ``units`` (m,).

    These are the effective numbers (Kish 1965) of items, or clusters, by the weight that each has in the share. A unit
    counts as one observation, whatever it holds: a mean of numbers from 0 to 1 varies at most as much as a yes or no.
    """
    low, high, method, reason = found.low.copy(), found.high.copy(), list(found.method), list(found.reason)
    scales = [scale] * len(value) if isinstance(scale, str) else scale
    for j, why in enumerate(found.reason):
        if scales[j] == "share" and value[j] in (0, 1) and units[j] > 1 and (why or "").startswith(FLAT):
            low[j], high[j] = wilson(float(value[j]), float(units[j]), confidence)
            method[j], reason[j] = EFFECTIVE, None
    return replace(found, low=low, high=high, method=tuple(method), reason=tuple(reason))


def _why_undefined(flat: bool, few: str | None, units: str) -> str:
    if flat:
        return f"{FLAT} of the {units} changes nothing"
    return few or f"not enough evidence: the figure hangs on single {units}, without which it is undefined"


def explain_no_interval(resampling: Resampling) -> str | None:
    """Why units so few, or so unequal, allow no interval; None where they do."""
    return _explain_few(resampling.n_units, resampling.largest_share, resampling.unit_name)


def _list_few_units(weight: FloatArray, resampling: Resampling) -> list[str | None]:
    """(m,) the same by the units that hold something of each figure, where their ``weight`` (k, m) is known."""
    held = np.nan_to_num(weight)
    numbers, largest = resampling.times @ (held > 0), held.max(axis=0)
    return [
        _explain_few(int(n), share, resampling.unit_name) if n else None
        for n, share in zip(numbers.tolist(), largest.tolist(), strict=True)
    ]


def _explain_few(n: int, largest: float, units: str) -> str | None:
    if n < LEAST_UNITS:
        return f"not enough evidence: {n} {units if n != 1 else units[:-1]}; at least {LEAST_UNITS} are needed"
    if largest > LARGEST_SHARE:
        return f"not enough evidence: one of the {units} holds {100 * largest:.0f} % of the weight of all"
    return None


def bca_ends(
    replicates: Replicates, resampling: Resampling, influence: FloatArray
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Lower ends (m,), upper ends (m,) and whether the correction of each exists.

    Undefined replicates are left out. There is no correction where every replicate lies on one side of the value.
    """
    ordered = np.sort(replicates.bootstrap, axis=0)  # NaN go last
    n_defined = (~np.isnan(ordered)).sum(axis=0)
    tail = np.array([[(1 - resampling.confidence) / 2], [(1 + resampling.confidence) / 2]])
    bias = _bias(replicates, n_defined)
    acceleration = compute_acceleration(influence, resampling.times)
    adjusted, corrected = _adjusted_tails(tail, bias, acceleration)
    low, high = (_quantile(ordered, n_defined, probability) for probability in adjusted)
    return low, high, corrected


def _bias(replicates: Replicates, n_defined: FloatArray) -> FloatArray:
    """z0 (m,): how far the value lies from the median of its replicates; ties count half."""
    below = (replicates.bootstrap < replicates.value - SAME).sum(axis=0)
    equal = (np.abs(replicates.bootstrap - replicates.value) <= SAME).sum(axis=0)
    bias: FloatArray = scipy.special.ndtri((below + equal / 2) / np.maximum(n_defined, 1))
    return bias


def compute_acceleration(influence: FloatArray, times: FloatArray) -> FloatArray:
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
