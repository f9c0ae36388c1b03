"""When the labels of a study will be there, if people go on as they have."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from annotation.stats.estimate import number_or_none
from annotation.stats.result_types import ForecastDocument
from annotation.stats.table import FloatArray

LEAST_PERIODS = 3
"""Periods below which nothing is known of how the pace varies."""

NO_END = "no upper end: so few periods that differ so much do not show that the work goes on"
ASSUMPTION = (
    "the periods to come are like those that were, independently of each other, those without a label among them"
)


@dataclass(frozen=True)
class Forecast:
    """How many more periods (hours, days) the labels that are missing take.

    Attributes
    ----------
    value
        At the mean pace; NaN where it cannot be told.
    low, high
        Ends of the interval; NaN where there is none.
    reason
        Why the value or an end is NaN.
    remaining
        Labels that are missing.
    n_periods, mean
        Periods that it rests on, and labels per period in them.
    confidence
        Nominal coverage of the interval.
    """

    value: float
    low: float
    high: float
    reason: str | None
    remaining: int
    n_periods: int
    mean: float
    confidence: float

    def to_json(self) -> ForecastDocument:
        """As JSON types; NaN becomes None."""
        return {
            "value": number_or_none(self.value),
            "low": number_or_none(self.low),
            "high": number_or_none(self.high),
            "reason": self.reason,
            "remaining": self.remaining,
            "n_periods": self.n_periods,
            "mean": number_or_none(self.mean),
            "confidence": self.confidence,
        }


def forecast(counts: npt.ArrayLike, remaining: int, *, confidence: float = 0.95) -> Forecast:
    """The number of periods until ``remaining`` labels are there.

    Parameters
    ----------
    counts
        (k,) labels in each of the last k periods of equal length, zeros included.
    remaining
        Labels still missing, 0 or more.
    confidence
        Nominal coverage of the interval.

    Notes
    -----
    Of k periods with mean m and standard deviation s, the labels of h more are, with the given confidence, within
    t s sqrt(h + h^2 / k) of m h: the prediction interval of a sum (Hahn and Meeker 1991, Statistical Intervals, section
    4.7), t of Student's with k - 1 degrees of freedom. The ends are those h at which its own end is what remains.

    Raises
    ------
    ValueError
        Where a count or ``remaining`` is negative, or ``confidence`` not between 0 and 1.
    """
    seen = np.asarray(counts, dtype=float).ravel()
    if (seen < 0).any() or remaining < 0 or not 0 < confidence < 1:
        raise ValueError("counts and what remains are 0 or more, the confidence lies between 0 and 1")
    k, mean = len(seen), float(seen.mean()) if len(seen) else np.nan

    def told(value: float, low: float, high: float, reason: str | None) -> Forecast:
        return Forecast(value, low, high, reason, remaining, k, mean, confidence)

    if remaining == 0:
        return told(0.0, 0.0, 0.0, None)
    if not k:
        return told(np.nan, np.nan, np.nan, "no whole hour or day has passed since the first rating")
    if not seen.any():
        return told(np.nan, np.nan, np.nan, f"no labels in the last {_count_periods(k)}")
    if k < LEAST_PERIODS:
        reason = f"no interval: it needs {LEAST_PERIODS} periods, and there {'is' if k == 1 else 'are'} {k:,}"
        return told(remaining / mean, np.nan, np.nan, reason)
    low, high = _ends(seen, remaining, confidence)
    return told(remaining / mean, low, high, NO_END if np.isnan(high) else None)


def _count_periods(k: int) -> str:
    return f"{k:,} period{'' if k == 1 else 's'}"


def _ends(seen: FloatArray, remaining: int, confidence: float) -> tuple[float, float]:
    """The two h with (m h - remaining)^2 = v (h + h^2 / k), v = t^2 s^2; NaN for the upper one where there is none."""
    k, mean = len(seen), seen.mean()
    v = scipy.special.stdtrit(k - 1, (1 + confidence) / 2) ** 2 * seen.var(ddof=1)
    both = 2 * mean * remaining + v + np.sqrt(v * (v + 4 * mean * remaining + 4 * remaining**2 / k))
    slope = mean**2 - v / k
    return float(2 * remaining**2 / both), float(both / (2 * slope)) if slope > 0 else np.nan
