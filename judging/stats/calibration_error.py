"""Expected calibration error of the population that the items were drawn from, with its interval.

The sum of distances over bins (Naeini, Cooper and Hauskrecht 2015, AAAI) counts the noise of each bin as error (Kumar,
Liang and Ma 2019, NeurIPS): 60 items in ten bins show .13 where there is none. So the sum is compared with those of
simulated samples: the interval holds the errors whose samples have such a sum (hybrid resampling; Chuang and Lai 2000,
Statistica Sinica 10:1-50), and the value is the error of which half of all samples have a smaller one.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from annotation.stats.estimate import Estimate
from annotation.stats.intervals import FLAT, NONE, NOT_ASKED, Basis, explain_no_interval
from annotation.stats.resampling import Resampling, ratio
from annotation.stats.table import FloatArray, IntArray

HYBRID = "hybrid resampling"
DRAWS, STEPS = 4000, 40
TOO_CLOSE = "the scores fit these items better than chance allows, as scores do that were fitted to the labels"


def estimate_calibration_error(
    contributions: FloatArray, resampling: Resampling, basis: Basis, reason: str | None = None
) -> Estimate:
    """The sum over bins of the distance of mean score and mean label in the population, each by its share of the items.

    Parameters
    ----------
    contributions
        (n, bins + 1) score minus label of each item in the column of its bin, 0 in the others; and last a one. Rows may
        be sums over several items.
    resampling
        The units of the rows, their weights, the confidence and the seed.
    basis
        What the error was computed from.
    reason
        Why it is not known, where no row has anything in the last column.
    """
    rows = resampling.sum_by_unit(contributions)
    total = resampling.times @ rows
    if not total[-1] > 0:
        return _build(np.nan, None, resampling, basis, reason or "undefined for these ratings")
    left = total - rows
    bins = BinGaps(
        total[:-1] / total[-1],
        _covariance(resampling.influence(ratio(left[:, :-1], left[:, -1:])), resampling),
        max(resampling.most_df, 1.0),
        resampling.seed,
    )
    why = NOT_ASKED if resampling.n_replicates == 0 else explain_no_interval(resampling)
    if not (bins.variance > 0).any():  # NaN where one unit holds all
        why = why or f"{FLAT} of the {resampling.unit_name} changes nothing"
        return _build(bins.observed, None, resampling, basis, why)
    tail = (1 - resampling.confidence) / 2
    ends = None if why else (bins.find_error(1 - tail), bins.find_error(tail))
    if ends and ends[1] <= bins.least:  # no error has samples with so small a sum
        ends, why = None, TOO_CLOSE
    return _build(bins.find_error(0.5), ends, resampling, basis, why)


def place_in_bins(gaps: FloatArray, place: IntArray, bins: int) -> FloatArray:
    """(n, bins + 1) the ``contributions`` of single items: each gap (n,) in the column of its bin, and a one."""
    found = np.zeros((len(gaps), bins + 1))
    found[np.arange(len(gaps)), place], found[:, -1] = gaps, 1.0
    return found


def compute_plain_error(contributions: FloatArray, resampling: Resampling) -> float:
    """The sum over bins of the items themselves, as Naeini, Cooper and Hauskrecht define it; NaN without items."""
    total = resampling.all_items @ contributions
    return float(ratio(np.abs(total[:-1]).sum(), total[-1]))


def _covariance(influence: FloatArray, resampling: Resampling) -> FloatArray:
    """(m, m) covariance of figures whose units have the given ``influence`` (k, m), stratum by stratum."""
    size = resampling.stratum_sizes
    freed = resampling.times * (size / np.maximum(size - 1, 1))[resampling.stratum]
    found: FloatArray = influence.T @ (freed[:, None] * influence)
    return found


def _build(
    value: float, ends: tuple[float, float] | None, resampling: Resampling, basis: Basis, reason: str | None
) -> Estimate:
    low, high = ends or (np.nan, np.nan)
    return Estimate(
        value=min(value, 1.0) if value == value else value,
        low=low,
        high=min(high, 1.0) if ends else high,
        reason=reason,
        n_items=basis.n_items,
        n_raters=basis.n_raters,
        n_ratings=basis.n_ratings,
        confidence=resampling.confidence,
        method=HYBRID if ends else NONE,
        seed=resampling.seed if ends else None,
        se=np.nan,
        df=np.nan,
    )


@dataclass(frozen=True, eq=False)
class BinGaps:
    """Score minus label by bin (m,), as observed, with covariance (m, m) on so many degrees of freedom."""

    gaps: FloatArray
    covariance: FloatArray
    df: float
    seed: int

    @property
    def observed(self) -> float:
        return float(np.abs(self.gaps).sum())

    @property
    def least(self) -> float:
        """The error where all gaps are 0 that sampling may have made."""
        return float(np.abs(self.gaps[self.variance <= 0]).sum())

    @property
    def variance(self) -> FloatArray:
        return np.diag(self.covariance)

    @cached_property
    def noise(self) -> FloatArray:
        """(DRAWS, m) what sampling adds to the gaps: normal, wider where few units tell how wide."""
        rng = np.random.default_rng(self.seed)
        values, vectors = np.linalg.eigh(self.covariance)
        normal = rng.standard_normal((DRAWS, len(values))) * np.sqrt(np.maximum(values, 0)) @ vectors.T
        found: FloatArray = normal * np.sqrt(self.df / rng.chisquare(self.df, (DRAWS, 1)))
        return found

    def find_error(self, share: float) -> float:
        """The error of which this share of samples has a smaller sum than the observed; 0 where even of 0 fewer have.

        Each error stands for the true gaps that are likeliest for it: the observed ones, each nearer to 0 or further
        from it in proportion to its variance.
        """
        known = self.variance > 0
        high = float((np.abs(self.gaps[known]) / self.variance[known]).max())
        if self._share_below(high) < share:
            return self.least
        step = (self.observed + np.sqrt(self.variance).sum()) / self.variance.sum()
        low = high - step
        while self._share_below(low) >= share:
            step *= 2
            low = high - step
        for _ in range(STEPS):
            middle = (low + high) / 2
            low, high = (low, middle) if self._share_below(middle) >= share else (middle, high)
        return float(np.abs(self._move_gaps((low + high) / 2)).sum())

    def _move_gaps(self, by: float) -> FloatArray:
        return np.where(self.gaps < 0, -1.0, 1.0) * np.maximum(np.abs(self.gaps) - by * self.variance, 0.0)

    def _share_below(self, by: float) -> float:
        """The share of samples of the shifted gaps whose sum is below the observed one."""
        return float((np.abs(self._move_gaps(by) + self.noise).sum(axis=1) < self.observed).mean())
