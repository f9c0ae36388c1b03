"""Figures by formula: an estimate with given ends, and shares of a count with Wilson's interval."""

import numpy as np
import scipy

from annotation.stats.estimate import Estimate
from annotation.stats.table import FloatArray, IntArray

EFFECTIVE = "Wilson, effective n"


def quantile(confidence: float) -> float:
    """The normal quantile z of a two-sided interval, 1.96 for 0.95.

    Raises ``ValueError`` where the confidence does not lie between 0 and 1.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}; it must lie between 0 and 1")
    return float(scipy.special.ndtri((1 + confidence) / 2))


def figure(
    value: float,
    ends: tuple[float, float] = (np.nan, np.nan),
    *,
    n_items: int,
    confidence: float,
    method: str,
    reason: str | None = None,
    n_raters: int = 2,
    n_ratings: int | None = None,
    seed: int | None = None,
) -> Estimate:
    """An `Estimate` with given ends; what is NaN goes with its reason.

    ``n_raters`` is 2 by default: a judge and the people, or two sides of a pair. Without ``n_ratings`` each of them
    rated every item.
    """
    undefined = bool(np.isnan(value))
    without = undefined or bool(np.isnan(ends).any())
    return Estimate(
        value=float(value),
        low=np.nan if without else float(ends[0]),
        high=np.nan if without else float(ends[1]),
        reason=(reason or "undefined for these data") if undefined else reason if without else None,
        n_items=n_items,
        n_raters=n_raters,
        n_ratings=n_items * n_raters if n_ratings is None else n_ratings,
        confidence=confidence,
        method="none" if without else method,
        seed=seed,
    )


def build_undefined(reason: str, *, n_items: int, confidence: float = 0.95, n_raters: int = 2) -> Estimate:
    """A figure that cannot be given, and why."""
    return figure(np.nan, n_items=n_items, confidence=confidence, method="none", reason=reason, n_raters=n_raters)


def share(count: int, n: int, *, confidence: float = 0.95, reason: str = "no items", n_raters: int = 2) -> Estimate:
    """A share of n with Wilson's score interval (Wilson 1927, JASA 22:209-212); NaN where n is 0."""
    if n == 0:
        return build_undefined(reason, n_items=0, confidence=confidence, n_raters=n_raters)
    ends = wilson(count / n, n, confidence)
    return figure(count / n, ends, n_items=n, confidence=confidence, method="Wilson", n_raters=n_raters)


def wilson(p: float, n: float, confidence: float) -> tuple[float, float]:
    """Ends of Wilson's interval of a share ``p`` of ``n``; ``p`` may be a mean of scores between 0 and 1.

    Such scores vary at most as much as a yes or no with the same mean, so that the interval is safe for them.
    """
    z = quantile(confidence)
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    # at 0 and 1 the end of the interval is the share itself; rounding must not put it on the wrong side
    return max(0.0, min(centre - half, p)), min(1.0, max(centre + half, p))


def count_df(held: FloatArray | IntArray) -> float:
    """Degrees of freedom of Student's t over units that hold so much each (g,): their effective number less one; at
    least one."""
    return max(compute_effective_number(held) - 1, 1.0)


def compute_effective_number(weights: FloatArray | IntArray) -> float:
    """Effective number of units of unequal weight (Kish 1965, Survey Sampling, section 11.7); 0 without weight."""
    squares = float((weights**2).sum())
    return float(weights.sum() ** 2) / squares if squares else 0.0
