"""Does the judge prefer what is longer, beyond what people prefer?

Dubois et al. (2024), "Length-Controlled AlpacaEval", arXiv 2404.04475.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotation.stats.arrays import ratio
from annotation.stats.estimate import Estimate
from annotation.stats.resampling import SumStatistic
from annotation.stats.table import FloatArray
from judging.stats.asymptotic import normal
from judging.stats.audits.design import SIMPLE, SamplingDesign, ValueWithError
from judging.stats.audits.probe import LEAST, Probe, influence_probe, not_made

UNIT = "judge − person, per standard deviation of length"


def length(
    judge: npt.ArrayLike,
    person: npt.ArrayLike,
    lengths: npt.ArrayLike,
    *,
    paired: bool = False,
    design: SamplingDesign = SIMPLE,
) -> Probe:
    """Slope of judge − person on length.

    Parameters
    ----------
    judge, person
        (n,) scores of an item, or preferences for response A of a pair (1, 0, 0.5); NaN where missing.
    lengths
        (n,) log length of what is scored; for pairs the log of A's length over B's, so that 0 is equally long.
    paired
        Whether items are pairs; then `win_rates` are the details.
    design
        As in `mean_probe`.
    """
    f, y, x = (np.asarray(column, dtype=float) for column in (judge, person, lengths))
    known = ~np.isnan(f) & ~np.isnan(y) & ~np.isnan(x)
    n = int(known.sum())
    if n < LEAST:
        return not_made("length", UNIT, f"{n} items with both verdicts and a length; the probe needs {LEAST}", n)
    design = design.select(known)
    w = design.weigh(n)
    spread = float(np.sqrt(np.average((x[known] - np.average(x[known], weights=w)) ** 2, weights=w)))
    if spread < 1e-12:
        return not_made("length", UNIT, "all items are equally long", n)
    scaled = x[known] / spread
    fit = line(scaled, (f - y)[known])
    details = win_rates(f[known], x[known], design=design) if paired else {}
    d = (f - y)[known]
    sums = np.column_stack([np.ones(n), scaled, d, scaled**2, scaled * d])
    slope = SumStatistic(sums, _slope)
    return influence_probe("length", fit.slope, fit.influence[:, 1], slope, unit=UNIT, design=design, details=details)


def _slope(sums: FloatArray) -> FloatArray:
    """(…, 1) slope of y on x from the sums of 1, x, y, x^2 and x y."""
    n, x, y, xx, xy = np.moveaxis(sums, -1, 0)
    return ratio(n * xy - x * y, n * xx - x**2)[..., None]


def _intercept(sums: FloatArray) -> FloatArray:
    """(…, 1) the value of the same line at x = 0."""
    return ratio(sums[..., 2:3] - _slope(sums) * sums[..., 1:2], sums[..., :1])


def win_rates(judge: npt.ArrayLike, lengths: npt.ArrayLike, *, design: SamplingDesign = SIMPLE) -> dict[str, Estimate]:
    """A's win rate by the judge (n,), and what a straight line gives for responses of equal length.

    ``lengths`` (n,) are log ratios, so that 0 is equally long; NaN takes no part.
    """
    f, x = np.asarray(judge, dtype=float), np.asarray(lengths, dtype=float)
    known = ~np.isnan(f) & ~np.isnan(x)
    f, x = f[known], x[known]
    design = design.select(known)
    if design.is_simple:
        fit, mean = line(x, f), float(f.mean())
        parts = ((mean, (f - mean) / len(f)), (fit.intercept, fit.influence[:, 0]))
        errors = [ValueWithError(value, float(np.sqrt((part**2).sum())), np.inf) for value, part in parts]
    else:
        sums = SumStatistic(np.column_stack([np.ones(len(f)), x, f, x**2, x * f]), _intercept)
        errors = [design.estimate_mean(f), design.estimate(sums)]
    names = ("win_rate", "win_rate_at_equal_length")
    return {
        name: normal(value, se, df=df, n_items=len(f), bounds=(0.0, 1.0))
        for name, (value, se, df, _) in zip(names, errors, strict=True)
    }


@dataclass(frozen=True, eq=False)
class Line:
    """Intercept and slope, and what each item adds to the deviation of either (n, 2)."""

    intercept: float
    slope: float
    influence: FloatArray


def line(x: FloatArray, y: FloatArray) -> Line:
    """Least squares of y on x; ``x`` must vary."""
    design = np.column_stack([np.ones(len(x)), x])
    bread = np.linalg.inv(design.T @ design)
    coefficients = bread @ (design.T @ y)
    leverage = np.einsum("ij,jk,ik->i", design, bread, design)
    residual = (y - design @ coefficients) / np.maximum(1 - leverage, 1e-9)
    return Line(float(coefficients[0]), float(coefficients[1]), (design * residual[:, None]) @ bread)
