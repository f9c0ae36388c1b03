"""How often a study of a given design gives the verdict *replace*: to a judge as good as people, and to a worse one.

Studies are simulated and judged by the rules that need people's labels: enough items and clusters, kappa above chance,
kappa near the human ceiling, the alternative-annotator test. Replies are all readable and probes find nothing, so that
the figures are upper bounds.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import scipy

from annotation.stats.table import BoolArray, FloatArray, IntArray, Level
from judging.stats.asymptotic import wilson
from judging.stats.multiplicity import adjusted
from judging.stats.verdict import Rules

BELOW = (0.0, 0.115)
"""Kappa by which a judge lies below the human ceiling: as good as people, and clearly worse."""

STUDIES = 500
AT_ONCE = 2_000_000
"""Labels that are simulated at once."""

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(40)
EPSILON, LEVEL = 0.15, 0.05


@dataclass(frozen=True)
class Design:
    """A study.

    Attributes
    ----------
    n_items, n_clusters
        Labelled items, and the profiles (or questions) they are of; as many as items where these are independent.
    n_raters, n_categories, level
        People per item, and the scale.
    kappa
        Of two people.
    shares
        Of the categories; all equal by default.
    cluster_effect
        Standard deviation over clusters of the log odds that somebody, and that the judge, is right; 0 where items
        are independent.
    """

    n_items: int
    n_clusters: int
    n_raters: int = 3
    n_categories: int = 2
    level: Level = "nominal"
    kappa: float = 0.6
    cluster_effect: float = 1.0
    shares: tuple[float, ...] | None = None

    @property
    def probabilities(self) -> FloatArray:
        """(q,) of the categories."""
        return np.full(self.n_categories, 1 / self.n_categories) if self.shares is None else np.asarray(self.shares)

    @property
    def unit(self) -> IntArray:
        """(n,) the cluster of each item, as equal in size as they go."""
        return np.arange(self.n_items) * self.n_clusters // self.n_items


@dataclass(frozen=True)
class Power:
    """How often a judge gets *replace* in studies of one design.

    Attributes
    ----------
    below, kappa
        How far it lies below the human ceiling, and its kappa with a person.
    replace, low, high
        Share of the simulated studies, with Wilson's interval.
    studies, seed
        Simulated.
    """

    below: float
    kappa: float
    replace: float
    low: float
    high: float
    studies: int
    seed: int

    def as_json(self) -> dict[str, Any]:
        """As JSON types."""
        return asdict(self)


@lru_cache(maxsize=128)  # judges that scored the same items are of one design
def power_of_replace(
    design: Design,
    *,
    rules: Rules | None = None,
    below: tuple[float, ...] = BELOW,
    studies: int = STUDIES,
    epsilon: float = EPSILON,
    confidence: float = 0.95,
    seed: int = 0,
) -> tuple[Power, ...]:
    """How often judges at these distances below the human ceiling get *replace*.

    Parameters
    ----------
    design, rules, epsilon, confidence
        The study, the rules of its verdict, and the options of calibration.
    below
        Distances in kappa, at least 0. A judge cannot lie further below the ceiling than the ceiling is high.
    studies, seed
        Simulated for each distance.

    Raises
    ------
    ValueError
        If the design is impossible.
    """
    _check(design, studies)
    return tuple(_power(design, rules or Rules(), at, studies, epsilon, confidence, seed) for at in below)


def power_document(design: Design, found: Sequence[Power]) -> dict[str, Any]:
    """A line of a power table as JSON types."""
    shares = None if design.shares is None else list(design.shares)
    return {"design": {**asdict(design), "shares": shares}, "judges": [one.as_json() for one in found], "reason": None}


def no_power(reason: str) -> dict[str, Any]:
    """The same where nothing can be simulated, and why."""
    return {"design": None, "judges": [], "reason": reason}


def power_for(design: Design, rules: Rules | None = None, *, studies: int, epsilon: float = EPSILON) -> dict[str, Any]:
    """The line of a design; fewer studies where they are large, so that it stays a matter of a second."""
    fewer = min(studies, max(100, AT_ONCE // (20 * design.n_items)))
    return power_document(design, power_of_replace(design, rules=rules, studies=fewer, epsilon=epsilon))


def _check(design: Design, studies: int) -> None:
    if not 1 <= design.n_clusters <= design.n_items:
        raise ValueError(f"{design.n_items} items cannot lie in {design.n_clusters} clusters")
    if design.n_raters < 2 or design.n_categories < 2:
        raise ValueError("agreement needs two raters and two categories")
    if not 0 < design.kappa < 1:
        raise ValueError(f"kappa is {design.kappa}; it must lie between 0 and 1")
    if not (np.isfinite(design.cluster_effect) and design.cluster_effect >= 0) or studies < 1:
        raise ValueError("the effect of clusters must be at least 0, and the number of studies at least 1")
    shares = design.probabilities
    if len(shares) != design.n_categories or (shares <= 0).any() or abs(shares.sum() - 1) > 1e-9:
        raise ValueError(f"the shares of {design.n_categories} categories must be above 0 and sum to 1")


def _power(
    design: Design, rules: Rules, below: float, studies: int, epsilon: float, confidence: float, seed: int
) -> Power:
    kappa, rng = max(design.kappa - below, 0.0), np.random.default_rng([seed, round(below * 1e6)])
    block = max(1, AT_ONCE // (design.n_items * (design.n_raters + 1)))
    replaced = 0
    for start in range(0, studies, block):
        people, judge = simulate(design, kappa, rng, min(block, studies - start))
        replaced += int(replaces(people, judge, design, rules, epsilon, confidence).sum())
    low, high = wilson(replaced / studies, studies, 0.95)
    return Power(below, kappa, replaced / studies, float(low), float(high), studies, seed)


def simulate(design: Design, judge_kappa: float, rng: np.random.Generator, studies: int) -> tuple[IntArray, IntArray]:
    """(m, n, r) labels of people and (m, n) verdicts of a judge whose kappa with a person is ``judge_kappa``.

    Each item has a category. Who is right on it says so, with a probability that varies over clusters on the logit
    scale, by one effect for all people and another for the judge; who is not draws a category from the same shares.
    Two then have kappa E[a b], a and b their probabilities to be right, on every kind of scale.
    """
    unit = design.unit
    effect = design.cluster_effect if design.n_clusters < design.n_items else 0.0
    person = _person(design.kappa, effect)
    judge = _logit_with_mean(judge_kappa / _moment(person, effect, 1), effect)
    size = (studies, design.n_items, design.n_raters + 1)
    common = rng.normal(0, effect, (2, studies, design.n_clusters))[:, :, unit]
    truth, right = _categories(design, rng.random((*size[:2], 1))), rng.random(size)
    right[..., :-1] -= scipy.special.expit(person + common[0])[..., None]
    right[..., -1] -= scipy.special.expit(judge + common[1])
    codes = np.where(right < 0, truth, _categories(design, rng.random(size)))
    return codes[..., :-1], codes[..., -1]


def _categories(design: Design, uniform: FloatArray) -> IntArray:
    """Categories with the probabilities of the design, from uniform numbers of any shape."""
    codes = np.zeros(uniform.shape, dtype=np.int64)
    for end in np.cumsum(design.probabilities)[:-1]:
        codes += uniform > end
    return codes


def _moment(centre: float, effect: float, power: int) -> float:
    """Expectation of expit(centre + effect z) to a power, z standard normal."""
    return float((WEIGHTS * scipy.special.expit(centre + effect * NODES) ** power).sum() / WEIGHTS.sum())


def _person(kappa: float, effect: float) -> float:
    """Log odds of the middle cluster at which two people's kappa is ``kappa``."""
    return float(scipy.optimize.brentq(lambda centre: _moment(centre, effect, 2) - kappa, -40.0, 40.0))


def _logit_with_mean(mean: float, effect: float) -> float:
    mean = min(max(mean, 1e-9), 1 - 1e-9)
    return float(scipy.optimize.brentq(lambda centre: _moment(centre, effect, 1) - mean, -60.0, 60.0))


def replaces(
    people: IntArray, judge: IntArray, design: Design, rules: Rules, epsilon: float, confidence: float
) -> BoolArray:
    """(m,) which of the simulated studies say *replace*."""
    m, n, r = people.shape
    if n < rules.least_items or design.n_clusters < rules.least_clusters:
        return np.zeros(m, dtype=bool)
    weights = _agreement_weights(design)
    with_judge = [_kappa(people[..., j], judge, weights) for j in range(r)]
    among = [_kappa(people[..., i], people[..., j], weights) for i in range(r) for j in range(i)]
    kappa, of_judge = _averaged(with_judge)
    ceiling, of_people = _averaged(among)
    t = float(scipy.stats.t.ppf((1 + confidence) / 2, design.n_clusters - 1))
    shares = np.stack([(people == code).mean(axis=(1, 2)) for code in range(design.n_categories)])
    varied = n * (1 - shares.max(axis=0)) >= rules.least_outside
    useful = kappa - t * _error(of_judge, design) > rules.useful
    near = ceiling - kappa + t * _error(of_people - of_judge, design) <= rules.below_ceiling
    passed = _passes(people, judge, design, epsilon) if rules.must_pass_alt_test else np.ones(m, dtype=bool)
    return np.asarray(varied & useful & near & passed)


def _agreement_weights(design: Design) -> FloatArray:
    """(q, q) 1 for the same category; on ordered scales of three or more less for further ones, quadratically."""
    q = design.n_categories
    steps = np.abs(np.subtract.outer(np.arange(q), np.arange(q)))
    return (steps == 0).astype(float) if design.level == "nominal" else 1 - (steps / (q - 1)) ** 2


def _kappa(a: IntArray, b: IntArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(m,) Cohen's kappa of two raters, and (m, n) the influence of each item on it."""
    (m, n), q = a.shape, len(weights)
    cell = a * q + b
    table = np.bincount((cell + np.arange(m)[:, None] * q * q).ravel(), minlength=m * q * q).reshape(m, q, q) / n
    rows, columns = table.sum(axis=2), table.sum(axis=1)
    observed = (table * weights).sum(axis=(1, 2))
    of_row, of_column = columns @ weights.T, rows @ weights
    expected = (rows * of_row).sum(axis=1)
    left = np.maximum(1 - expected, 1e-12)
    kappa = (observed - expected) / left
    by_cell = (weights - observed[:, None, None]) / left[:, None, None] - ((1 - observed) / left**2)[:, None, None] * (
        of_row[:, :, None] + of_column[:, None, :] - 2 * expected[:, None, None]
    )
    influence = np.take_along_axis(by_cell.reshape(m, q * q), cell, axis=1) / n
    return kappa, influence


def _averaged(pairs: Sequence[tuple[FloatArray, FloatArray]]) -> tuple[FloatArray, FloatArray]:
    """The mean of the pairs' kappas, and of the influences."""
    kappas, influences = zip(*pairs, strict=True)
    return np.mean(kappas, axis=0), np.mean(influences, axis=0)


def _error(influence: FloatArray, design: Design) -> FloatArray:
    """(m,) standard error from influences (m, n), over clusters."""
    g = design.n_clusters
    summed = np.add.reduceat(influence, np.searchsorted(design.unit, np.arange(g)), axis=1)
    return np.asarray(np.sqrt((summed**2).sum(axis=1) * g / max(g - 1, 1)))


def _passes(people: IntArray, judge: IntArray, design: Design, epsilon: float) -> BoolArray:
    """(m,) whether the judge passes the alternative-annotator test, tested over clusters."""
    r = people.shape[2]
    p_values = np.stack([_p_value(people, judge, j, design, epsilon) for j in range(r)], axis=1)
    won = np.array([adjusted(list(row), "benjamini-yekutieli") <= LEVEL for row in p_values])
    return np.asarray(won.mean(axis=1) >= 0.5)


def _p_value(people: IntArray, judge: IntArray, column: int, design: Design, epsilon: float) -> FloatArray:
    """(m,) one-sided p-value that the judge is worse than this person by ``epsilon`` or more."""
    others = np.delete(people, column, axis=2)
    by_judge, by_person = (_closeness(one, others, design) for one in (judge, people[..., column]))
    difference = (by_person >= by_judge - 1e-9).astype(float) - (by_judge >= by_person - 1e-9)
    mean = difference.mean(axis=1)
    error = _error((difference - mean[:, None]) / difference.shape[1], design)
    t = (mean - epsilon) / np.maximum(error, 1e-12)
    return np.asarray(scipy.stats.t.cdf(t, design.n_clusters - 1))


def _closeness(codes: IntArray, others: IntArray, design: Design) -> FloatArray:
    """(m, n) share of the others with the same category; on ordered scales minus the root mean squared difference."""
    apart = others - codes[..., None]
    if design.level == "nominal":
        return np.asarray((apart == 0).mean(axis=2))
    return np.asarray(-np.sqrt((apart.astype(float) ** 2).mean(axis=2)))
