"""The risk-coverage curve: how often the judge is wrong when only its surest verdicts are kept.

El-Yaniv and Wiener (2010), JMLR 11:1605-1641; the area under it after Geifman, Uziel and El-Yaniv (2019), ICLR.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from annotation.stats.arrays import ratio
from annotation.stats.drawing import BUDGET
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import Basis, estimates
from annotation.stats.resampling import Replicates, Resampling
from annotation.stats.table import FloatArray
from judging.stats.asymptotic import build_resampling
from judging.stats.calibration_types import RiskCoverageDocument

MOST_POINTS = 200
NOTHING = "no labelled item with a confidence"

MOST_LEFT_OUT = 4 * BUDGET
"""Units times thresholds up to which units are left out one by one; with more the area is linear enough in each."""


@dataclass(frozen=True, eq=False)
class RiskCoverage:
    """Coverage and risk at each threshold, from the strictest to the loosest, and the area under the curve.

    Attributes
    ----------
    thresholds, coverage, risk
        (k,) arrays: keep verdicts of at least this confidence; share of items kept; share of those that are wrong.
    area
        AURC: mean over items of the risk among the items at least as sure. Lower is better; a judge whose confidence
        says nothing has its error rate.
    error
        The risk at full coverage.
    """

    thresholds: FloatArray
    coverage: FloatArray
    risk: FloatArray
    area: Estimate
    error: float

    def to_json(self) -> RiskCoverageDocument:
        """Curve and area as JSON types; of more than `MOST_POINTS` thresholds every so-manieth, ends included."""
        k = len(self.thresholds)
        shown = np.unique(np.linspace(0, k - 1, min(k, MOST_POINTS)).round().astype(np.int64)) if k else slice(0)
        columns = (self.thresholds[shown], self.coverage[shown], self.risk[shown])
        points = zip(*(column.tolist() for column in columns), strict=True)
        return {
            "aurc": self.area.to_json(),
            "points": [{"threshold": t, "coverage": c, "risk": r} for t, c, r in points],
        }


def risk_coverage(
    confidence: npt.ArrayLike,
    agreement: npt.ArrayLike,
    *,
    clusters: Sequence[str] | None = None,
    weights: npt.ArrayLike | None = None,
    bootstrap: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> RiskCoverage:
    """The curve of the items with a confidence and a label (not NaN); equally sure items can only be kept together.

    Parameters
    ----------
    confidence, agreement
        (n,) confidence of the verdict, and whether it is what people said: 1, 0, or between where people are tied.
    clusters, weights
        (n,) what is resampled together, and one over the inclusion probability; items by themselves, equal by default.
    bootstrap, level, seed
        Of the interval of the area (`annotation.stats.intervals`).
    """
    sure, agrees = np.asarray(confidence, dtype=float), np.asarray(agreement, dtype=float)
    known = ~np.isnan(sure) & ~np.isnan(agrees)
    values, place = np.unique(-sure[known], return_inverse=True)
    wrong, n = 1 - agrees[known], int(known.sum())
    weight = np.ones(n) if weights is None else np.asarray(weights, dtype=float)[known]
    names = None if clusters is None else np.asarray(clusters, dtype=object)[known].tolist()
    resampling = build_resampling(n, names, weight, level, bootstrap=bootstrap if n else 0, seed=seed)
    shape = (len(resampling.stratum), len(values))
    of_units = _UnitWeights(
        *(
            scipy.sparse.csr_array((resampling.item_weights * part, (resampling.unit, place)), shape)
            for part in (np.ones(n), wrong)
        )
    )
    coverage, risk, area = _curve(*of_units.total)
    (found,) = estimates(
        _replicates(of_units, area, resampling), resampling, [Basis(n, 2, 2 * n)], [NOTHING], scale="share"
    )
    return RiskCoverage(
        thresholds=-values,
        coverage=coverage[0],
        risk=risk[0],
        area=found,
        error=float(np.average(wrong, weights=weight)) if n else np.nan,
    )


@dataclass(frozen=True, eq=False)
class _UnitWeights:
    """(g, k) weights of all and of wrong items of each unit, by threshold."""

    size: scipy.sparse.csr_array
    errors: scipy.sparse.csr_array

    @property
    def total(self) -> tuple[FloatArray, FloatArray]:
        """(1, k) each, of all units."""
        return self.size.sum(axis=0)[None], self.errors.sum(axis=0)[None]


def _replicates(of_units: _UnitWeights, area: FloatArray, resampling: Resampling) -> Replicates:
    """The area, resampled and without each unit."""
    if resampling.n_replicates == 0 or resampling.n_units < 2:
        return Replicates(area, np.empty((0, 1)), np.empty((0, 1)))
    drawn = [_curve(draws.double @ of_units.size, draws.double @ of_units.errors)[2] for draws in resampling.draws()]
    few = of_units.size.shape[0] * of_units.size.shape[1] <= MOST_LEFT_OUT
    left_out = _left_out(of_units) if few else area - _influences(of_units)
    return Replicates(area, np.concatenate(drawn)[:, None], left_out[:, None])


def _left_out(of_units: _UnitWeights) -> FloatArray:
    """(g,) the area without each unit."""
    (size, errors), (g, k) = of_units.total, of_units.size.shape
    rows = max(1, BUDGET // k)
    blocks = [slice(start, start + rows) for start in range(0, g, rows)]
    return np.concatenate(
        [_curve(size - of_units.size[b].toarray(), errors - of_units.errors[b].toarray())[2] for b in blocks]
    )


def _influences(of_units: _UnitWeights) -> FloatArray:
    """(g,) derivative of the area in the weight of each unit.

    With s and e the weights of all and of wrong items at a threshold, S and E their cumulated sums, the area is
    sum(s E / S) / sum(s): ds moves it by E / S - area at its threshold and by -s E / S^2 there and at all later ones,
    de by s / S.
    """
    (size,), (errors,) = of_units.total
    kept, wrong = np.cumsum(size), np.cumsum(errors)
    area = (size * wrong / kept).sum() / size.sum()
    later = [np.cumsum(part[::-1])[::-1] for part in (size * wrong / kept**2, size / kept)]
    found: FloatArray = (of_units.size @ (wrong / kept - area - later[0]) + of_units.errors @ later[1]) / size.sum()
    return found


def _curve(size: FloatArray, errors: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(b, k) coverage, (b, k) risk and (b,) area from (b, k) weights of all and of wrong items by threshold."""
    total = size.sum(axis=1, keepdims=True)
    kept = np.cumsum(size, axis=1)
    risk = ratio(np.cumsum(errors, axis=1), kept)
    area = ratio((size * np.nan_to_num(risk)).sum(axis=1), total[:, 0])
    return ratio(kept, total), risk, area
