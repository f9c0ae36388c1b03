"""The alternative-annotator test: may the judge stand in for one of the people?

Calderon, Reichart and Dror (2025), "The Alternative Annotator Test for LLM-as-a-Judge", arXiv 2501.10970. Each
annotator in turn is left out, and annotator and judge are both held to the remaining people. The judge wins against
an annotator when its advantage is at least the annotator's minus epsilon, the discount for being cheaper.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from annotation.stats.arrays import ratio
from annotation.stats.estimate import Estimate, number_or_none
from annotation.stats.resampling import SumStatistic
from annotation.stats.table import MISSING, BoolArray, FloatArray, IntArray, RatingTable
from annotation.stats.weighting import compute_weights, default_weighting
from judging.stats.asymptotic import (
    build_undefined,
    compute_lower_p,
    estimate_by_jackknife,
    few_units,
    share,
    sum_by_cluster,
)
from judging.stats.audits.design import SamplingDesign
from judging.stats.betting import compute_betting_p
from judging.stats.multiplicity import adjust_p_values
from judging.stats.result_types import AltTestAnnotatorDocument, AltTestDocument

SWEEP = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
TO_PASS = 0.5
"""The winning rate from which the judge may replace an annotator."""

SAME = 1e-9
"""Match scores closer than this are equal; the difference is rounding."""


@dataclass(frozen=True)
class AgainstAnnotator:
    """The judge against one annotator.

    Attributes
    ----------
    annotator, n
        Who, and the items that both rated together with at least one other person.
    rho_judge, rho_annotator
        Advantage probabilities: share of items on which the judge (the annotator) is at least as close to the
        remaining people as the other. Both count where they are equally close, so that they add up to more than 1.
    p_value, adjusted_p_value
        Of the hypothesis that the annotator's advantage exceeds the judge's by epsilon or more; adjusted after
        Benjamini and Yekutieli for testing every annotator.
    test
        ``"t"``, ``"cluster t"`` where items have clusters, ``"betting"`` where no difference varies, ``"none"`` where
        untestable.
    rejected
        Whether that hypothesis is rejected: the judge wins.
    reason
        Why there is no test, or None.
    """

    annotator: str
    n: int
    rho_judge: Estimate
    rho_annotator: Estimate
    p_value: float
    adjusted_p_value: float
    test: str
    rejected: bool
    reason: str | None

    def to_json(self) -> AltTestAnnotatorDocument:
        """The entry under ``"per_annotator"``."""
        return {
            "annotator": self.annotator,
            "n": self.n,
            "rho_judge": number_or_none(self.rho_judge.value),
            "rho_judge_interval": [number_or_none(self.rho_judge.low), number_or_none(self.rho_judge.high)],
            "rho_annotator": number_or_none(self.rho_annotator.value),
            "p_value": number_or_none(self.p_value),
            "adjusted_p_value": number_or_none(self.adjusted_p_value),
            "test": self.test,
            "rejected": self.rejected,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class AtEpsilon:
    """What the test says at one epsilon."""

    epsilon: float
    winning_rate: float
    passes: bool | None


SCORING: dict[str, str] = {"nominal": "match", "ranking": "kemeny", "set": "masi"}
"""By level, how close a rating is to the others; by their numbers where there are any."""


@dataclass(frozen=True)
class AltTestResult:
    """The alternative-annotator test of one judge.

    Attributes
    ----------
    epsilon, level
        The discount, and the false-discovery rate of the tests.
    scoring
        ``"match"`` (share of the remaining people with the same category), ``"kemeny"`` (of rankings, share of pairs
        of responses ordered as they do), ``"masi"`` (of sets, how much of each is in the other) or ``"-rmse"`` (minus
        the root mean squared difference to them).
    winning_rate
        Omega: share of the testable annotators against whom the judge wins. A decision on each, not an estimate:
        the intervals belong to the advantage probabilities.
    advantage
        Mean over annotators of rho_judge.
    passes
        Whether omega is at least one half; None where nobody could be tested.
    per_annotator, sweep
        Every annotator, and the winning rate over a range of epsilons.
    reason
        Why there is no result, or None.
    """

    epsilon: float
    level: float
    scoring: str
    winning_rate: float
    advantage: Estimate
    passes: bool | None
    per_annotator: tuple[AgainstAnnotator, ...]
    sweep: tuple[AtEpsilon, ...]
    reason: str | None

    def to_json(self) -> AltTestDocument:
        """The document under ``"alt_test"``."""
        return {
            "epsilon": self.epsilon,
            "level": self.level,
            "scoring": self.scoring,
            "winning_rate": number_or_none(self.winning_rate),
            "advantage_probability": number_or_none(self.advantage.value),
            "advantage": self.advantage.to_json(),
            "passes": self.passes,
            "per_annotator": [one.to_json() for one in self.per_annotator],
            "sweep": [
                {"epsilon": at.epsilon, "winning_rate": number_or_none(at.winning_rate), "passes": at.passes}
                for at in self.sweep
            ],
            "reason": self.reason,
        }


def alt_test(
    people: RatingTable,
    judge_codes: npt.ArrayLike,
    *,
    epsilon: float = 0.15,
    level: float = 0.05,
    sweep: Sequence[float] = SWEEP,
    confidence: float = 0.95,
) -> AltTestResult:
    """The alternative-annotator test.

    For annotator j and item i, S is the closeness to the remaining people who rated i; W_judge = 1 where the
    judge's S is at least j's, W_human = 1 where j's S is at least the judge's; d = W_human - W_judge, from -1 to 1.
    The judge wins against j where a one-sided test finds mean(d) < epsilon.

    Parameters
    ----------
    people
        The annotators' ratings. Nominal scales are scored by matches, all others by minus the RMSE.
    judge_codes
        (n_items,) the judge's category; -1 where it gave no verdict: such items are missing, not lost.
    epsilon
        The discount, from 0 to 1. The paper: 0.2 for experts, 0.15 for skilled annotators, 0.1 for a crowd.
    level
        False-discovery rate over the annotators.
    sweep
        Epsilons for `AltTestResult.sweep`.
    confidence
        Of the intervals of the advantage probabilities.

    Raises
    ------
    ValueError
        If the shapes disagree or epsilon lies outside 0 to 1.

    Notes
    -----
    Without clusters items are taken as independent, as in the paper, which asks for at least 30 items per annotator.
    With fewer it takes the signed-rank test, which is not used here: d has three values, so that d - epsilon is not
    symmetric around 0 where its mean is 0, and judges worse by epsilon pass too often. With clusters (profiles) the
    mean difference is held against its jackknife error over clusters with Student's t; fewer than 8 clusters allow no
    test. Where people agree and the judge seldom errs, d is skewed, so that t alone lets judges worse by epsilon pass
    too often: see `judging.stats.asymptotic.compute_lower_p`. Where d never varies there is no t: see
    `judging.stats.betting`. Items drawn with unequal probability are weighted.
    """
    judge = np.asarray(judge_codes, dtype=np.int64)
    if judge.shape != (people.n_items,):
        raise ValueError(f"the judge has codes of shape {judge.shape} for {people.n_items} items")
    if not 0 <= epsilon <= 1:
        raise ValueError(f"epsilon is {epsilon}; it must lie between 0 and 1")
    whole = _design(people)
    duels = [_duel(people, judge, j, whole) for j in range(len(people.raters))]
    tested = _tested(people.raters, duels, epsilon, level, confidence)
    rate = _winning_rate([one.adjusted_p_value for one in tested], level)
    advantage = _mean_advantage(duels, whole, confidence)
    return AltTestResult(
        epsilon=epsilon,
        level=level,
        scoring=SCORING.get(people.level, "-rmse"),
        winning_rate=rate,
        advantage=advantage,
        passes=_passes(rate),
        per_annotator=tuple(tested),
        sweep=tuple(_at(duels, at, level) for at in sweep),
        reason=advantage.reason if np.isnan(rate) else None,
    )


@dataclass(frozen=True, eq=False)
class _Duel:
    """Where judge and one annotator can be compared, and who is at least as close."""

    used: BoolArray
    judge_wins: BoolArray
    annotator_wins: BoolArray
    whole: SamplingDesign

    @property
    def n(self) -> int:
        return int(self.used.sum())

    @cached_property
    def difference(self) -> FloatArray:
        """d, one per used item."""
        return self.annotator_wins[self.used].astype(float) - self.judge_wins[self.used]

    @cached_property
    def design(self) -> SamplingDesign:
        """Clusters and weights of the used items."""
        return self.whole.select(self.used)


def _design(people: RatingTable) -> SamplingDesign:
    """Clusters, unless each item has one of its own, and weights, unless all are equal."""
    names, w = people.clusters, people.weights
    return SamplingDesign(
        None if names is None or len(set(names)) == len(names) else names,
        None if w is None or not np.ptp(w) else w / w.mean(),
    )


def _duel(people: RatingTable, judge: IntArray, column: int, whole: SamplingDesign) -> _Duel:
    own = people.codes[:, column]
    others = np.delete(people.codes, column, axis=1)
    used = (judge != MISSING) & (own != MISSING) & (others != MISSING).any(axis=1)
    by_judge = _closeness(people, judge, others)
    by_annotator = _closeness(people, own, others)
    with np.errstate(invalid="ignore"):
        ahead, behind = by_judge >= by_annotator - SAME, by_annotator >= by_judge - SAME
    return _Duel(used, ahead & used, behind & used, whole)


def _closeness(people: RatingTable, codes: IntArray, others: IntArray) -> FloatArray:
    """(n_items,) S of ``codes`` to the ratings ``others`` (n_items, m); NaN where there are none."""
    known = others != MISSING
    if not people.has_scores:
        credit = compute_weights(people, default_weighting(people))
        matches = np.where(known, credit[codes[:, None], others], 0.0)
        return ratio(matches.sum(axis=1), known.sum(axis=1).astype(float))
    distance = np.where(known, (people.scores[others] - people.scores[codes][:, None]) ** 2, 0.0)
    return -np.sqrt(ratio(distance.sum(axis=1), known.sum(axis=1).astype(float)))


def _tested(
    names: Sequence[str], duels: Sequence[_Duel], epsilon: float, level: float, confidence: float
) -> list[AgainstAnnotator]:
    found = [_test(duel, epsilon) for duel in duels]
    corrected = _corrected(found)
    return [
        AgainstAnnotator(
            annotator=name,
            n=duel.n,
            rho_judge=_advantage(duel, duel.judge_wins, confidence, reason),
            rho_annotator=_advantage(duel, duel.annotator_wins, confidence, reason),
            p_value=p,
            adjusted_p_value=float(p_all),
            test=test,
            rejected=bool(p_all <= level),
            reason=reason,
        )
        for name, duel, (p, test, reason), p_all in zip(names, duels, found, corrected, strict=True)
    ]


def _corrected(found: Sequence[tuple[float, str, str | None]]) -> FloatArray:
    """p-values corrected for testing every annotator."""
    return adjust_p_values([p for p, _, _ in found], "benjamini-yekutieli")


def _advantage(duel: _Duel, wins: BoolArray, confidence: float, reason: str | None) -> Estimate:
    """The share of the used items that are won: Wilson's interval, or Student's t over clusters or weighted items."""
    if duel.design.is_simple or not duel.n:
        return share(int(wins.sum()), duel.n, confidence=confidence, reason=reason or "no items")
    columns = duel.design.weigh(duel.n)[:, None] * np.column_stack([wins[duel.used], np.ones(duel.n)])
    return estimate_by_jackknife(
        SumStatistic(columns, _mean_share, lambda sums: sums[..., 1:]),
        clusters=duel.design.clusters,
        n_items=duel.n,
        confidence=confidence,
        bounds=(0.0, 1.0),
    )[0]


def _test(duel: _Duel, epsilon: float) -> tuple[float, str, str | None]:
    """One-sided p-value of mean(d) >= epsilon, the test's name, and why there is none.

    By t and by t without skewness the less sure counts; by betting, which is exact, the judge may be surer than that.
    """
    d, design = duel.difference, duel.design
    n = len(d)
    if n < 2:
        return np.nan, "none", "fewer than two items that judge, annotator and another person rated"
    if not design.is_simple and (why := few_units(np.ones(n, dtype=bool), design.clusters, design.weights)):
        return np.nan, "none", why
    short, kept = (sum_by_cluster(design.weigh(n) * part, design.clusters) for part in ((1 - d) / 2, np.ones(n)))
    by_betting = compute_betting_p(short, kept, (1 - epsilon) / 2)
    mean, se, df, skew = design.estimate_mean(d - epsilon)
    if not se > SAME:
        return by_betting, "betting", None
    p = min(by_betting, float(compute_lower_p(mean / se, df, skew)))
    return p, "t" if design.clusters is None else "cluster t", None


def _mean_share(sums: FloatArray) -> FloatArray:
    """(…, 1) mean over k shares from (…, 2 k) sums: what is counted, then out of how many."""
    counted, out_of = np.split(sums, 2, axis=-1)
    found: FloatArray = ratio(counted, out_of).mean(axis=-1, keepdims=True)
    return found


def _winning_rate(p_values: Sequence[float], level: float) -> float:
    """Of the corrected p-values, NaN where nothing could be tested."""
    tested = [p for p in p_values if not np.isnan(p)]
    return float(np.mean(np.array(tested) <= level)) if tested else np.nan


def _passes(rate: float) -> bool | None:
    return None if np.isnan(rate) else rate >= TO_PASS


def _at(duels: Sequence[_Duel], epsilon: float, level: float) -> AtEpsilon:
    rate = _winning_rate(_corrected([_test(duel, epsilon) for duel in duels]).tolist(), level)
    return AtEpsilon(epsilon, rate, _passes(rate))


def _mean_advantage(duels: Sequence[_Duel], whole: SamplingDesign, confidence: float) -> Estimate:
    """Mean of the judge's advantage over annotators; the annotators share items, which are left out in turn."""
    fought = [duel for duel in duels if duel.n >= 2]
    if not fought:
        why = "no item that the judge scored was rated by two people" if duels else "there are no annotators"
        return build_undefined(why, n_items=0, confidence=confidence, n_raters=len(duels))
    used = np.any([duel.used for duel in fought], axis=0)
    columns = [duel.judge_wins[used] for duel in fought] + [duel.used[used] for duel in fought]
    design = whole.select(used)
    contributions = design.weigh(int(used.sum()))[:, None] * np.column_stack(columns)
    out_of = contributions[:, len(fought) :].sum(axis=0)

    def counted(sums: FloatArray) -> FloatArray:
        return np.asarray((sums[..., len(fought) :] / out_of).sum(axis=-1, keepdims=True))

    return estimate_by_jackknife(
        SumStatistic(contributions, _mean_share, counted),
        clusters=design.clusters,
        n_items=int(used.sum()),
        confidence=confidence,
        bounds=(0.0, 1.0),
        n_raters=len(fought),
        n_ratings=sum(duel.n for duel in fought),
    )[0]
