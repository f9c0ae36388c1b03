"""How often a study of a given design gives the verdict *replace*: to a judge as good as people, and to a worse one.

Studies are simulated and judged by the rules that need people's labels: enough items and clusters, kappa above chance,
kappa near the human ceiling, the alternative-annotator test. Replies are all readable and probes find nothing, so that
the figures are upper bounds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
import numpy.typing as npt
import scipy

from annotation.stats.chance_corrected import correct_for_chance
from annotation.stats.intervals import LEAST_UNITS, compute_acceleration
from annotation.stats.jackknife import Jackknife, Scale, t_ends
from annotation.stats.resampling import Resampling
from annotation.stats.table import BoolArray, FloatArray, IntArray, Level
from judging.stats.asymptotic import build_resampling, compute_lower_p, wilson
from judging.stats.betting import compute_betting_p
from judging.stats.multiplicity import adjust_p_values
from judging.stats.result_types import PowerAtDocument, PowerDesignDocument, PowerDocument
from judging.stats.verdict import Rules

BELOW = (0.0, 0.115)
"""Kappa by which a judge lies below the human ceiling: as good as people, and clearly worse."""

STUDIES = 500
AT_ONCE = 2_000_000
"""Labels times categories that are simulated at once."""

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(40)
EPSILON, LEVEL, FLAT = 0.15, 0.05, 1e-12


@dataclass(frozen=True)
class PowerDesign:
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

    @classmethod
    def from_json(cls, document: PowerDesignDocument) -> "PowerDesign":
        """The design again from its document."""
        shares = document["shares"]
        return cls(
            n_items=document["n_items"],
            n_clusters=document["n_clusters"],
            n_raters=document["n_raters"],
            n_categories=document["n_categories"],
            level=document["level"],
            kappa=document["kappa"],
            cluster_effect=document["cluster_effect"],
            shares=None if shares is None else tuple(shares),
        )

    def to_json(self) -> PowerDesignDocument:
        """As JSON types."""
        return {
            "n_items": self.n_items,
            "n_clusters": self.n_clusters,
            "n_raters": self.n_raters,
            "n_categories": self.n_categories,
            "level": self.level,
            "kappa": self.kappa,
            "cluster_effect": self.cluster_effect,
            "shares": None if self.shares is None else list(self.shares),
        }

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

    def to_json(self) -> PowerAtDocument:
        """As JSON types."""
        return {
            "below": self.below,
            "kappa": self.kappa,
            "replace": self.replace,
            "low": self.low,
            "high": self.high,
            "studies": self.studies,
            "seed": self.seed,
        }


@lru_cache(maxsize=128)  # judges that scored the same items are of one design
def power_of_replace(
    design: PowerDesign,
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


def power_document(design: PowerDesign, found: Sequence[Power]) -> PowerDocument:
    """A line of a power table as JSON types."""
    return {"design": design.to_json(), "judges": [one.to_json() for one in found], "reason": None}


def no_power(reason: str) -> PowerDocument:
    """The same where nothing can be simulated, and why."""
    return {"design": None, "judges": [], "reason": reason}


def compute_power(
    design: PowerDesign, rules: Rules | None = None, *, studies: int, epsilon: float = EPSILON
) -> PowerDocument:
    """The line of a design; fewer studies where they are large, so that it stays a matter of a second."""
    fewer = min(studies, max(100, AT_ONCE // (20 * design.n_items)))
    return power_document(design, power_of_replace(design, rules=rules, studies=fewer, epsilon=epsilon))


def _check(design: PowerDesign, studies: int) -> None:
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
    design: PowerDesign, rules: Rules, below: float, studies: int, epsilon: float, confidence: float, seed: int
) -> Power:
    kappa, rng = max(design.kappa - below, 0.0), np.random.default_rng([seed, round(below * 1e6)])
    block = max(1, AT_ONCE // (design.n_items * (design.n_raters + 1) * design.n_categories))
    replaced = 0
    for start in range(0, studies, block):
        people, judge = simulate(design, kappa, rng, min(block, studies - start))
        replaced += int(replaces(people, judge, design, rules, epsilon, confidence).sum())
    low, high = wilson(replaced / studies, studies, 0.95)
    return Power(below, kappa, replaced / studies, float(low), float(high), studies, seed)


def simulate(
    design: PowerDesign, judge_kappa: float, rng: np.random.Generator, studies: int
) -> tuple[IntArray, IntArray]:
    """(m, n, r) labels of people and (m, n) verdicts of a judge whose kappa with a person is ``judge_kappa``.

    Each item has a category. Who is right on it says so, with a probability that varies over clusters on the logit
    scale, by one effect for all people and another for the judge; who is not draws a category from the same shares.
    Two then have kappa E[a b], a and b their probabilities to be right, on every kind of scale.
    """
    unit = design.unit
    effect = design.cluster_effect if design.n_clusters < design.n_items else 0.0
    person = _person(design.kappa, effect)
    judge = _logit_with_mean(judge_kappa / _compute_moment(person, effect, 1), effect)
    size = (studies, design.n_items, design.n_raters + 1)
    common = rng.normal(0, effect, (2, studies, design.n_clusters))[:, :, unit]
    truth, right = _categories(design, rng.random((*size[:2], 1))), rng.random(size)
    right[..., :-1] -= scipy.special.expit(person + common[0])[..., None]
    right[..., -1] -= scipy.special.expit(judge + common[1])
    codes = np.where(right < 0, truth, _categories(design, rng.random(size)))
    return codes[..., :-1], codes[..., -1]


def _categories(design: PowerDesign, uniform: FloatArray) -> IntArray:
    """Categories with the probabilities of the design, from uniform numbers of any shape."""
    codes = np.zeros(uniform.shape, dtype=np.int64)
    for end in np.cumsum(design.probabilities)[:-1]:
        codes += uniform > end
    return codes


def _compute_moment(centre: float, effect: float, power: int) -> float:
    """Expectation of expit(centre + effect z) to a power, z standard normal."""
    return float((WEIGHTS * scipy.special.expit(centre + effect * NODES) ** power).sum() / WEIGHTS.sum())


def _person(kappa: float, effect: float) -> float:
    """Log odds of the middle cluster at which two people's kappa is ``kappa``."""
    return float(scipy.optimize.brentq(lambda centre: _compute_moment(centre, effect, 2) - kappa, -40.0, 40.0))


def _logit_with_mean(mean: float, effect: float) -> float:
    mean = min(max(mean, 1e-9), 1 - 1e-9)
    return float(scipy.optimize.brentq(lambda centre: _compute_moment(centre, effect, 1) - mean, -60.0, 60.0))


def replaces(
    people: IntArray, judge: IntArray, design: PowerDesign, rules: Rules, epsilon: float, confidence: float
) -> BoolArray:
    """(m,) which of the simulated studies say *replace*: by the jackknife and Student's t of the verdict itself.

    From `intervals.MANY` effective units on the verdict's intervals are BCa; here they stay Student's t.
    """
    m, n, r = people.shape
    if n < rules.least_items or design.n_clusters < max(rules.least_clusters, LEAST_UNITS):
        return np.zeros(m, dtype=bool)
    resampling = build_resampling(design.n_clusters, None, confidence=confidence)
    raters = np.concatenate([people, judge[..., None]], axis=2)
    counts = [_by_unit(raters[..., j, None] == np.arange(design.n_categories), design) for j in range(r + 1)]
    kappas = {(i, j): _kappas(raters, counts, i, j, design) for i, j in combinations(range(r + 1), 2)}
    of_judge = np.mean([found for pair, found in kappas.items() if r in pair], axis=0)
    of_people = np.mean([found for pair, found in kappas.items() if r not in pair], axis=0)
    low, _ = _ends(of_judge, resampling, "coefficient")
    _, high = _ends(of_people - of_judge, resampling, "plain")
    shares = np.stack([(people == code).mean(axis=(1, 2)) for code in range(design.n_categories)])
    varied = n * (1 - shares.max(axis=0)) >= rules.least_outside
    passed = _passes(people, judge, design, epsilon) if rules.must_pass_alt_test else np.ones(m, dtype=bool)
    return np.asarray(varied & (low > rules.useful) & (high <= rules.below_ceiling) & passed)


def _agreement_weights(design: PowerDesign) -> FloatArray:
    """(q, q) 1 for the same category; on ordered scales of three or more less for further ones, quadratically."""
    q = design.n_categories
    steps = np.abs(np.subtract.outer(np.arange(q), np.arange(q)))
    return (steps == 0).astype(float) if design.level == "nominal" else 1 - (steps / (q - 1)) ** 2


def _by_unit(of_items: npt.ArrayLike, design: PowerDesign) -> FloatArray:
    """(m, g, …) sums over the items of each cluster of (m, n, …) numbers, or truth values."""
    numbers = np.asarray(of_items, dtype=float)
    if design.n_clusters == design.n_items:
        return numbers
    return np.add.reduceat(numbers, np.searchsorted(design.unit, np.arange(design.n_clusters)), axis=1)


def _with_and_without(of_units: FloatArray) -> FloatArray:
    """(m, 1 + g, …) the sum over all units (m, g, …), and without each."""
    total = of_units.sum(axis=1, keepdims=True)
    return np.concatenate([total, total - of_units], axis=1)


def _kappas(raters: IntArray, counts: Sequence[FloatArray], i: int, j: int, design: PowerDesign) -> FloatArray:
    """(m, 1 + g) Cohen's kappa of two of the raters (m, n, k), on all items and without each cluster."""
    weights = _agreement_weights(design)
    agreeing = _with_and_without(_by_unit(weights[raters[..., i], raters[..., j]], design))
    rows, columns = _with_and_without(counts[i]), _with_and_without(counts[j])
    n = rows.sum(axis=-1)
    expected = np.einsum("...k,...k->...", rows @ weights, columns) / n**2
    return correct_for_chance(agreeing / n, expected)


def _ends(with_and_without: FloatArray, resampling: Resampling, scale: Scale) -> tuple[FloatArray, FloatArray]:
    """(m,) ends of the intervals of figures from (m, 1 + g) values on all items and without each cluster."""
    value, left_out = with_and_without[:, 0], with_and_without[:, 1:].T
    knife = Jackknife.from_left_out(value, left_out, resampling)
    return t_ends(value, knife.se, knife.df, resampling.confidence, scale)


def _passes(people: IntArray, judge: IntArray, design: PowerDesign, epsilon: float) -> BoolArray:
    """(m,) whether the judge passes the alternative-annotator test, tested over clusters."""
    r = people.shape[2]
    p_values = np.stack([_p_value(people, judge, j, design, epsilon) for j in range(r)], axis=1)
    won = np.array([adjust_p_values(list(row), "benjamini-yekutieli") <= LEVEL for row in p_values])
    return np.asarray(won.mean(axis=1) >= 0.5)


def _p_value(people: IntArray, judge: IntArray, column: int, design: PowerDesign, epsilon: float) -> FloatArray:
    """(m,) one-sided p-value that the judge is worse than this person by ``epsilon`` or more."""
    others = np.delete(people, column, axis=2)
    by_judge, by_person = (_closeness(one, others, design) for one in (judge, people[..., column]))
    difference = (by_person >= by_judge - 1e-9).astype(float) - (by_judge >= by_person - 1e-9)
    total, n = (_with_and_without(_by_unit(one, design)) for one in (difference, np.ones_like(difference)))
    means = total / n
    resampling = build_resampling(design.n_clusters, None)
    knife = Jackknife.from_left_out(means[:, 0], means[:, 1:].T, resampling)
    independent = knife.flat | (design.n_clusters == design.n_items)
    t = (means[:, 0] - epsilon) / np.where(knife.flat, FLAT, knife.se)
    df = np.where(independent, design.n_clusters - 1, knife.df)
    p = np.asarray(compute_lower_p(t, df, compute_acceleration(knife.influence, resampling.times)))
    short, kept = (_by_unit(one, design) for one in ((1 - difference) / 2, np.ones_like(difference)))
    for study in np.flatnonzero(knife.flat | ((p > LEVEL / people.shape[2]) & (scipy.special.stdtr(df, t) <= LEVEL))):
        by_betting = compute_betting_p(short[study], kept[study], (1 - epsilon) / 2)
        p[study] = by_betting if knife.flat[study] else min(p[study], by_betting)
    return p


def _closeness(codes: IntArray, others: IntArray, design: PowerDesign) -> FloatArray:
    """(m, n) share of the others with the same category; on ordered scales minus the root mean squared difference."""
    apart = others - codes[..., None]
    if design.level == "nominal":
        return np.asarray((apart == 0).mean(axis=2))
    return np.asarray(-np.sqrt((apart.astype(float) ** 2).mean(axis=2)))
