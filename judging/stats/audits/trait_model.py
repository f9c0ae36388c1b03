"""A latent-trait model of people's ratings and a judge's: where bias, compression and noise are told apart.

An item has a trait t = x'g + v, v standard normal. Person j gives a category up to k with probability
Phi(c_k - L t - s_j), the judge with Phi(C_k - D t - z'b): a cumulative probit model with one trait (Samejima 1969,
Psychometrika Monograph 17; Johnson 1996, JASA 91:42-51, for several raters). x is what the trait itself depends on
(length, kind), z what moves the judge beyond it. People share one noise and have severities s_j of their own.

The likelihood is that of items on their own, integrated over t on a grid. It stays a valid estimating equation where
items of one cluster depend on each other; the errors then come from sums over clusters (`trait_fit`).
"""

from dataclasses import dataclass, fields, replace

import numpy as np
import scipy

from annotation.stats.table import FloatArray, IntArray

STEP, REACH = 0.2, 5.0
GRID = np.arange(-REACH, REACH + STEP / 2, STEP)
"""Traits in their standard deviation: fine enough for slopes up to 10, which `trait_fit` hardly lets them reach."""
FLOOR = 1e-12
ENDLESS = 40.0
"""Stands for an infinite threshold: the normal distribution function is 0 or 1 there."""
ROOT = float(np.sqrt(2 * np.pi))
AT_ONCE = 500
"""Items that are evaluated together: their grids stay in the processor's cache."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """What people and a judge said of n items, each with a verdict and a label.

    Attributes
    ----------
    people, who
        (n, s) categories 0 … q - 1 in as many places as an item has labels, -1 where missing; and whose they are.
    n_people, n_categories
        Number of severities; q of people's scale.
    judge, n_judge
        (n,) categories of the judge's scale; their number.
    x, z
        (n, p) what the trait depends on; (n, m) what may move the judge beyond it. Every column has mean 0.
    weights
        (n,) with mean 1.
    """

    people: IntArray
    who: IntArray
    n_people: int
    n_categories: int
    judge: IntArray
    n_judge: int
    x: FloatArray
    z: FloatArray
    weights: FloatArray

    @property
    def n(self) -> int:
        """Number of items."""
        return len(self.judge)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Lengths of the seven parts of the parameters: c, L, s, g, C, D, b."""
        return (self.n_categories - 1, 1, self.n_people, self.x.shape[1], self.n_judge - 1, 1, self.z.shape[1])

    def rows(self, chosen: slice) -> "Ratings":
        """Some of the items."""
        columns = ("people", "who", "judge", "x", "z", "weights")
        return replace(self, **{name: getattr(self, name)[chosen] for name in columns})


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The likelihood at some parameters.

    Attributes
    ----------
    log_likelihood
        (n,) of each item.
    scores
        (n, d) its derivatives in the parameters of the module's formulas.
    trait_scores, judge_scores
        (n,) its derivatives in the item's mean trait, and in a shift of the judge's verdict on it.
    """

    log_likelihood: FloatArray
    scores: FloatArray
    trait_scores: FloatArray
    judge_scores: FloatArray


def evaluate(ratings: Ratings, parameters: FloatArray) -> Likelihood:
    """The likelihood and its derivatives, which are posterior means over the trait (Louis 1982, JRSS B 44:226-233)."""
    parts = [_evaluate(ratings.rows(slice(k, k + AT_ONCE)), parameters) for k in range(0, ratings.n, AT_ONCE)]
    return Likelihood(*(np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(Likelihood)))


def _evaluate(ratings: Ratings, parameters: FloatArray) -> Likelihood:
    ends = np.cumsum(ratings.sizes)
    cuts, slope, severity, gamma, judge_cuts, judge_slope, beta = np.split(parameters, ends[:-1])
    tables = _person_tables(cuts, float(slope[0]), severity)
    mean = ratings.x @ gamma
    low, high = _ends(judge_cuts)
    moved = judge_slope[0] * GRID[None, :] + (ratings.z @ beta)[:, None]
    judge, judge_low, judge_high = _cells(low[ratings.judge][:, None] - moved, high[ratings.judge][:, None] - moved)
    log_joint = np.log(judge) - 0.5 * (GRID[None, :] - mean[:, None]) ** 2
    for who, code in zip(ratings.who.T, ratings.people.T, strict=True):
        log_joint += tables[0][who, code]
    top = log_joint.max(axis=1)
    posterior = np.exp(log_joint - top[:, None])
    total = posterior.sum(axis=1)
    posterior /= total[:, None]

    scores = np.zeros((ratings.n, len(parameters)))
    rows = np.arange(ratings.n)
    for who, code in zip(ratings.who.T, ratings.people.T, strict=True):
        at_low, at_high = ((posterior * table[who, code]).sum(axis=1) for table in tables[1:])
        _add_cuts(scores[:, : ends[0]], code, at_low, at_high)
        scores[:, ends[0]] -= (posterior * (tables[1] + tables[2])[who, code]) @ GRID
        scores[rows, ends[1] + who] -= at_low + at_high
    trait = posterior @ GRID - mean
    at_low, at_high = (posterior * judge_low).sum(axis=1), (posterior * judge_high).sum(axis=1)
    scores[:, ends[2] : ends[3]] = trait[:, None] * ratings.x
    _add_cuts(scores[:, ends[3] : ends[4]], ratings.judge, at_low, at_high)
    scores[:, ends[4]] = -((posterior * (judge_low + judge_high)) @ GRID)
    scores[:, ends[5] :] = -(at_low + at_high)[:, None] * ratings.z
    return Likelihood(top + np.log(total) + np.log(STEP / ROOT), scores, trait, -(at_low + at_high))


def _person_tables(cuts: FloatArray, slope: float, severity: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(people, q + 1, grid) log probability of a category and its derivatives in both ends; the last one is missing."""
    low, high = _ends(cuts)
    moved = (slope * GRID[None, :] + severity[:, None])[:, None]
    p, at_low, at_high = _cells(low[None, :, None] - moved, high[None, :, None] - moved)
    nothing = np.zeros_like(p[:, :1])
    parts = (np.concatenate([part, nothing], axis=1) for part in (np.log(p), at_low, at_high))
    log_p, lows, highs = parts
    return log_p, lows, highs


def _ends(cuts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Lower and upper end of every category."""
    return np.r_[-ENDLESS, cuts], np.r_[cuts, ENDLESS]


def _cells(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Probability between two ends of a normal variable, and the derivatives of its logarithm in either."""
    # in the upper tail the difference of two numbers near 1 loses its digits: turn it round
    turned = np.where(low > 0, -1.0, 1.0)
    p = np.maximum(np.abs(scipy.special.ndtr(turned * high) - scipy.special.ndtr(turned * low)), FLOOR)
    return p, -_density(low) / p, _density(high) / p


def _density(u: FloatArray) -> FloatArray:
    density: FloatArray = np.exp(-0.5 * u * u) / ROOT
    return density


def _add_cuts(scores: FloatArray, code: IntArray, low: FloatArray, high: FloatArray) -> None:
    """Add to the derivatives in the thresholds (n, q - 1) those of ratings in the ends of their category."""
    rows = np.arange(len(code))
    has_low, has_high = code > 0, (code >= 0) & (code < scores.shape[1])
    scores[rows[has_low], code[has_low] - 1] += low[has_low]
    scores[rows[has_high], code[has_high]] += high[has_high]
