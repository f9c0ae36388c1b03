"""Two raters at a time, and each rater against all others."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotation.stats import cohen
from annotation.stats.analytic import analytic_estimate, cohen_errors, compute_crosstabs, simple_sampling
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import Basis, estimates
from annotation.stats.jackknife import find_scales
from annotation.stats.resampling import Replicates, Resampling, side_by_side
from annotation.stats.result_types import PairDocument, RaterDocument
from annotation.stats.table import MISSING, BoolArray, FloatArray, RatingTable
from annotation.stats.weighting import identity_weights

NO_ORDER = "the scale is nominal: its categories have no order to weigh by"
NOT_SIMPLE = "the formula assumes items drawn one by one with equal weight"


@dataclass(frozen=True)
class PairAgreement:
    """Two raters on the ``n`` items that both rated.

    ``weighted_cohen_kappa`` is quadratic, ``linear_cohen_kappa`` linear; ``cohen_kappa_analytic`` is
    ``cohen_kappa`` with the interval of Fleiss, Cohen and Everitt (1969). ``in_mean`` is false where the pair has
    too few common items to take part in unweighted means over pairs (`annotation.stats.cohen.LEAST_SHARE`).
    """

    a: str
    b: str
    n: int
    cohen_kappa: Estimate
    weighted_cohen_kappa: Estimate
    percent_agreement: Estimate
    linear_cohen_kappa: Estimate
    scott_pi: Estimate
    cohen_kappa_analytic: Estimate
    in_mean: bool = True

    def to_json(self) -> PairDocument:
        """The pair as JSON types."""
        return {
            "a": self.a,
            "b": self.b,
            "n": self.n,
            "in_mean": self.in_mean,
            "cohen_kappa": self.cohen_kappa.to_json(),
            "weighted_cohen_kappa": self.weighted_cohen_kappa.to_json(),
            "percent_agreement": self.percent_agreement.to_json(),
            "linear_cohen_kappa": self.linear_cohen_kappa.to_json(),
            "scott_pi": self.scott_pi.to_json(),
            "cohen_kappa_analytic": self.cohen_kappa_analytic.to_json(),
        }


@dataclass(frozen=True)
class RaterAgreement:
    """One rater against the others: means over the pairs that the rater is part of.

    This is what a judge has to be compared with: how far one person agrees with the other people.
    """

    rater: str
    n_ratings: int
    cohen_kappa: Estimate
    weighted_cohen_kappa: Estimate
    percent_agreement: Estimate
    linear_cohen_kappa: Estimate
    scott_pi: Estimate

    def to_json(self) -> RaterDocument:
        """The rater as JSON types."""
        return {
            "rater": self.rater,
            "n_ratings": self.n_ratings,
            "cohen_kappa": self.cohen_kappa.to_json(),
            "weighted_cohen_kappa": self.weighted_cohen_kappa.to_json(),
            "percent_agreement": self.percent_agreement.to_json(),
            "linear_cohen_kappa": self.linear_cohen_kappa.to_json(),
            "scott_pi": self.scott_pi.to_json(),
        }


def count_basis(table: RatingTable, used: BoolArray) -> Basis:
    """The counts behind a figure that uses the items where ``used`` (n_items,) is true."""
    return Basis(int(used.sum()), table.n_raters, int(table.ratings_per_item[used].sum()))


@dataclass(frozen=True, eq=False)
class PairsResult:
    """Every pair that was asked for, and means over them.

    Attributes
    ----------
    pairs
        The figures of each pair.
    means
        Replicates of the means over all pairs, then over the pairs of each of the raters asked for.
    """

    pairs: tuple[PairAgreement, ...]
    means: tuple[Replicates, ...]


def compare_pairs(
    table: RatingTable,
    distinct: RatingTable,
    resampling: Resampling,
    pairs: Sequence[cohen.Pair],
    *,
    raters: Sequence[int] = (),
) -> PairsResult:
    """The figures of pairs of columns, and their means over all pairs and over those of each of ``raters``.

    ``table`` holds all items and says what the figures rest on; ``distinct`` holds its distinct rows, which
    ``resampling`` resamples.
    """
    joint = cohen.joint_counts(table.codes)
    member, start = cohen.everyone_and_each(pairs, raters, joint), 0
    running, found = cohen.RunningMeans(1 + len(raters)), []
    for block, replicates in cohen.pair_blocks(distinct, pairs, resampling):
        of_block = member[start : start + len(block)]
        start += len(block)
        running.add(replicates, of_block)
        n_joint = [int(joint[pair]) for pair in block]
        analytic = _analytic(table, distinct, resampling, block, n_joint)
        found += _pair_estimates(table, block, n_joint, replicates, resampling, analytic, of_block[:, 0] > 0)
    return PairsResult(tuple(found), tuple(running.means()))


def _pair_estimates(
    table: RatingTable,
    pairs: Sequence[cohen.Pair],
    n_joint: Sequence[int],
    replicates: Replicates,
    resampling: Resampling,
    analytic: Sequence[Estimate],
    in_mean: BoolArray,
) -> list[PairAgreement]:
    bases = [Basis(n, 2, 2 * n) for n in n_joint]
    reasons = [explain_no_kappa(n) for n in n_joint]
    weighted = [NO_ORDER] * len(pairs) if table.level == "nominal" else reasons
    of_kind = [weighted if kind in ("weighted_cohen_kappa", "linear_cohen_kappa") else reasons for kind in cohen.KINDS]
    scales = find_scales(kind for kind in cohen.KINDS for _ in pairs)
    why = [one for part in of_kind for one in part]
    found = estimates(replicates, resampling, bases * cohen.PER_PAIR, why, scale=scales)
    by_kind = [found[i * len(pairs) : (i + 1) * len(pairs)] for i in range(cohen.PER_PAIR)]
    names = [(table.raters[a], table.raters[b]) for a, b in pairs]
    rows = zip(names, n_joint, *by_kind, analytic, strict=True)
    listed = [PairAgreement(a, b, n, *figures) for (a, b), n, *figures in rows]
    return [replace(pair, in_mean=counts) for pair, counts in zip(listed, in_mean.tolist(), strict=True)]


def _analytic(
    table: RatingTable,
    distinct: RatingTable,
    resampling: Resampling,
    pairs: Sequence[cohen.Pair],
    n_joint: Sequence[int],
) -> list[Estimate]:
    """Cohen's kappa of each pair with its interval by formula."""
    crosstabs = compute_crosstabs(distinct.codes, resampling.copies_of_items, pairs, table.n_categories)
    values, errors, _ = cohen_errors(crosstabs, identity_weights(table.n_categories))
    if not simple_sampling(table):
        errors = np.full_like(errors, np.nan)
    found = zip(values.tolist(), errors.tolist(), n_joint, strict=True)
    return [
        analytic_estimate(
            value,
            error,
            Basis(n, 2, 2 * n),
            confidence=resampling.confidence,
            reason=NOT_SIMPLE if np.isfinite(value) else explain_no_kappa(n),
        )
        for value, error, n in found
    ]


def explain_no_kappa(n_joint: int) -> str:
    """Why two raters with ``n_joint`` common items have no kappa."""
    return "one category used by both raters" if n_joint else "no item rated by both"


def mean_estimates(
    means: Replicates, resampling: Resampling, basis: Basis, *, reason: str, nominal: bool
) -> dict[str, Estimate]:
    """Means over pairs as figures, by the names of `annotation.stats.cohen.KINDS`."""
    why = _by_kind(reason, nominal=nominal)
    found = estimates(means, resampling, [basis] * cohen.PER_PAIR, why, scale=find_scales(cohen.KINDS))
    return dict(zip(cohen.KINDS, found, strict=True))


def _by_kind(reason: str, *, nominal: bool) -> list[str]:
    """The reason for each of `annotation.stats.cohen.KINDS`: a nominal scale has no weighted kappa."""
    weighted = NO_ORDER if nominal else reason
    return [weighted if kind in ("weighted_cohen_kappa", "linear_cohen_kappa") else reason for kind in cohen.KINDS]


def compare_with_the_rest(
    table: RatingTable, raters: Sequence[int], means: Sequence[Replicates], resampling: Resampling
) -> list[RaterAgreement]:
    """Each of ``raters`` (columns) against the others, from the replicates of its means."""
    if not raters:
        return []
    rated = (table.codes != MISSING)[:, list(raters)]
    common, nominal = rated & table.pairable[:, None], table.level == "nominal"
    bases = [count_basis(table, used) for used in common.T]
    reasons = [_by_kind(_why_no_rest(table, used), nominal=nominal) for used in common.T]
    together = side_by_side(means)
    n = cohen.PER_PAIR
    found = estimates(
        together,
        resampling,
        [basis for basis in bases for _ in range(n)],
        [one for part in reasons for one in part],
        scale=find_scales([*cohen.KINDS] * len(bases)),
    )
    numbers = rated.sum(axis=0).tolist()
    return [
        RaterAgreement(table.raters[column], numbers[place], *found[place * n : (place + 1) * n])
        for place, column in enumerate(raters)
    ]


def _why_no_rest(table: RatingTable, common: FloatArray) -> str:
    if table.n_raters < 2:
        return "only one rater"
    return "no pair of raters with a defined kappa" if common.any() else "no item rated by someone else as well"
