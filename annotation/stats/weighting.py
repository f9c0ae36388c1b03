"""Agreement weights: how much credit two categories give each other, from 0 to 1.

Cohen (1968), "Weighted kappa", Psychological Bulletin 70:213-220; Gwet (2014), Handbook of Inter-Rater
Reliability, 4th edition, chapter 3.
"""

from collections.abc import Callable, Sequence
from typing import Literal, get_args

import numpy as np

from annotation.stats.kemeny import kemeny_weights
from annotation.stats.masi import jaccard_weights, masi_weights
from annotation.stats.table import FloatArray, Level, RatingTable

Weighting = Literal["identity", "linear", "quadratic", "ordinal", "radical", "ratio", "kemeny", "masi", "jaccard"]


OF_TEXTS: dict[Weighting, Callable[[Sequence[str]], FloatArray]] = {
    "kemeny": kemeny_weights,
    "masi": masi_weights,
    "jaccard": jaccard_weights,
}
"""Weights that read what the categories say."""

OF_LEVEL: dict[Level, Weighting] = {"ranking": "kemeny", "set": "masi"}


def identity_weights(n_categories: int) -> FloatArray:
    """(q, q) credit for the same category only."""
    return np.eye(n_categories)


def linear_weights(places: FloatArray) -> FloatArray:
    """(q, q) credit 1 - |x_k - x_l| / range, ``places`` (q,) where the categories stand."""
    return 1 - _distances(places)


def quadratic_weights(places: FloatArray) -> FloatArray:
    """(q, q) credit 1 - (x_k - x_l)^2 / range^2, ``places`` (q,) where the categories stand."""
    return 1 - _distances(places) ** 2


def radical_weights(places: FloatArray) -> FloatArray:
    """(q, q) credit 1 - square root of |x_k - x_l| / range."""
    return 1 - np.sqrt(_distances(places))


def ordinal_weights(n_categories: int) -> FloatArray:
    """(q, q) credit 1 - m_kl / m_1q, m_kl the number of pairs of categories from k to l: by rank alone."""
    rank = np.arange(float(n_categories))
    span = np.abs(rank[:, None] - rank[None, :])
    return 1 - _scaled(span * (span + 1) / 2)


def ratio_weights(scores: FloatArray) -> FloatArray:
    """(q, q) credit 1 - ((x_k - x_l) / (x_k + x_l))^2 over its largest value."""
    total = scores[:, None] + scores[None, :]
    relative = (scores[:, None] - scores[None, :]) / np.where(total > 0, total, 1.0)
    return 1 - _scaled(relative**2)


def compute_weights(table: RatingTable, weighting: Weighting) -> FloatArray:
    """(q, q) agreement weights of a table's scale, its categories at their `positions`.

    ``ratio`` weights take the scores instead, whose zero means something, ``kemeny`` the rankings, ``masi`` and
    ``jaccard`` the sets. Raises ``ValueError`` on another name.
    """
    q = table.n_categories
    if weighting not in get_args(Weighting):
        raise ValueError(f"weights are {weighting!r}; they must be one of {', '.join(get_args(Weighting))}")
    if weighting in ("identity", "ordinal"):
        return identity_weights(q) if weighting == "identity" else ordinal_weights(q)
    if weighting in OF_TEXTS:
        return OF_TEXTS[weighting]([str(category) for category in table.categories])
    if weighting == "ratio":
        return ratio_weights(table.scores)
    make = {"linear": linear_weights, "quadratic": quadratic_weights, "radical": radical_weights}[weighting]
    return make(positions(table))


def positions(table: RatingTable) -> FloatArray:
    """(q,) where the categories stand: at equal steps on an ordinal scale, which says only their order; at
    their scores on interval and ratio scales.
    """
    return table.scores if table.level in ("interval", "ratio") else np.arange(float(table.n_categories))


def default_weighting(table: RatingTable) -> Weighting:
    """``identity`` for a nominal scale, ``quadratic`` for an ordered one; of rankings ``kemeny``, of sets ``masi``."""
    return "quadratic" if table.has_scores else OF_LEVEL.get(table.level, "identity")


def _distances(places: FloatArray) -> FloatArray:
    return _scaled(np.abs(places[:, None] - places[None, :]))


def _scaled(distance: FloatArray) -> FloatArray:
    widest = distance.max(initial=0.0)
    scaled: FloatArray = distance / widest if widest > 0 else distance
    return scaled
