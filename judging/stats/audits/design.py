"""How the items of a probe came into the study: what depends on each other, and how many each stands for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annotation.stats.arrays import ratio
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import compute_acceleration
from annotation.stats.jackknife import Jackknife
from annotation.stats.resampling import PreparedSums, SumStatistic
from annotation.stats.table import BoolArray, FloatArray, IntArray
from judging.stats.asymptotic import build_resampling
from judging.stats.clusters import count_clustered_share


class ValueWithError(NamedTuple):
    """A figure with its standard error, effective degrees of freedom, and the acceleration of its units' influences.

    The error is 0 where no unit changes the figure; both are NaN where it is undefined without one of them. The
    acceleration is a sixth of the figure's skewness.
    """

    value: float
    se: float
    df: float
    acceleration: float = 0.0


@dataclass(frozen=True, eq=False)
class SamplingDesign:
    """Clusters and weights of n items.

    Attributes
    ----------
    clusters
        (n,) what is independent of each other; None where every item is.
    weights
        (n,) one over the inclusion probability; None where all are equal.
    """

    clusters: Sequence[str] | None = None
    weights: FloatArray | None = None

    @property
    def is_simple(self) -> bool:
        """Whether items are independent and weigh the same."""
        return self.clusters is None and self.weights is None

    def select(self, rows: BoolArray | IntArray) -> "SamplingDesign":
        """Select the design of some items, by mask or by place."""
        return SamplingDesign(
            None if self.clusters is None else np.asarray(self.clusters, dtype=object)[rows].tolist(),
            None if self.weights is None else self.weights[rows],
        )

    def weigh(self, n: int) -> FloatArray:
        """Return the weights (n,), 1 where all are equal."""
        return np.ones(n) if self.weights is None else self.weights

    def count_share(self, true: npt.ArrayLike, known: BoolArray, *, reason: str = "no items") -> Estimate:
        """Estimate the share of the items of the mask ``known`` (n,) on which ``true`` (n,) holds."""
        flags: BoolArray = np.asarray(true, dtype=bool)
        return count_clustered_share(flags, known, self.clusters, weights=self.weights, reason=reason)

    def estimate(self, statistic: SumStatistic) -> ValueWithError:
        """Compute one figure of sums over items, with its error from leaving out each unit."""
        resampling = build_resampling(len(statistic.contributions), self.clusters, self.weights)
        prepared = PreparedSums.prepare([statistic], resampling)
        value = statistic.function(resampling.times @ prepared.rows)
        knife = Jackknife.from_left_out(value, prepared.evaluate_left_out()[0], resampling)
        if knife.flat[0]:
            return ValueWithError(float(value[0]), 0.0, np.nan)
        skew = float(compute_acceleration(knife.influence, resampling.times)[0])
        return ValueWithError(float(value[0]), float(knife.se[0]), float(knife.df[0]), skew)

    def estimate_mean(self, values: FloatArray) -> ValueWithError:
        """Compute the mean of ``values`` (n,), weighted."""
        n = len(values)
        if self.is_simple:
            skew = float(compute_acceleration((values - values.mean())[:, None], np.ones(n))[0])
            return ValueWithError(float(values.mean()), float(values.std(ddof=1) / np.sqrt(n)), n - 1.0, skew)
        return self.estimate(SumStatistic(np.column_stack([values, np.ones(n)]), compute_ratio))


SIMPLE = SamplingDesign()
"""Independent items of the same weight."""


def compute_ratio(sums: FloatArray) -> FloatArray:
    """Divide the first of two sums by the second: (…, 2) to (…, 1)."""
    return ratio(sums[..., :1], sums[..., 1:])
