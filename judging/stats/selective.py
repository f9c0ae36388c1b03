"""Selective judging: keep the verdicts that are confident enough, with a guarantee, and leave the rest to people.

The threshold is chosen by fixed-sequence testing (Bauer 1991, Statistics in Medicine 10:871-890; as used by
Angelopoulos et al. 2021, "Learn then Test", arXiv 2110.01052): thresholds are tried from the strictest on, each
with an exact test, and the first that fails ends the search. Because the order is fixed before any label is seen, all
of them share one error probability delta. The test is that of the binomial (Clopper and Pearson 1934, Biometrika
26:404-413) or, with ties, clusters or unequal weights, by betting (`judging.stats.betting`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import numpy.typing as npt
import scipy

from annotation.stats.clustered_shares import estimate_clustered_share
from annotation.stats.estimate import Estimate, number_or_none
from annotation.stats.table import BoolArray, FloatArray, IntArray
from judging.stats.asymptotic import build_resampling
from judging.stats.betting import compute_betting_bound, log_capital
from judging.stats.calibration_types import SelectionDocument
from judging.stats.clusters import select_clusters

STEPS = 20
"""Number of thresholds of the default sequence."""

SPARE = 2
"""The first threshold keeps enough labelled items to stand this many disagreements."""


@dataclass(frozen=True)
class ThresholdTest:
    """One threshold of the sequence: labelled items kept, how many agree (ties in part), the bound of agreement."""

    threshold: float
    kept: int
    agreeing: float
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
        Of the kept labelled items; a tie counts by the share of the tied categories that the verdict is.
    agreement_with_person
        Of the same items: the share of the people who said what the judge said, so agreement with a random person.
    agreement_low
        Lower bound of ``agreement`` with probability 1 - delta; at least the target where ``guaranteed``.
    method
        Of that bound: ``"Clopper-Pearson"``, or ``"betting"`` where there are ties, clusters or unequal weights.
    clusters
        Independent units among the labelled items: clusters, or items without them.
    ties
        Kept labelled items on which people are tied.
    guaranteed
        Whether any threshold holds.
    ruled_out
        Whether even the surest verdicts agree less often than the target, by an upper bound at 1 - delta.
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
    agreement_with_person: Estimate
    agreement_low: float
    method: str
    clusters: int
    ties: int
    guaranteed: bool
    ruled_out: bool
    tried: tuple[ThresholdTest, ...]
    reason: str | None

    def to_json(self) -> SelectionDocument:
        """An entry of ``"selective"``: plain numbers, and their intervals beside them."""
        return {
            "target_agreement": self.target,
            "delta": self.delta,
            "threshold": number_or_none(self.threshold),
            "coverage": number_or_none(self.coverage.value),
            "agreement": number_or_none(self.agreement.value),
            "agreement_with_person": number_or_none(self.agreement_with_person.value),
            "agreement_low": number_or_none(self.agreement_low),
            "method": self.method,
            "clusters": self.clusters,
            "ties": self.ties,
            "guaranteed": self.guaranteed,
            "ruled_out": self.ruled_out,
            "reason": self.reason,
            "intervals": {
                "coverage": self.coverage.to_json(),
                "agreement": self.agreement.to_json(),
                "agreement_with_person": self.agreement_with_person.to_json(),
            },
        }


@dataclass(frozen=True, eq=False)
class _Labelled:
    """The labelled items: confidence, agreement from 0 to 1, weight, and the independent unit of each.

    ``largest`` is the largest weight of all items, labelled or not and kept or not: items like it may come. ``exact``
    says that agreement is a count of independent items, for which the binomial bound holds.
    """

    sure: FloatArray
    agreement: FloatArray
    weight: FloatArray
    unit: IntArray
    largest: float
    exact: bool

    def mask_accepted(self, threshold: float) -> BoolArray:
        return self.sure >= threshold

    def compute_bound(self, kept: BoolArray, agreement: FloatArray, delta: float) -> float:
        """Lower bound of the mean agreement of the items that are kept."""
        if self.exact:
            return lower_bound(int(agreement[kept].sum()), int(kept.sum()), delta)
        return compute_betting_bound(
            self.sum_units(kept * agreement), self.sum_units(kept), delta, largest=self.largest
        )

    def sum_units(self, values: FloatArray | BoolArray) -> FloatArray:
        """(g,) weighted sums of the units."""
        return np.bincount(self.unit, self.weight * values, minlength=1).astype(float)

    def can_hold(self, kept: BoolArray, target: float, delta: float) -> bool:
        """Whether the threshold would hold with a few disagreements and no others; looks at no label.

        The disagreements are one item each in the units that keep the most.
        """
        if not kept.any():
            return False
        best = np.ones(len(kept))
        for unit in np.argsort(-self.sum_units(kept), kind="stable")[:SPARE]:
            best[np.flatnonzero(kept & (self.unit == unit))[:1]] = 0.0
        if self.exact:
            return self.compute_bound(kept, best, delta) >= target
        capital = log_capital(self.sum_units(kept * best), self.sum_units(kept), target, largest=self.largest)
        return bool(capital >= -np.log(delta))


def lower_bound(agreeing: int, n: int, delta: float) -> float:
    """Clopper and Pearson's one-sided lower bound of a share, exceeded by the truth with probability 1 - delta.

    Examples
    --------
    >>> round(lower_bound(29, 29, 0.05), 4), round(0.05 ** (1 / 29), 4)
    (0.9019, 0.9019)
    """
    return float(scipy.special.betaincinv(agreeing, n - agreeing + 1, delta)) if agreeing else 0.0


@cache
def compute_least_units(target: float, delta: float, disagreements: int = 0, *, exact: bool = True) -> int:
    """The number of equal units that a threshold must keep to hold with so many disagreements.

    ``exact`` for independent items that agree or not (Clopper and Pearson); else by betting.
    """
    n = disagreements + 1
    while not _reaches(target, n, disagreements, delta, exact):
        n += 1
    return n


def _reaches(target: float, n: int, disagreements: int, delta: float, exact: bool) -> bool:
    """Whether the lower bound of ``n`` equal units reaches the target."""
    if exact:
        return lower_bound(n - disagreements, n, delta) >= target
    agreeing = np.r_[np.zeros(disagreements), np.ones(n - disagreements)]
    return bool(log_capital(agreeing, np.ones(n), target) >= -np.log(delta))


def select(
    confidence: npt.ArrayLike,
    agreement: npt.ArrayLike,
    *,
    target: float = 0.9,
    delta: float = 0.05,
    thresholds: Sequence[float] | None = None,
    clusters: Sequence[str] | None = None,
    weights: npt.ArrayLike | None = None,
    person: npt.ArrayLike | None = None,
    level: float = 0.95,
) -> Selection:
    """The loosest threshold above which the judge agrees with people at the target rate.

    Parameters
    ----------
    confidence
        (n,) the judge's confidence in its verdict on each item; any scale, higher is surer. NaN where it gave no
        verdict: never kept.
    agreement
        (n,) 1 where the verdict is what people said, 0 where not, between where people are tied; NaN where no person
        labelled the item, which then counts in the coverage only.
    target
        Agreement to be reached, 0 to 1.
    delta
        Probability with which the promise may fail.
    thresholds
        To be tried, in any order; they must not have been chosen by looking at ``agreement``. By default quantiles of
        all confidences.
    clusters
        (n,) what is independent of each other (profile, question); by default every item.
    weights
        (n,) one over the inclusion probability; equal by default.
    person
        (n,) share of the people who said what the judge said; by default unknown.
    level
        Of the two-sided intervals.

    Raises
    ------
    ValueError
        If target or delta does not lie between 0 and 1, agreement does not lie from 0 to 1, or the columns differ in
        length.

    Notes
    -----
    Independent items that agree or not are tested by the binomial (Clopper and Pearson); ties, clusters and unequal
    weights by betting on the sums of each cluster, given how much of each is kept. Thresholds that keep too little to
    stand two disagreements are passed over before the test begins; that depends on confidences alone. Units are taken
    as drawn independently from the material on which the threshold will be used: after a change of judge, prompt or
    material the promise is void.
    """
    sure, agrees = np.asarray(confidence, dtype=float), np.asarray(agreement, dtype=float)
    w = _checked_weights(sure, agrees, clusters, weights, person)
    if not (0 < target < 1 and 0 < delta < 1):
        raise ValueError(f"target {target} and delta {delta} must lie between 0 and 1")
    there = ~np.isnan(agrees)
    largest = float(w.max(initial=0.0))
    items = _labelled(sure[there], agrees[there], w[there], select_clusters(clusters, there), largest)
    ladder = np.unique(thresholds if thresholds is not None else default_thresholds(sure))[::-1]
    tried = _tried(items, [t for t in ladder if items.can_hold(items.mask_accepted(t), target, delta)], target, delta)
    held = [step for step in tried if step.holds]
    threshold = held[-1].threshold if held else np.nan
    keeps = sure >= (threshold if held else np.inf)
    reason = None if held else _why_none(tried, items, target, delta)
    mean = partial(_mean, clusters=clusters, weights=w if _differ(w) else None, confidence=level)
    no_person = "nothing is kept" if not held else "what each person said is not known"
    votes = np.full(len(sure), np.nan) if person is None else np.asarray(person, dtype=float)
    return Selection(
        target=target,
        delta=delta,
        threshold=threshold,
        coverage=mean(keeps.astype(float), np.ones(len(sure), dtype=bool)),
        agreement=mean(agrees, keeps & there, n_raters=2, reason=reason or ""),
        agreement_with_person=mean(votes, keeps & there & ~np.isnan(votes), n_raters=2, reason=no_person),
        agreement_low=held[-1].agreement_low if held else np.nan,
        method="Clopper-Pearson" if items.exact else "betting",
        clusters=len(np.unique(items.unit)),
        ties=int((keeps & there & ~np.isin(agrees, (0, 1))).sum()),
        guaranteed=bool(held),
        ruled_out=bool(tried) and not held and _falls_short(items, tried[0].threshold, target, delta),
        tried=tuple(tried),
        reason=reason,
    )


def _checked_weights(
    sure: FloatArray,
    agrees: FloatArray,
    clusters: Sequence[str] | None,
    weights: npt.ArrayLike | None,
    person: npt.ArrayLike | None,
) -> FloatArray:
    """(n,) the weights. Raises ``ValueError`` where a column does not fit."""
    w = np.ones(len(sure)) if weights is None else np.asarray(weights, dtype=float)
    others = [column for column in (clusters, person) if column is not None]
    if not sure.shape == agrees.shape == w.shape or any(len(column) != len(sure) for column in others):  # type: ignore[arg-type]
        raise ValueError("confidence, agreement, clusters and weights need one entry per item")
    known = agrees[~np.isnan(agrees)]
    if ((known < 0) | (known > 1)).any():
        raise ValueError("agreement must lie from 0 to 1")
    if not (np.isfinite(w).all() and (w > 0).all()):
        raise ValueError("weights must be positive and finite")
    return w


def _labelled(
    sure: FloatArray, agreement: FloatArray, weight: FloatArray, clusters: Sequence[str] | None, largest: float
) -> _Labelled:
    units = build_resampling(len(sure), clusters)
    exact = units.n_units == len(sure) and bool(np.isin(agreement, (0, 1)).all()) and not _differ(weight)
    return _Labelled(sure, agreement, weight, units.unit, largest, exact)


def _differ(weight: FloatArray) -> bool:
    return bool(len(weight) and np.ptp(weight) > 0)


def _mean(
    values: FloatArray,
    used: BoolArray,
    *,
    clusters: Sequence[str] | None,
    weights: FloatArray | None,
    confidence: float,
    n_raters: int = 1,
    reason: str = "no items",
) -> Estimate:
    return estimate_clustered_share(
        values[used],
        weights=None if weights is None else weights[used],
        clusters=select_clusters(clusters, used),
        confidence=confidence,
        reason=reason,
        n_raters=n_raters,
    )


def default_thresholds(confidence: FloatArray, steps: int = STEPS) -> FloatArray:
    """Quantiles of the confidences, from the surest twentieth to all; fewer where many are equal."""
    known = confidence[~np.isnan(confidence)]
    if not len(known):
        return np.empty(0)
    return np.unique(np.quantile(known, np.arange(steps) / steps, method="inverted_cdf"))


def _tried(items: _Labelled, ladder: Sequence[float], target: float, delta: float) -> list[ThresholdTest]:
    found: list[ThresholdTest] = []
    for threshold in ladder:
        kept = items.mask_accepted(threshold)
        low = items.compute_bound(kept, items.agreement, delta)
        agreeing = float(items.agreement[kept].sum())
        found.append(ThresholdTest(float(threshold), int(kept.sum()), agreeing, low, low >= target))
        if low < target:
            break
    return found


def _falls_short(items: _Labelled, threshold: float, target: float, delta: float) -> bool:
    return 1 - items.compute_bound(items.mask_accepted(threshold), 1 - items.agreement, delta) < target


def _why_none(tried: Sequence[ThresholdTest], items: _Labelled, target: float, delta: float) -> str:
    if tried:
        first = tried[0]
        said = f"the surest {first.kept} labelled verdicts agree with people on {first.agreeing:g}"
        return f"{said}; lower bound {first.agreement_low:.3f}"
    known = ~np.isnan(items.sure)
    clustered = len(np.unique(items.unit)) < len(items.sure)
    least = compute_least_units(target, delta, SPARE, exact=items.exact)
    if clustered:
        there = len(np.unique(items.unit[known]))
        clusters = "cluster" if there == 1 else "clusters"
        return f"{there} {clusters} with a labelled verdict and a confidence; the target needs about {least}"
    n = int(known.sum())
    return f"{n} labelled verdict{'s' if n != 1 else ''} with a confidence; the target needs at least {least}"
