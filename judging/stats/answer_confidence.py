"""Whether a model on a benchmark is right as often as it is sure, with intervals over personas."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annotation.stats.arrays import ratio
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import Basis, estimates
from annotation.stats.jackknife import Scale
from annotation.stats.resampling import SumStatistic, replicate
from annotation.stats.table import FloatArray
from judging.stats.benchmark import Answers, Sheet
from judging.stats.calibration_error import compute_plain_error, estimate_calibration_error

NO_PROBABILITY = "the model tells no probabilities"

BINS = 10
"""Of the reliability diagram, equally wide from 0.5 to 1: the more probable of two verdicts has at least a half."""

ROUNDING = 1e-9
"""A confidence this little below the edge of a bin lies on it: (0.6 - 0.5) * 20 is not exactly 2 in binary."""


@dataclass(frozen=True)
class ConfidenceBin:
    """Answers whose confidence lies from ``low`` to ``high``: their mean confidence, and how many were right."""

    low: float
    high: float
    confidence: float
    accuracy: Estimate


@dataclass(frozen=True)
class Confidence:
    """Whether a model is right as often as it is sure.

    Attributes
    ----------
    ece
        Expected calibration error of all such answers (`judging.stats.calibration_error`).
    plain_ece
        The same of these answers, as it is defined: the distance of confidence and share of right answers, bin by bin,
        weighted by answers (Naeini, Cooper and Hauskrecht 2015, AAAI). It is larger where bins are small.
    brier
        Mean squared distance of the confidence in the verdict and 1 or 0 for a right or wrong one (Brier 1950).
    excess
        Mean confidence − accuracy: above 0 is overconfidence.
    bins
        The reliability diagram.
    """

    ece: Estimate
    plain_ece: float
    brier: Estimate
    excess: Estimate
    bins: tuple[ConfidenceBin, ...]


def calibrate_confidence(answers: Answers, sheet: Sheet) -> Confidence:
    """Calibration of a model's confidence, every answer by itself, with intervals over personas."""
    cases = sheet.cases
    right = answers.right(cases)
    rows, places = np.nonzero(np.isfinite(right) & np.isfinite(answers.confidence))
    p, y, persona = answers.confidence[rows, places], right[rows, places], cases.persona[rows]
    bins = np.clip(((p - 0.5) * 2 * BINS + ROUNDING).astype(np.int64), 0, BINS - 1)
    n = cases.n_personas

    def summed(values: FloatArray) -> FloatArray:
        """(n_personas, BINS) sums by persona and bin."""
        return np.bincount(persona * BINS + bins, values, minlength=n * BINS).astype(float).reshape(n, BINS)

    sums = np.hstack([summed(np.ones(len(p))), summed(p), summed(y), summed((p - y) ** 2)])
    resampling = sheet.resampling()
    (found,) = replicate([SumStatistic(sums, _calibration)], resampling)
    counts = sums[:, :BINS].sum(axis=0)
    basis = Basis(len(p), 1, len(p))
    gaps = np.column_stack([summed(p - y), np.bincount(persona, minlength=n)])
    ece = estimate_calibration_error(gaps, resampling, basis, NO_PROBABILITY)
    bases = [basis] * 2 + [Basis(int(count), 1, int(count)) for count in counts]
    scales: list[Scale] = ["share", "plain", *["share"] * BINS]  # type: ignore[list-item]
    reasons = [NO_PROBABILITY] * len(bases)
    brier, excess, *accuracies = estimates(found, resampling, bases, reasons, scale=scales)
    means = ratio(sums[:, BINS : 2 * BINS].sum(axis=0), counts)
    edges = np.linspace(0.5, 1.0, BINS + 1).tolist()
    diagram = [
        ConfidenceBin(edges[b], edges[b + 1], float(means[b]), accuracies[b])
        for b in np.flatnonzero(counts > 0).tolist()
    ]
    return Confidence(ece, compute_plain_error(gaps, resampling), brier, excess, tuple(diagram))


def _calibration(sums: FloatArray) -> FloatArray:
    """(…, 2 + BINS) Brier score, mean excess and accuracy of each bin, from (…, 4 BINS) sums."""
    n, p, y, squared = (sums[..., k * BINS : (k + 1) * BINS] for k in range(4))
    total = n.sum(axis=-1)
    whole = [squared.sum(axis=-1), (p - y).sum(axis=-1)]
    figures = np.stack([ratio(one, total) for one in whole], axis=-1)
    return np.concatenate([figures, ratio(y, n)], axis=-1)
