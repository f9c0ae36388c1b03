"""The risk-coverage curve: how often the judge is wrong when only its surest verdicts are kept.

El-Yaniv and Wiener (2010), JMLR 11:1605-1641; the area under it after Geifman, Uziel and El-Yaniv (2019), ICLR.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from annotation.stats.arrays import ratio
from annotation.stats.estimate import Estimate
from annotation.stats.table import FloatArray
from judging.stats.redraw import drawn, n_units, percentile, units

MOST_POINTS = 200


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

    def as_json(self) -> dict[str, Any]:
        """Curve and area as JSON types; of more than `MOST_POINTS` thresholds every so-manieth, ends included."""
        k = len(self.thresholds)
        shown = np.unique(np.linspace(0, k - 1, min(k, MOST_POINTS)).round().astype(np.int64)) if k else slice(0)
        columns = (self.thresholds[shown], self.coverage[shown], self.risk[shown])
        points = zip(*(column.tolist() for column in columns), strict=True)
        return {
            "aurc": self.area.as_json(),
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
        Of the percentile interval of the area.
    """
    sure, agrees = np.asarray(confidence, dtype=float), np.asarray(agreement, dtype=float)
    known = ~np.isnan(sure) & ~np.isnan(agrees)
    values, place = np.unique(-sure[known], return_inverse=True)
    wrong, n = 1 - agrees[known], int(known.sum())
    weight = np.ones(n) if weights is None else np.asarray(weights, dtype=float)[known]
    unit = units(n, None if clusters is None else np.asarray(clusters, dtype=object)[known].tolist())
    shape = (n_units(unit), len(values))
    size, errors = (scipy.sparse.csr_array((part, (unit, place)), shape) for part in (weight, weight * wrong))
    coverage, risk, area = _curve(size.sum(axis=0)[None], errors.sum(axis=0)[None])
    redrawn = drawn(shape[0], replicates=bootstrap, seed=seed)
    blocks = [_curve(times @ size, times @ errors)[2] for times in redrawn]
    replicates = np.concatenate(blocks) if blocks else np.zeros(0)
    return RiskCoverage(
        thresholds=-values,
        coverage=coverage[0],
        risk=risk[0],
        area=percentile(
            float(area[0]) if n else np.nan,
            replicates,
            n_items=n,
            n_units=shape[0],
            confidence=level,
            seed=seed,
            reason="no labelled item with a confidence",
        ),
        error=float(np.average(wrong, weights=weight)) if n else np.nan,
    )


def _curve(size: FloatArray, errors: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(b, k) coverage, (b, k) risk and (b,) area from (b, k) weights of all and of wrong items by threshold."""
    total = size.sum(axis=1, keepdims=True)
    kept = np.cumsum(size, axis=1)
    risk = ratio(np.cumsum(errors, axis=1), kept)
    area = ratio((size * np.nan_to_num(risk)).sum(axis=1), total[:, 0])
    return ratio(kept, total), risk, area
