"""Selective judging: keep the verdicts that are confident enough, with a guarantee, and leave the rest to people.

The threshold is chosen by fixed-sequence testing (Bauer 1991, Statistics in Medicine 10:871-890; as used by
Angelopoulos et al. 2021, "Learn then Test", arXiv 2110.01052): thresholds are tried from the strictest on, each
with the exact binomial test (Clopper and Pearson 1934, Biometrika 26:404-413), and the first that fails ends the
search. Because the order is fixed before any label is seen, all of them share one error probability delta.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from annotation.stats.estimate import Estimate, number_or_none
from annotation.stats.table import BoolArray, FloatArray
from judging.stats.asymptotic import share, undefined

STEPS = 20
"""Number of thresholds of the default sequence."""

SPARE = 2
"""The first threshold keeps enough labelled items to stand this many disagreements."""


@dataclass(frozen=True)
class Tried:
    """One threshold of the sequence: labelled items kept, how many agree, the lower bound of their agreement."""

    threshold: float
    kept: int
    agreeing: int
    agreement_low: float
    holds: bool


@dataclass(frozen=True)
class Selection:
    """A threshold, and what is promised above it.

    Attributes
    ----------
    target
        1 - alpha, the agreement with people to be reached among the verdicts that are kept.
    delta
        The probability with which the promise may be broken.
    threshold
        Keep verdicts with at least this confidence; NaN where no threshold holds.
    coverage
        Share of all items, labelled or not, that are kept; the rest goes to people.
    agreement
        Of the kept labelled items.
    agreement_low
        Its exact lower bound with probability 1 - delta; at least the target where ``guaranteed``.
    guaranteed
        Whether any threshold holds.
    tried
        The thresholds in the order of the test, up to the first that failed.
    reason
        Why nothing is guaranteed, or None.
    """

    target: float
    delta: float
    threshold: float
    coverage: Estimate
    agreement: Estimate
    agreement_low: float
    guaranteed: bool
    tried: tuple[Tried, ...]
    reason: str | None

    def as_json(self) -> dict[str, Any]:
        """An entry of ``"selective"``."""
        return {
            "target_agreement": self.target,
            "delta": self.delta,
            "threshold": number_or_none(self.threshold),
            "coverage": self.coverage.as_json(),
            "agreement": self.agreement.as_json(),
            "agreement_low": number_or_none(self.agreement_low),
            "guaranteed": self.guaranteed,
            "reason": self.reason,
        }


def lower_bound(agreeing: int, n: int, delta: float) -> float:
    """Clopper and Pearson's one-sided lower bound of a share, exceeded by the truth with probability 1 - delta.

    Examples
    --------
    >>> round(lower_bound(29, 29, 0.05), 4), round(0.05 ** (1 / 29), 4)
    (0.9019, 0.9019)
    """
    return float(scipy.special.betaincinv(agreeing, n - agreeing + 1, delta)) if agreeing else 0.0


def least_items(target: float, delta: float, disagreements: int = 0) -> int:
    """The number of labelled items that a threshold must keep to hold with so many disagreements."""
    n = disagreements + 1
    while lower_bound(n - disagreements, n, delta) < target:
        n += 1
    return n


def select(
    confidence: npt.ArrayLike,
    agrees: npt.ArrayLike,
    *,
    target: float = 0.9,
    delta: float = 0.05,
    thresholds: Sequence[float] | None = None,
    unlabelled: npt.ArrayLike = (),
    level: float = 0.95,
) -> Selection:
    """The loosest threshold above which the judge agrees with people at the target rate.

    Parameters
    ----------
    confidence
        (n,) the judge's confidence in its verdict on each labelled item; any scale, higher is surer. NaN where it
        gave no verdict: never kept.
    agrees
        (n,) whether the verdict is what people said.
    target
        Agreement to be reached, 0 to 1.
    delta
        Probability with which the promise may fail.
    thresholds
        To be tried, in any order; they must not have been chosen by looking at ``agrees``. By default quantiles of all
        confidences.
    unlabelled
        Confidences of the items that no person labelled: they count in the coverage.
    level
        Of the two-sided intervals.

    Raises
    ------
    ValueError
        If target or delta does not lie between 0 and 1 or the columns differ in length.

    Notes
    -----
    Thresholds that keep too few labelled items to stand two disagreements are passed over before the test begins;
    that depends on confidences alone. Items are taken as drawn independently from the material on which the threshold
    will be used: after a change of judge, prompt or material the promise is void.
    """
    sure, right = np.asarray(confidence, dtype=float), np.asarray(agrees, dtype=bool)
    if sure.shape != right.shape:
        raise ValueError("confidence and agreement need one entry per labelled item")
    if not (0 < target < 1 and 0 < delta < 1):
        raise ValueError(f"target {target} and delta {delta} must lie between 0 and 1")
    every = np.concatenate([sure, np.asarray(unlabelled, dtype=float)])
    ladder = np.unique(thresholds if thresholds is not None else default_thresholds(every))[::-1]
    least = least_items(target, delta, SPARE)
    tried = _tried(sure, right, [t for t in ladder if (sure >= t).sum() >= least], target, delta)
    held = [step for step in tried if step.holds]
    if not held:
        return _nothing(every, tried, _why_none(tried, int((~np.isnan(sure)).sum()), least), target, delta, level)
    last = held[-1]
    return Selection(
        target=target,
        delta=delta,
        threshold=last.threshold,
        coverage=_kept(every, last.threshold, level),
        agreement=share(last.agreeing, last.kept, confidence=level),
        agreement_low=last.agreement_low,
        guaranteed=True,
        tried=tuple(tried),
        reason=None,
    )


def _nothing(
    every: FloatArray, tried: Sequence[Tried], reason: str, target: float, delta: float, level: float
) -> Selection:
    """No threshold holds: everything goes to people."""
    return Selection(
        target=target,
        delta=delta,
        threshold=np.nan,
        coverage=_kept(every, np.inf, level),
        agreement=undefined(reason, n_items=0, confidence=level),
        agreement_low=np.nan,
        guaranteed=False,
        tried=tuple(tried),
        reason=reason,
    )


def default_thresholds(confidence: FloatArray, steps: int = STEPS) -> FloatArray:
    """Quantiles of the confidences, from the surest twentieth to all; fewer where many are equal."""
    known = confidence[~np.isnan(confidence)]
    if not len(known):
        return np.empty(0)
    return np.unique(np.quantile(known, np.arange(steps) / steps, method="inverted_cdf"))


def _tried(sure: FloatArray, right: BoolArray, ladder: Sequence[float], target: float, delta: float) -> list[Tried]:
    found: list[Tried] = []
    for threshold in ladder:
        kept = sure >= threshold
        n, k = int(kept.sum()), int((kept & right).sum())
        low = lower_bound(k, n, delta)
        found.append(Tried(float(threshold), n, k, low, low >= target))
        if low < target:
            break
    return found


def _kept(confidence: FloatArray, threshold: float, level: float) -> Estimate:
    return share(int((confidence >= threshold).sum()), len(confidence), confidence=level, n_raters=1)


def _why_none(tried: Sequence[Tried], scored: int, least: int) -> str:
    if tried:
        first = tried[0]
        said = f"the surest {first.kept} labelled verdicts agree with people on {first.agreeing}"
        return f"{said}: the bound is {first.agreement_low:.3f}"
    return f"{scored} labelled verdicts with a confidence; the target needs at least {least}"
