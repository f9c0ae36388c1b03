"""When the labels of a study will be there, if people go on as they have."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotation.stats.estimate import number_or_none
from annotation.stats.result_types import ForecastDocument
from annotation.stats.table import FloatArray

LEAST_PERIODS = 3
"""Periods below which nothing is known of how the pace varies."""

FAR = 100
"""Periods ahead beyond which chance from period to period averages out, and only the mean pace is uncertain."""

DRAWS = 2000
ASSUMPTION = (
    "the periods to come are like those that were, drawn from them independently and with replacement, "
    "those without a label among them"
)


@dataclass(frozen=True)
class Forecast:
    """How many more periods (hours, days) the labels that are missing take.

    Attributes
    ----------
    value
        Median over draws; NaN where it cannot be told.
    low, high
        Ends of the interval; NaN where there is none.
    reason
        Why the value or an end is NaN.
    remaining
        Labels that are missing.
    n_periods, mean
        Periods that it rests on, and labels per period in them.
    confidence, seed
        Nominal coverage of the interval, and seed of the draws.
    """

    value: float
    low: float
    high: float
    reason: str | None
    remaining: int
    n_periods: int
    mean: float
    confidence: float
    seed: int

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
            "seed": self.seed,
        }


def forecast(
    counts: npt.ArrayLike, remaining: int, *, draws: int = DRAWS, confidence: float = 0.95, seed: int = 0
) -> Forecast:
    """The number of periods until ``remaining`` labels are there.

    Parameters
    ----------
    counts
        (k,) labels in each of the last k periods of equal length, zeros included.
    remaining
        Labels still missing, 0 or more.
    draws, seed
        Number of futures drawn, and their seed.
    confidence
        Nominal coverage of the interval.

    Notes
    -----
    A prediction interval without a model (Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 8, for
    independent periods): each draw first resamples the k periods, for what is not known of the mean pace, and then
    draws the future from that resample, for chance from period to period. The end lies within its period in
    proportion.

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
        return Forecast(value, low, high, reason, remaining, k, mean, confidence, seed)

    if remaining == 0:
        return told(0.0, 0.0, 0.0, None)
    if not k:
        return told(np.nan, np.nan, np.nan, "no whole hour or day has passed since the first rating")
    if not seen.any():
        return told(np.nan, np.nan, np.nan, f"no labels in the last {_count_periods(k)}")
    if k < LEAST_PERIODS:
        reason = f"no interval: it needs {LEAST_PERIODS} periods, and there {'is' if k == 1 else 'are'} {k:,}"
        return told(remaining / mean, np.nan, np.nan, reason)
    ends = _drawn(seen, remaining, draws, np.random.default_rng(seed))
    tail = (1 - confidence) / 2
    low, value, high = np.quantile(ends, [tail, 0.5, 1 - tail], method="inverted_cdf")
    if np.isinf(value):
        return told(np.nan, np.nan, np.nan, "in more than half of the draws nobody goes on")
    if np.isinf(high):
        return told(float(value), float(low), np.nan, "no upper end: in too many draws nobody goes on")
    return told(float(value), float(low), float(high), None)


def _count_periods(k: int) -> str:
    return f"{k:,} period{'' if k == 1 else 's'}"


def _drawn(seen: FloatArray, remaining: int, draws: int, rng: np.random.Generator) -> FloatArray:
    """(draws,) periods until ``remaining`` is reached; infinite where a resample holds no label."""
    k = len(seen)
    history = seen[rng.integers(k, size=(draws, k))]
    mean = history.mean(axis=1)
    at_pace: FloatArray = np.divide(remaining, mean, out=np.full(draws, np.inf), where=mean > 0)
    if remaining / seen.mean() > FAR:
        return at_pace
    length = 4 * int(np.ceil(remaining / seen.mean())) + k
    steps = np.take_along_axis(history, rng.integers(k, size=(draws, length)), axis=1)
    total = np.cumsum(steps, axis=1)
    reached = total >= remaining
    first = reached.argmax(axis=1)
    row = np.arange(draws)
    before, step = total[row, first] - steps[row, first], steps[row, first]
    within = np.divide(remaining - before, step, out=np.zeros(draws), where=reached.any(axis=1))
    short = remaining - total[:, -1]
    beyond = np.divide(short, mean, out=np.full(draws, np.inf), where=mean > 0) + length
    ends: FloatArray = np.where(reached.any(axis=1), first + within, beyond)
    return ends
