"""The effective sample size that a judge adds to people's labels, as a share of the labels, with an interval."""

from collections.abc import Sequence

import numpy as np
import scipy

from annotation.stats.estimate import Estimate
from annotation.stats.table import FloatArray
from judging.stats.asymptotic import figure, summed_by_cluster, undefined
from judging.stats.prediction_powered import NO_LABELS, NO_UNLABELLED, Corrected, Labelled

NOT_USED = "no interval: the corrected figure does not use the judge (lambda is 0)"


def sample_size_gained(parts: Sequence[tuple[Labelled, Corrected]], *, confidence: float = 0.95) -> Estimate:
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
    sums of squared influences over independent units (items, or clusters), so that log(V / V') has the standard error
    sqrt(g / (g - 1) sum (h^2 / sum h^2 - p^2 / sum p^2)^2), h and p the influences of a unit on either figure. That
    lambda is estimated adds nothing of first order, since V' is least there. The quantile is Student's; its degrees of
    freedom are the number of units that the variance V really rests on, 1 / sum (h^2 / sum h^2)^2 (as Satterthwaite's,
    1946, Biometrics Bulletin 2:110-114, for a sum of squares with these shares).
    """
    n = sum(data.n for data, _ in parts[:1])
    known = [(data, found) for data, found in parts if found.human_error > 0 and found.ppi_error > 0]
    if not known:
        why = NO_UNLABELLED if parts and parts[0][0].n >= 2 and not parts[0][0].n_unlabelled else NO_LABELS
        return undefined(why, n_items=n, confidence=confidence)
    by_labels, by_both = (sum(error**2 for error in errors) for errors in zip(*map(_errors, known), strict=True))
    value = by_labels / by_both - 1
    squares = [sum(part) for part in zip(*(_squares(data, found.weight) for data, found in known), strict=True)]
    g = int((squares[0] > 0).sum())
    if g < 2 or all(found.weight == 0 for _, found in known):
        return figure(value, n_items=n, confidence=confidence, method="none", reason=NOT_USED)
    shares = squares[0] / squares[0].sum()
    difference = shares - squares[1] / squares[1].sum()
    error = float(np.sqrt(g / (g - 1) * (difference**2).sum()))
    half = float(scipy.stats.t.ppf((1 + confidence) / 2, 1 / (shares**2).sum())) * error
    ends = ((1 + value) * np.exp(-half) - 1, (1 + value) * np.exp(half) - 1)
    return figure(value, ends, n_items=n, confidence=confidence, method="log ratio of variances")


def _errors(part: tuple[Labelled, Corrected]) -> tuple[float, float]:
    return part[1].human_error, part[1].ppi_error


def _squares(data: Labelled, weight: float) -> tuple[FloatArray, FloatArray]:
    """(g,) squared influences of the units on the mean by labels alone, and on that by PPI++."""
    alone = np.concatenate([_influence(data.human, data.weights), np.zeros(data.n_unlabelled)])
    both = np.concatenate(
        [
            _influence(data.human - weight * data.judge, data.weights),
            weight * _influence(data.unlabelled, data.unlabelled_weights),
        ]
    )
    summed = summed_by_cluster(np.column_stack([alone, both]), data.all_clusters)
    return summed[:, 0] ** 2, summed[:, 1] ** 2


def _influence(values: FloatArray, weights: FloatArray) -> FloatArray:
    """(n,) what each item adds to the deviation of a weighted mean."""
    return np.asarray(weights * (values - np.average(values, weights=weights)) / weights.sum())
