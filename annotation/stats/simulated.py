"""Ratings by simulated annotators of a stated noise, for demonstrations, tests and planning."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from annotation.stats.table import MISSING, FloatArray, IntArray, Level

NODES = 40
"""Points of the Gauss-Hermite rule for the marginal shares."""

WIDEST = 30.0
"""Cuts lie between these, in standard deviations of the items."""

SUM_TO_ONE = 1e-9
"""Shares may miss 1 by this much: rounding."""


def simulate_ratings(
    true_codes: IntArray, *, n_categories: int, level: Level, accuracy: float | FloatArray, rng: np.random.Generator
) -> IntArray:
    """What one simulated annotator says of items whose true category is known.

    Parameters
    ----------
    true_codes
        True category of each item, 0 … q - 1, any shape; -1 (no item to rate) stays -1.
    n_categories
        q, at least 2.
    level
        On a nominal scale an error is any other category, all equally likely; on an ordered one it is above or below,
        both equally likely where there are both, a step away, and one more with probability 1 - accuracy, again and
        again.
    accuracy
        Probability of the true category, 0 to 1: one, or that of each item.
    rng
        Source of chance.

    Returns
    -------
    numpy.ndarray
        Codes of the shape of ``true_codes``.

    Raises
    ------
    ValueError
        If a code is off the scale, the scale has fewer than two categories, or ``accuracy`` is not in [0, 1].
    """
    truth = np.asarray(true_codes, dtype=np.int64)
    _check(truth, n_categories, accuracy)
    wrong = rng.random(truth.shape) >= accuracy
    error = (
        _other(truth, n_categories, rng)
        if level == "nominal"
        else _away(truth, n_categories, np.asarray(accuracy), rng)
    )
    return np.where(truth == MISSING, MISSING, np.where(wrong, error, truth))


def uneven_accuracies(ease: FloatArray, accuracy: float, unevenness: float) -> FloatArray:
    """(n,) accuracies of one annotator whose mean is ``accuracy``, between 0 and 1, on items of this ease (n,).

    Their logits are ``unevenness`` times the ease apart. Raises ``ValueError`` where the mean is 0 or 1.
    """
    if not 0 < accuracy < 1:
        raise ValueError(f"accuracy is {accuracy}; items can only be uneven where it lies between 0 and 1")
    far = 40 + unevenness * float(np.abs(ease).max(initial=0.0))
    own = scipy.optimize.brentq(lambda at: scipy.special.expit(at + unevenness * ease).mean() - accuracy, -far, far)
    return np.asarray(scipy.special.expit(own + unevenness * ease))


def simulate_agreement(
    n_items: int, n_raters: int, *, shares: FloatArray, kappa: float, rng: np.random.Generator
) -> IntArray:
    """(n_items, n_raters) ratings from a population whose kappa is ``kappa``, for planning and for coverage.

    Each item has a category, drawn from ``shares`` (q,). Each rater gives it with probability sqrt(kappa) and
    otherwise draws an answer from ``shares``, independently. Two raters then agree with probability
    kappa + (1 - kappa) * sum of shares^2, so that Cohen's and Fleiss' kappa, Scott's pi and Krippendorff's
    nominal alpha of the population are all ``kappa``.

    Raises ``ValueError`` unless ``shares`` are probabilities that sum to 1 and ``kappa`` is in [0, 1].
    """
    probabilities = np.asarray(shares, dtype=float)
    if probabilities.ndim != 1 or (probabilities < 0).any() or abs(probabilities.sum() - 1) > SUM_TO_ONE:
        raise ValueError(f"shares are {probabilities.tolist()}; they must be probabilities that sum to 1")
    if not 0 <= kappa <= 1:
        raise ValueError(f"kappa is {kappa}; it must lie in [0, 1]")
    q, size = len(probabilities), (n_items, n_raters)
    truth = rng.choice(q, size=(n_items, 1), p=probabilities)
    knows = rng.random(size) < np.sqrt(kappa)
    return np.where(knows, truth, rng.choice(q, size=size, p=probabilities)).astype(np.int64)


@dataclass(frozen=True)
class Profiles:
    """A population of items in profiles: how alike items of one profile are, and how hard a profile is to rate.

    An item lies at z = sqrt(alike) u + sqrt(1 - alike) e, a rater sees z + noise h w with h = exp(varied v); u and v
    belong to the profile, e to the item, w to the rating; all four are standard normal. What a rater says is the part
    between ``cuts`` in which that falls. A judge also has a leaning of its own in every profile, ``leaning`` times a
    standard normal number.
    """

    shares: tuple[float, ...]
    noises: tuple[float, ...] = (0.6, 0.6, 0.6)
    judges: tuple[float, ...] = ()
    alike: float = 0.5
    varied: float = 0.6
    leaning: float = 0.3

    @cached_property
    def cuts(self) -> FloatArray:
        """(q - 1,) cuts between the categories, that the first rater's categories have the given shares."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
        spread = np.sqrt(1 + (self.noises[0] * np.exp(self.varied * nodes)) ** 2)
        grid = np.linspace(-WIDEST, WIDEST, 6001)
        below = scipy.special.ndtr(grid[:, None] / spread) @ weights / weights.sum()
        cuts: FloatArray = np.interp(np.cumsum(self.shares)[:-1], below, grid)
        return cuts

    def draw(
        self, n_profiles: int, per_profile: int, rng: np.random.Generator, *, one_by_one: bool = False
    ) -> tuple[IntArray, IntArray]:
        """(n,) profile of each item and (n, raters + judges) what is said; ``one_by_one``: one item a profile."""
        n = n_profiles * per_profile
        profile = np.arange(n) if one_by_one else np.repeat(np.arange(n_profiles), per_profile)
        k = n if one_by_one else n_profiles
        z = np.sqrt(self.alike) * rng.standard_normal(k)[profile] + np.sqrt(1 - self.alike) * rng.standard_normal(n)
        hard = np.exp(self.varied * rng.standard_normal(k))[profile]
        noises = np.array([*self.noises, *self.judges])
        seen = z[:, None] + hard[:, None] * noises * rng.standard_normal((n, len(noises)))
        own = self.leaning * rng.standard_normal((k, len(self.judges)))
        seen[:, len(self.noises) :] += own[profile]
        return profile, np.searchsorted(self.cuts, seen).astype(np.int64)


def _check(truth: IntArray, n_categories: int, accuracy: float | FloatArray) -> None:
    if n_categories < 2:
        raise ValueError("an annotator can only err on a scale of two or more categories")
    if not ((np.asarray(accuracy) >= 0) & (np.asarray(accuracy) <= 1)).all():
        raise ValueError(f"accuracy is {accuracy}; it must lie in [0, 1]")
    if truth.size and (truth.min() < MISSING or truth.max() >= n_categories):
        raise ValueError(f"a true code is off the scale of {n_categories} categories")


def _other(truth: IntArray, n_categories: int, rng: np.random.Generator) -> IntArray:
    """Any category but the true one, uniformly."""
    shifted: IntArray = (truth + rng.integers(1, n_categories, size=truth.shape)) % n_categories
    return shifted


def _away(truth: IntArray, n_categories: int, accuracy: FloatArray, rng: np.random.Generator) -> IntArray:
    """A category above or below the true one, a step away or more."""
    step = np.where(rng.random(truth.shape) < 0.5, -1, 1)
    step = np.where(truth == 0, 1, np.where(truth == n_categories - 1, -1, step))
    goes_on = rng.random((max(n_categories - 2, 0), *truth.shape)) >= accuracy
    steps = 1 + np.cumprod(goes_on, axis=0).sum(axis=0)
    return np.asarray(np.clip(truth + steps * step, 0, n_categories - 1))
