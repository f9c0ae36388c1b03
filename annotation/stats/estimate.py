"""One reported figure: a value, its interval, and everything needed to read it."""

import math
from dataclasses import dataclass

from annotation.stats.result_types import EstimateDocument


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval and the numbers it rests on.

    Attributes
    ----------
    value
        The point estimate; NaN where it is undefined.
    low, high
        Ends of the interval; NaN where there is none.
    reason
        Why the value, or only the interval, is NaN; None where both are there.
    n_items, n_raters, n_ratings
        What the value was computed from.
    confidence
        Nominal coverage of the interval, between 0 and 1.
    method
        ``"BCa"``, ``"jackknife t"``, ``"analytic"``, ``"simultaneous t"``, or ``"none"`` where there is no interval;
        figures by formula name theirs.
    seed
        Seed of the resampling; None where there was none.
    se
        Standard error: of the jackknife beside a bootstrap interval, of the formula beside an analytic one;
        NaN where there is none.
    df
        Effective degrees of freedom of ``se``, about the number of units that decide; NaN where there is no ``se``.
    """

    value: float
    low: float
    high: float
    reason: str | None
    n_items: int
    n_raters: int
    n_ratings: int
    confidence: float
    method: str
    seed: int | None
    se: float = math.nan
    df: float = math.nan

    @classmethod
    def from_json(cls, document: EstimateDocument) -> "Estimate":
        """The figure again from its document, which holds all of it."""
        return cls(
            value=_read_number(document["value"]),
            low=_read_number(document["low"]),
            high=_read_number(document["high"]),
            reason=document["reason"],
            n_items=document["n_items"],
            n_raters=document["n_raters"],
            n_ratings=document["n_ratings"],
            confidence=document["confidence"],
            method=document["method"],
            seed=document["seed"],
            se=_read_number(document["se"]),
            df=_read_number(document["df"]),
        )

    @property
    def defined(self) -> bool:
        """Whether there is a value."""
        return not math.isnan(self.value)

    def to_json(self) -> EstimateDocument:
        """The figure as JSON types; NaN becomes None."""
        return {
            "value": number_or_none(self.value),
            "low": number_or_none(self.low),
            "high": number_or_none(self.high),
            "reason": self.reason,
            "n_items": self.n_items,
            "n_raters": self.n_raters,
            "n_ratings": self.n_ratings,
            "confidence": self.confidence,
            "method": self.method,
            "seed": self.seed,
            "se": number_or_none(self.se),
            "df": number_or_none(self.df),
        }


def _read_number(entry: float | None) -> float:
    return math.nan if entry is None else entry


def number_or_none(number: float | None) -> float | None:
    """``number``, or None where it is NaN, which JSON cannot say."""
    return None if number is None or math.isnan(number) else number
