"""The effective sample size that a judge adds to people's labels, as a share of the labels, with an interval."""

from collections.abc import Sequence

import numpy as np
import scipy

from annotation.stats.estimate import Estimate
from annotation.stats.table import FloatArray
from judging.stats.asymptotic import build_undefined, figure, sum_by_cluster
from judging.stats.prediction_powered import NO_LABELS, NO_UNLABELLED, CorrectedMean, LabelledSample

CONSTANT = "no interval: the judge always says the same"
CERTAIN = 1 - 1e-12
"""A correlation is taken as at most this: Fisher's z of 1 is infinite."""


def sample_size_gained(parts: Sequence[tuple[LabelledSample, CorrectedMean]], *, confidence: float = 0.95) -> Estimate:
    """Effective labels over the labels there are, minus 1: 0.5 where the judge is worth half as many labels again.

    Parameters
    ----------
    parts
        The data and PPI++ of the mean, or of the rate of each category, whose variances are added up.
    confidence
        Of the interval.

    Notes
    -----
    The effective sample size is n V / V', V the variance of the figure by labels alone and V' that by PPI++. Both are
    sums of squares over independent units (items, or clusters): V of h, V' of h - b, h the influence of a unit on the
    labels' mean and b that on lambda times the judge's. With R the correlation of h and b over units, the best multiple
    of b would leave V (1 - R^2). The interval is Fisher's (1921, Metron 1:3-32) of R, also where lambda is 0, with the
    error of R from its influences and Student's quantile; its degrees of freedom are the number of units that V really
    rests on, 1 / sum (h^2 / sum h^2)^2 (as Satterthwaite's, 1946, Biometrics Bulletin 2:110-114, for a sum of squares
    with these shares). It always holds the value.
    """
    n = sum(data.n for data, _ in parts[:1])
    known = [(data, found) for data, found in parts if found.human_error > 0 and found.ppi_error > 0]
    if not known:
        why = NO_UNLABELLED if parts and parts[0][0].n >= 2 and not parts[0][0].n_unlabelled else NO_LABELS
        return build_undefined(why, n_items=n, confidence=confidence)
    by_labels, by_both = (sum(error**2 for error in errors) for errors in zip(*map(_errors, known), strict=True))
    value = by_labels / by_both - 1
    h, b = _influences(known)
    labels, alone = known[0][0], known[0][1].human_only
    units = labels.n if labels.clusters is None else len(set(labels.clusters))
    if not b.any() or np.isnan(alone.low):
        without = alone.reason if b.any() else CONSTANT
        return figure(value, n_items=n, confidence=confidence, method="none", reason=without)
    low, high = _ends(h, b, units, confidence, tuned=any(found.weight > 0 for _, found in known))
    ends = (min(low, value), max(high, value))
    return figure(value, ends, n_items=n, confidence=confidence, method="correlation of influences")


def _ends(h: FloatArray, b: FloatArray, units: int, confidence: float, *, tuned: bool) -> tuple[float, float]:
    """Ends of the gain from influences (g, c) on the labels' means and on what is taken off them."""
    hh, bb, hb = (h**2).sum(axis=1), (b**2).sum(axis=1), (h * b).sum(axis=1)
    v, w, both = hh.sum(), bb.sum(), hb.sum()
    r = min(max(both / np.sqrt(v * w), -CERTAIN), CERTAIN)
    error = _error(hb / np.sqrt(v * w) - r / 2 * (hh / v + bb / w), units)
    t = float(scipy.special.stdtrit(1 / ((hh / v) ** 2).sum(), (1 + confidence) / 2))
    used = _used(hb, bb, units) if tuned else 1.0
    ends = np.tanh(np.arctanh(r) + np.array([-t, t]) * error / (1 - r**2))
    low, high = 1 / (1 - used * np.maximum(ends, 0.0) ** 2) - 1
    return float(low), float(high)


def _used(hb: FloatArray, bb: FloatArray, units: int) -> float:
    """The share of what the best lambda would save that the tuned one does: 1 unless it is known to be another.

    With lambda m times the best one it is 1 - (1 - m)^2; the squared error of m is taken off what only seems off.
    """
    w, both = bb.sum(), hb.sum()
    if both <= 0:
        return 1.0
    m = w / both
    apart = (1 - m) ** 2 - (m * _error(hb / both - bb / w, units)) ** 2
    return float(np.clip(1 - max(apart, 0.0), 0.0, 1.0))


def _error(influence: FloatArray, units: int) -> float:
    """Standard error of a figure from the influences (g,) of the units, of which so many have labels."""
    return float(np.sqrt(units / (units - 1) * (influence**2).sum()))


def _errors(part: tuple[LabelledSample, CorrectedMean]) -> tuple[float, float]:
    return part[1].human_error, part[1].ppi_error


def _influences(known: Sequence[tuple[LabelledSample, CorrectedMean]]) -> tuple[FloatArray, FloatArray]:
    """(g, c) influences of the units on the means by labels alone, and on lambda times the judge's.

    Where no lambda is above 0, those on the judge's means themselves.
    """
    weights = [found.weight for _, found in known]
    columns = [_columns(data) for data, _ in known]
    scale = weights if any(weights) else [1.0] * len(weights)
    stacked = np.column_stack([h for h, _ in columns] + [by * b for by, (_, b) in zip(scale, columns, strict=True)])
    summed = sum_by_cluster(stacked, known[0][0].all_clusters)
    return summed[:, : len(known)], summed[:, len(known) :]


def _columns(data: LabelledSample) -> tuple[FloatArray, FloatArray]:
    """(n + N,) influences of the items on the mean of the labels, and on the difference of the judge's two means."""
    of_labels = np.concatenate([_influence(data.human, data.weights), np.zeros(data.n_unlabelled)])
    of_judge = (_influence(data.judge, data.weights), -_influence(data.unlabelled, data.unlabelled_weights))
    return of_labels, np.concatenate(of_judge)


def _influence(values: FloatArray, weights: FloatArray) -> FloatArray:
    """(n,) what each item adds to the deviation of a weighted mean."""
    return np.asarray(weights * (values - np.average(values, weights=weights)) / weights.sum())
