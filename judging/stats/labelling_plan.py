"""Which items to label next, and how many, until a corrected mean is known well enough.

How many: the variance of PPI++ (Angelopoulos, Duchi and Zrnic 2023, arXiv 2311.01453) solved for the number of labels.
How many where: optimal allocation (Neyman 1934, JRSS 97:558-625). Which: drawn with probabilities that grow with the
doubt of the judge but are never small (Zrnic and Candes 2024, "Active Statistical Inference", arXiv 2403.03208); they
are known, so that the labels can be weighted by them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from annotation.stats.estimate import number_or_none
from annotation.stats.intervals import LEAST_UNITS
from annotation.stats.table import BoolArray, FloatArray, IntArray
from judging.stats.asymptotic import quantile
from judging.stats.result_types import NeededLabelsDocument

LEAST = 10
"""Labels below which a plan is a guess and is not made."""

UNIFORM = 0.5
"""Share of the probability that does not look at the doubt, so that no item is out of reach."""


@dataclass(frozen=True)
class LabelsNeeded:
    """Labels for an interval of the given width.

    Attributes
    ----------
    width
        Of the interval, from end to end, in units of the scale.
    with_judge, without_judge
        Labels in all, with PPI++ and by labels alone; NaN where no number of labels of these items is enough.
    labelled
        Those there are.
    reason
        Why there is no plan, or None.
    design_effect
        How many times as many labels the clusters make necessary, at the labels there are; 1 where items are
        independent, NaN where it is unknown and they are taken as independent.
    """

    width: float
    with_judge: float
    without_judge: float
    labelled: int
    reason: str | None
    design_effect: float = 1.0

    @property
    def dependence(self) -> str:
        """How far items depend on each other, in a sentence; empty where they are independent."""
        if np.isnan(self.design_effect):
            return (
                "Items are taken as independent: too few clusters have labels to tell how alike items of one are, so "
                "more labels may be needed."
            )
        if self.design_effect == 1:
            return ""
        return (
            "Items of one cluster are alike, which is counted in: at the labels so far the mean needs "
            f"{self.design_effect:.1f} times as many as of independent items (design effect)."
        )

    @property
    def more(self) -> float:
        """How many are missing with the judge; 0 where there are enough."""
        return max(self.with_judge - self.labelled, 0.0)

    def to_json(self) -> NeededLabelsDocument:
        """As JSON types."""
        return {
            "width": self.width,
            "labelled": self.labelled,
            "with_judge": number_or_none(self.with_judge),
            "without_judge": number_or_none(self.without_judge),
            "more": number_or_none(self.more),
            "design_effect": number_or_none(self.design_effect),
            "dependence": self.dependence,
            "reason": self.reason,
        }


def labels_needed(
    human: FloatArray,
    judge: FloatArray,
    *,
    width: float,
    confidence: float = 0.95,
    clusters: Sequence[str] | None = None,
) -> LabelsNeeded:
    """How many labels in all give the mean of all items an interval of this width.

    Parameters
    ----------
    human, judge
        (n,) label and the judge's score of every item, NaN where missing.
    width, confidence
        Of the interval.
    clusters
        (n,) profile or question of every item; None where items are independent.

    Notes
    -----
    With n labels and N other items the variance is v(λ) = var(y - λ f) / n + λ² var(f) / N. With the best λ it is
    var(y) / n · (1 - r² N / (n + N)), solved for n with n + N items in all. Simple random labels are assumed.

    Where items lie in clusters, a mean of n of them has the variance var · ((1 - ρ S) / n + ρ S), ρ the intraclass
    correlation (one-way, cut at 0) and S the sum of the squared shares of the clusters in all items: Kish's design
    effect 1 + ρ (m - 1) at the m labels that n items put into a cluster. So for y - λ f, and for λ f on all items. More
    labels in the same clusters cannot go below ρ S. The quantile is then Student's over clusters.

    Raises
    ------
    ValueError
        If the width is not positive.
    """
    if not width > 0:
        raise ValueError(f"the width is {width}; it must be above 0")
    both, scored = ~np.isnan(human) & ~np.isnan(judge), ~np.isnan(judge)
    total, n = int(scored.sum()), int(both.sum())
    if n < LEAST:
        return LabelsNeeded(width, np.nan, np.nan, n, f"{n} labelled items that the judge scored; a plan needs {LEAST}")
    y, f = human[both], judge[both]
    spread = float(y.var(ddof=1))
    if spread == 0:
        return LabelsNeeded(width, np.nan, np.nan, n, "every label is the same: how much labels vary is unknown")
    r = float(np.corrcoef(y, f)[0, 1]) if np.ptp(f) > 0 else 0.0
    explained = max(r, 0.0) ** 2
    rest = y - (max(r, 0.0) * np.sqrt(spread) / f.std(ddof=1) * f if explained else 0.0)
    alike = _Alike.estimate(clusters, both, scored)
    largest = (width / 2 / alike.quantile(confidence)) ** 2
    of_judge = spread * explained * alike.variance(judge[scored], alike.of_scored, total)
    alone = _solved(spread, alike.floor(y), largest)
    with_judge = _solved(spread * (1 - explained), alike.floor(rest), largest - of_judge)
    return LabelsNeeded(
        width,
        with_judge if with_judge <= total else np.nan,
        alone,
        n,
        None,
        alike.design_effect(y),
    )


def _solved(spread: float, floor: float, largest: float) -> float:
    """The number n at which spread · ((1 - floor) / n + floor) is ``largest``, rounded up; NaN where none is."""
    left = largest - spread * floor
    return float(np.ceil(spread * (1 - floor) / left)) if left > 0 else np.nan


@dataclass(frozen=True, eq=False)
class _Alike:
    """The clusters of the labelled and of all scored items, as numbers; None where items are independent or unknown."""

    of_labelled: IntArray | None
    of_scored: IntArray | None
    unknown: bool

    @classmethod
    def estimate(cls, clusters: Sequence[str] | None, labelled: BoolArray, scored: BoolArray) -> "_Alike":
        """Unknown where fewer than `LEAST_UNITS` clusters have labels, or none of these has two."""
        if clusters is None:
            return cls(None, None, unknown=False)
        unit = np.unique(np.asarray(clusters, dtype=object).astype(str), return_inverse=True)[1].astype(np.int64)
        used = len(np.unique(unit[labelled]))
        if used < LEAST_UNITS or used == labelled.sum():
            return cls(None, None, unknown=True)
        return cls(unit[labelled], unit[scored], unknown=False)

    def quantile(self, confidence: float) -> float:
        """Of Student's t over the labelled clusters; normal without clusters."""
        if self.of_labelled is None:
            return quantile(confidence)
        return float(scipy.special.stdtrit(len(np.unique(self.of_labelled)) - 1, (1 + confidence) / 2))

    def variance(self, values: FloatArray, unit: IntArray | None, n: int) -> float:
        """Variance of a mean of n values, in units of theirs."""
        floor = self._floor(values, unit)
        return (1 - floor) / n + floor

    def floor(self, of_labelled: FloatArray) -> float:
        """What the variance cannot go below however many items are labelled, in units of that of single ones."""
        return self._floor(of_labelled, self.of_labelled)

    def _floor(self, values: FloatArray, unit: IntArray | None) -> float:
        if unit is None or self.of_scored is None:
            return 0.0
        shares = np.bincount(self.of_scored) / len(self.of_scored)
        return intraclass_correlation(values, unit) * float((shares**2).sum())

    def design_effect(self, labels: FloatArray) -> float:
        """Kish's, at the labels there are."""
        if self.of_labelled is None:
            return np.nan if self.unknown else 1.0
        size = np.bincount(self.of_labelled)
        return 1 + intraclass_correlation(labels, self.of_labelled) * float((size**2).sum() / size.sum() - 1)


def intraclass_correlation(values: FloatArray, unit: IntArray) -> float:
    """One-way intraclass correlation of values (n,) in clusters of unequal size, cut at 0; 0 where nothing varies.

    Donner (1986), International Statistical Review 54:67-82, section 2 (analysis of variance). Needs two clusters, one
    of them with two values.
    """
    size = np.bincount(unit)
    size, mean = size[size > 0], (np.bincount(unit, values)[size > 0] / size[size > 0])
    g, n = len(size), int(size.sum())
    between = float((size * (mean - values.mean()) ** 2).sum()) / (g - 1)
    within = float(((values - values.mean()) ** 2).sum() - (size * (mean - values.mean()) ** 2).sum()) / (n - g)
    usual = (n - float((size**2).sum()) / n) / (g - 1)
    whole = between + (usual - 1) * within
    return min(max((between - within) / whole, 0.0), 1.0) if whole > 0 else 0.0


def allocation(human: FloatArray, judge: FloatArray, strata: Sequence[str], more: int) -> dict[str, int]:
    """``more`` labels over strata in proportion to the size of a stratum times the spread of judge's errors there.

    Strata with fewer than three labels get the spread of all. What a stratum has no unlabelled items for goes to the
    others, in the same proportion.
    """
    names = np.asarray(strata, dtype=object)
    errors = human - judge
    overall = float(np.nanstd(errors)) if np.isfinite(errors).any() else 1.0
    open_ = np.isnan(human) & ~np.isnan(judge)
    left = {name: int((open_ & (names == name)).sum()) for name in sorted(set(strata))}
    share = {name: n * max(_spread(errors[names == name], overall), 1e-9) for name, n in left.items()}
    return _dealt(share, left, min(more, sum(left.values())))


def _spread(errors: FloatArray, overall: float) -> float:
    known = errors[~np.isnan(errors)]
    return float(known.std(ddof=1)) if len(known) >= 3 else overall


def _dealt(share: dict[str, float], left: dict[str, int], more: int) -> dict[str, int]:
    """Whole numbers in proportion to ``share``, none above ``left``; the largest remainders are rounded up."""
    found = dict.fromkeys(share, 0)
    while (rest := more - sum(found.values())) > 0:
        free = {name: part for name, part in share.items() if found[name] < left[name]}
        total = sum(free.values())
        wanted = {name: min(rest * part / total, left[name] - found[name]) for name, part in free.items()}
        whole = {name: int(number) for name, number in wanted.items()}
        if not any(whole.values()):
            for name in sorted(free, key=lambda name: (-wanted[name], name))[:rest]:
                found[name] += 1
            continue
        for name, number in whole.items():
            found[name] += number
    return found


def inclusion(doubt: FloatArray, eligible: BoolArray, more: int) -> FloatArray:
    """(n,) probability of each eligible item to be labelled next, adding up to ``more``; 0 for the others.

    Half is spread evenly, half in proportion to ``doubt`` (n,) at or above 0; unknown doubt counts as the mean. No
    probability exceeds 1: what is cut off goes to the others.
    """
    found = np.zeros(len(doubt))
    n = int(eligible.sum())
    if not n:
        return found
    known = doubt[eligible & ~np.isnan(doubt)]
    mean = float(known.mean()) if len(known) else 0.0
    filled = np.where(np.isnan(doubt), mean, doubt)[eligible]
    even = np.full(n, 1 / n)
    keen = filled / filled.sum() if filled.sum() > 0 else even
    found[eligible] = _capped(UNIFORM * even + (1 - UNIFORM) * keen, min(more, n))
    return found


def _capped(weights: FloatArray, total: int) -> FloatArray:
    """Probabilities proportional to weights, adding up to ``total``, none above 1."""
    certain = np.zeros(len(weights), dtype=bool)
    while True:
        rest = total - certain.sum()
        scaled = np.where(certain, 1.0, weights * (rest / max(weights[~certain].sum(), 1e-300)))
        over = (scaled > 1) & ~certain
        if not over.any():
            return np.asarray(scaled)
        certain |= over


def draw_systematic(probabilities: FloatArray, *, seed: int) -> BoolArray:
    """(n,) a systematic draw with these probabilities (Madow 1949): as many items as they add up to."""
    start = np.random.default_rng(seed).random()
    ends = np.cumsum(probabilities)
    picks = np.arange(start, ends[-1] if len(ends) else 0.0, 1.0)
    chosen = np.zeros(len(probabilities), dtype=bool)
    chosen[np.searchsorted(ends, picks, side="right").clip(max=max(len(ends) - 1, 0))] = True
    return chosen
