"""Intervals for small samples: the jackknife's standard error with Student's t on effective degrees of freedom.

Leaving out one unit (an item, or a whole cluster) in turn gives the unit's influence, and the influences a standard
error that tends to be too large rather than too small (Bell and McCaffrey 2002, Survey Methodology 28:169-181;
MacKinnon, Nielsen and Webb 2023, Journal of Econometrics 232:272-299, who call it CV3). With few units, or few that
matter, that error is itself uncertain. Satterthwaite (1946, Biometrics Bulletin 2:110-114) gives a variance v the
degrees of freedom 2 v^2 / Var(v); with the variance of a sample variance (Kenney and Keeping 1951, Mathematics of
Statistics, part 2) these are 2 n / (kurtosis - (n - 3) / (n - 1)): n - 1 for normal influences, less where few decide.
That kurtosis is itself estimated, and too small in most samples of few unequal clusters; so the degrees of freedom are
at most those of as many equal clusters as the unequal ones amount to (`annotation.stats.units.Resampling.most_df`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy

from annotation.stats.table import BoolArray, FloatArray
from annotation.stats.units import Resampling

Scale = Literal["plain", "coefficient", "share"]
"""Where an interval is symmetric: in the value itself, in Fisher's z (-1 to 1), or in the log odds (0 to 1)."""

SHARES = (
    "percent_agreement", "pairwise_agreement", "kendall_w", "accuracy", "within_one",
    "macro_precision", "macro_recall", "macro_f1", "overlap_f1", "labelled_overlap_f1", "exact_f1",
    "mean_masi", "mean_jaccard",
)  # fmt: skip
IN_UNITS = ("mae", "bias")

ROUNDING = 1e-12
"""Differences up to this are rounding: who changes a figure by less does not change it."""


@dataclass(frozen=True, eq=False)
class Jackknife:
    """Standard errors (m,) and degrees of freedom (m,) of m figures.

    NaN where a figure is undefined without one of its units, or where nothing varies: see ``flat`` (m,).
    """

    influence: FloatArray
    se: FloatArray
    df: FloatArray
    flat: BoolArray

    @classmethod
    def from_left_out(
        cls, value: FloatArray, left_out: FloatArray, resampling: Resampling, weight: FloatArray | None = None
    ) -> "Jackknife":
        """From the values (m,) of all units and those (k, m) without each unit.

        ``weight`` (k, m) is the share of each unit in each figure where that is known (not NaN); elsewhere units count
        by their share in all items.
        """
        influence = resampling.influence(left_out)
        se = np.sqrt(influence_variance(influence, resampling))
        flat: BoolArray = np.asarray(se <= ROUNDING)
        used = resampling.times @ (np.abs(left_out - value) > ROUNDING)
        most_df = resampling.most_df if weight is None else _count_most_df(weight, resampling)
        most = np.minimum(used - len(resampling.stratum_sizes), most_df)
        df = effective_df(influence, resampling.times, most)
        unknown = flat | np.isnan(se) | ~(df >= 1)
        return cls(influence, np.where(unknown, np.nan, se), np.where(unknown, np.nan, df), flat)


def _count_most_df(weight: FloatArray, resampling: Resampling) -> FloatArray:
    known = (np.nan_to_num(weight) > 0).any(axis=0)
    return np.where(known, resampling.count_most_df(np.nan_to_num(weight)), resampling.most_df)


def influence_variance(influence: FloatArray, resampling: Resampling) -> FloatArray:
    """Variance (m,) of a statistic whose units have the given ``influence`` (k, m), stratum by stratum."""
    size = resampling.stratum_sizes
    freed = (size / np.maximum(size - 1, 1))[resampling.stratum]
    variance: FloatArray = (resampling.times * freed) @ influence**2
    return variance


def effective_df(influence: FloatArray, times: FloatArray, most: FloatArray | float) -> FloatArray:
    """Degrees of freedom (m,), at most ``most``, of the variance of influences (k, m), each there ``times`` (k,).

    NaN where nothing varies.
    """
    n, squares = times.sum(), influence**2
    second, fourth = times @ squares, times @ squares**2
    flat = ~(second > ROUNDING**2)
    kurtosis = n * fourth / np.where(flat, np.nan, second) ** 2
    excess = kurtosis - (n - 3) / max(n - 1, 1)
    df: FloatArray = np.minimum(2 * n / np.where(excess > 0, excess, np.nan), most)
    return np.where(excess > 0, df, np.where(flat, np.nan, most))


def find_scales(names: Iterable[str]) -> tuple[Scale, ...]:
    """The scale of each figure by its name: shares, means in units of the scale, and coefficients."""
    return tuple("share" if name in SHARES else "plain" if name in IN_UNITS else "coefficient" for name in names)


def t_ends(
    value: FloatArray, se: FloatArray, df: FloatArray, confidence: float, scale: Scale | Sequence[Scale] = "plain"
) -> tuple[FloatArray, FloatArray]:
    """Ends (m,) of the intervals value -+ t se, each on its scale; plain where the value is at the end of that scale.

    On a scale g the ends are those of g(value) -+ t g'(value) se, taken back: they never pass the end of the scale.
    """
    half = student_quantile(df, confidence) * se
    scales = np.array([scale] * len(value) if isinstance(scale, str) else list(scale), dtype=object)
    # log odds of p are twice Fisher's z of 2 p - 1
    centre = np.where(scales == "share", 2 * value - 1, value)
    stretch = np.where(scales == "share", 2.0, 1.0)
    bent = (scales != "plain") & (np.abs(centre) < 1)
    inside = np.where(bent, centre, 0.0)
    steps = stretch * half / (1 - inside**2)
    low, high = np.tanh(np.arctanh(inside) - steps), np.tanh(np.arctanh(inside) + steps)
    back = np.where(scales == "share", 0.5, 0.0)
    return (
        np.where(bent, low / stretch + back, value - half),
        np.where(bent, high / stretch + back, value + half),
    )


def student_quantile(df: FloatArray, confidence: float) -> FloatArray:
    """Two-sided quantiles (m,) of Student's t; NaN without degrees of freedom."""
    quantile: FloatArray = scipy.special.stdtrit(np.where(df >= 1, df, np.nan), (1 + confidence) / 2)
    return quantile
