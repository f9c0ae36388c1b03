"""The alternative-annotator test: may the judge stand in for one of the people?

Calderon, Reichart and Dror (2025), "The Alternative Annotator Test for LLM-as-a-Judge", arXiv 2501.10970. Each
annotator in turn is left out, and annotator and judge are both held to the remaining people. The judge wins against
an annotator when its advantage is at least the annotator's minus epsilon, the discount for being cheaper.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from annotation.stats.arrays import ratio
from annotation.stats.estimate import Estimate, number_or_none
from annotation.stats.table import MISSING, BoolArray, FloatArray, IntArray, RatingTable
from judging.stats.asymptotic import influence_error, normal, share, undefined
from judging.stats.multiplicity import adjusted
from judging.stats.signed_rank import signed_rank_less

EPSILON = {"expert": 0.2, "skilled": 0.15, "crowd": 0.1}
"""What the paper proposes by type of annotator: the dearer the person, the larger the discount."""

SWEEP = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
FEW_ITEMS = 30
"""Below this many items the t-test gives way to Wilcoxon's signed-rank test."""

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
        ``"t"``, ``"wilcoxon"`` below 30 items, ``"sign"`` where no difference varies, ``"none"`` where untestable.
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

    def as_json(self) -> dict[str, Any]:
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


@dataclass(frozen=True)
class AltTestResult:
    """The alternative-annotator test of one judge.

    Attributes
    ----------
    epsilon, level
        The discount, and the false-discovery rate of the tests.
    scoring
        ``"match"`` (share of the remaining people with the same category) or ``"-rmse"`` (minus the root mean
        squared difference to them).
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

    @property
    def least_epsilon(self) -> float:
        """The smallest epsilon of the sweep at which the judge passes; NaN where it never does."""
        return min((at.epsilon for at in self.sweep if at.passes), default=np.nan)

    def as_json(self) -> dict[str, Any]:
        """The document under ``"alt_test"``."""
        return {
            "epsilon": self.epsilon,
            "level": self.level,
            "scoring": self.scoring,
            "winning_rate": number_or_none(self.winning_rate),
            "advantage_probability": number_or_none(self.advantage.value),
            "advantage": self.advantage.as_json(),
            "passes": self.passes,
            "per_annotator": [one.as_json() for one in self.per_annotator],
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
    Items are taken as independent, as in the paper. The paper asks for at least 30 items per annotator; with fewer
    the signed-rank test is used, which has little power there.
    """
    judge = np.asarray(judge_codes, dtype=np.int64)
    if judge.shape != (people.n_items,):
        raise ValueError(f"the judge has codes of shape {judge.shape} for {people.n_items} items")
    if not 0 <= epsilon <= 1:
        raise ValueError(f"epsilon is {epsilon}; it must lie between 0 and 1")
    duels = [_duel(people, judge, j) for j in range(len(people.raters))]
    tested = _tested(people.raters, duels, epsilon, level, confidence)
    rate = _winning_rate(tested)
    advantage = _mean_advantage(duels, people.n_items, confidence)
    return AltTestResult(
        epsilon=epsilon,
        level=level,
        scoring="match" if people.level == "nominal" else "-rmse",
        winning_rate=rate,
        advantage=advantage,
        passes=_passes(rate),
        per_annotator=tuple(tested),
        sweep=tuple(_at(people.raters, duels, at, level, confidence) for at in sweep),
        reason=advantage.reason if np.isnan(rate) else None,
    )


@dataclass(frozen=True, eq=False)
class _Duel:
    """Where judge and one annotator can be compared, and who is at least as close."""

    used: BoolArray
    judge_wins: BoolArray
    annotator_wins: BoolArray

    @property
    def n(self) -> int:
        return int(self.used.sum())

    @property
    def difference(self) -> FloatArray:
        """d, one per used item."""
        return self.annotator_wins[self.used].astype(float) - self.judge_wins[self.used]


def _duel(people: RatingTable, judge: IntArray, column: int) -> _Duel:
    own = people.codes[:, column]
    others = np.delete(people.codes, column, axis=1)
    used = (judge != MISSING) & (own != MISSING) & (others != MISSING).any(axis=1)
    by_judge = _closeness(people, judge, others)
    by_annotator = _closeness(people, own, others)
    with np.errstate(invalid="ignore"):
        ahead, behind = by_judge >= by_annotator - SAME, by_annotator >= by_judge - SAME
    return _Duel(used, ahead & used, behind & used)


def _closeness(people: RatingTable, codes: IntArray, others: IntArray) -> FloatArray:
    """(n_items,) S of ``codes`` to the ratings ``others`` (n_items, m); NaN where there are none."""
    known = others != MISSING
    if people.level == "nominal":
        matches = (others == codes[:, None]) & known
        return ratio(matches.sum(axis=1).astype(float), known.sum(axis=1).astype(float))
    distance = np.where(known, (people.scores[others] - people.scores[codes][:, None]) ** 2, 0.0)
    return -np.sqrt(ratio(distance.sum(axis=1), known.sum(axis=1).astype(float)))


def _tested(
    names: Sequence[str], duels: Sequence[_Duel], epsilon: float, level: float, confidence: float
) -> list[AgainstAnnotator]:
    found = [_test(duel.difference, epsilon) for duel in duels]
    corrected = adjusted([p for p, _, _ in found], "benjamini-yekutieli")
    return [
        AgainstAnnotator(
            annotator=name,
            n=duel.n,
            rho_judge=share(int(duel.judge_wins.sum()), duel.n, confidence=confidence, reason=reason or "no items"),
            rho_annotator=share(
                int(duel.annotator_wins.sum()), duel.n, confidence=confidence, reason=reason or "no items"
            ),
            p_value=p,
            adjusted_p_value=float(p_all),
            test=test,
            rejected=bool(p_all <= level),
            reason=reason,
        )
        for name, duel, (p, test, reason), p_all in zip(names, duels, found, corrected, strict=True)
    ]


def _test(difference: FloatArray, epsilon: float) -> tuple[float, str, str | None]:
    """One-sided p-value of mean(d) >= epsilon, the test's name, and why there is none."""
    n, shifted = len(difference), difference - epsilon
    if n < 2:
        return np.nan, "none", "fewer than two items that judge, annotator and another person rated"
    if np.ptp(difference) < SAME:  # no variance: neither t nor ranks say anything; a coin falling one way n times does
        return (0.5**n if shifted[0] < -SAME else 1.0), "sign", None
    if n < FEW_ITEMS:
        return signed_rank_less(shifted), "wilcoxon", None
    return float(scipy.stats.ttest_1samp(shifted, 0.0, alternative="less").pvalue), "t", None


def _winning_rate(tested: Sequence[AgainstAnnotator]) -> float:
    won = [one.rejected for one in tested if not np.isnan(one.p_value)]
    return float(np.mean(won)) if won else np.nan


def _passes(rate: float) -> bool | None:
    return None if np.isnan(rate) else rate >= TO_PASS


def _at(names: Sequence[str], duels: Sequence[_Duel], epsilon: float, level: float, confidence: float) -> AtEpsilon:
    rate = _winning_rate(_tested(names, duels, epsilon, level, confidence))
    return AtEpsilon(epsilon, rate, _passes(rate))


def _mean_advantage(duels: Sequence[_Duel], n_items: int, confidence: float) -> Estimate:
    """Mean of the judge's advantage over annotators; the annotators share items, so their errors add up per item."""
    fought = [duel for duel in duels if duel.n >= 2]
    if not fought:
        why = "no item that the judge scored was rated by two people" if duels else "there are no annotators"
        return undefined(why, n_items=0, confidence=confidence, n_raters=len(duels))
    influence = np.zeros(n_items)
    for duel in fought:
        rho = duel.judge_wins.sum() / duel.n
        influence += np.where(duel.used, duel.judge_wins - rho, 0.0) / (duel.n * len(fought))
    used = np.any([duel.used for duel in fought], axis=0)
    value = float(np.mean([duel.judge_wins.sum() / duel.n for duel in fought]))
    return normal(
        value,
        influence_error(influence),
        n_items=int(used.sum()),
        confidence=confidence,
        bounds=(0.0, 1.0),
        n_raters=len(fought),
        n_ratings=sum(duel.n for duel in fought),
    )
