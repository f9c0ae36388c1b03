"""Each annotator as an instrument: agreement with the others, and answers that look careless.

Nothing here proves that an annotator is careless. It says where to look.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from annotation.stats import cohen
from annotation.stats.against_group import OF_ITEMS, VERSUS_MAJORITY, compute_item_figures
from annotation.stats.arrays import ratio
from annotation.stats.clustered import build_resampling
from annotation.stats.distinct import distinct_items
from annotation.stats.estimate import Estimate, number_or_none
from annotation.stats.intervals import Basis, estimates
from annotation.stats.jackknife import Jackknife, find_scales
from annotation.stats.labels import Label
from annotation.stats.majority import compute_majority, majority
from annotation.stats.pairs import NO_ORDER, RaterAgreement, compare_pairs, compare_with_the_rest, count_basis
from annotation.stats.resampling import PreparedSums, Resampling, SumStatistic
from annotation.stats.result_types import AnnotatorReportDocument
from annotation.stats.scores import pearson
from annotation.stats.table import MISSING, NO_SCORES, BoolArray, FloatArray, IntArray, RatingTable
from annotation.stats.warnings import ENOUGH_TO_COMPARE, StatWarning, build_inverted_warnings, join_names

INVERTED = -0.3
"""Correlation with the others' mean below which a scale may have been read upside down."""

SURE = 3.29
"""Standard errors below zero that such a correlation has to lie; p < .001 on both sides."""

UNLIKELY = 0.001
"""A run of equal answers, or two raters that say the same, less probable than this is worth a look."""


@dataclass(frozen=True)
class AnnotatorProfile:
    """One annotator.

    Attributes
    ----------
    annotator
        Name.
    n_ratings, n_categories_used
        Ratings given, and how many categories of the scale they use.
    rest
        Agreement with the other annotators, pair by pair, averaged.
    versus
        The figures of `annotation.stats.against_group.OF_ITEMS` against the majority and the mean score of
        the other annotators; ``bias`` above 0 is leniency.
    shares
        Share of each category among the annotator's ratings, in scale order.
    entropy
        Shannon entropy of these shares over log q: 0 for one category only, 1 for all equally often. NaN
        without ratings.
    longest_run
        Most equal answers in a row.
    run_probability
        Probability of a run at least as long if the same answers came in random order, about; NaN without
        ratings.
    inverted, constant, straight_lining
        Whether the answers run against those of the others; are always the same where the others' are not;
        come in a run of improbable length.
    """

    annotator: str
    n_ratings: int
    n_categories_used: int
    rest: RaterAgreement
    versus: dict[str, Estimate]
    shares: tuple[float, ...]
    entropy: float
    longest_run: int
    run_probability: float
    inverted: bool
    constant: bool
    straight_lining: bool

    def to_json(self) -> dict[str, object]:
        """The annotator as JSON types."""
        return {
            "annotator": self.annotator,
            "n_ratings": self.n_ratings,
            "n_categories_used": self.n_categories_used,
            **{kind: getattr(self.rest, kind).to_json() for kind in cohen.KINDS},
            **{name: figure.to_json() for name, figure in self.versus.items()},
            "shares": [number_or_none(share) for share in self.shares],
            "entropy": number_or_none(self.entropy),
            "longest_run": self.longest_run,
            "run_probability": number_or_none(self.run_probability),
            "inverted": self.inverted,
            "constant": self.constant,
            "straight_lining": self.straight_lining,
        }


@dataclass(frozen=True)
class AnnotatorReport:
    """All annotators of a table.

    Attributes
    ----------
    categories
        The scale.
    annotators
        Those with ratings, in the order of the table.
    identical
        Pairs that say the same on every one of at least `ENOUGH_TO_COMPARE` common items, where that is improbable.
    warnings
        What to look at, by code.
    """

    categories: tuple[Label, ...]
    annotators: tuple[AnnotatorProfile, ...]
    identical: tuple[tuple[str, str], ...]
    warnings: tuple[StatWarning, ...]

    def to_json(self) -> AnnotatorReportDocument:
        """The report as JSON types."""
        return {
            "categories": list(self.categories),
            "annotators": [one.to_json() for one in self.annotators],
            "identical": [list(pair) for pair in self.identical],
            "warnings": [warning.to_json() for warning in self.warnings],
        }


def annotator_report(
    table: RatingTable,
    *,
    order: npt.ArrayLike | None = None,
    bootstrap: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> AnnotatorReport:
    """Every annotator against the others, with signs of carelessness.

    Parameters
    ----------
    table
        The ratings of the annotators.
    order
        (n_items, n_raters) when each rating was given (any numbers that sort); NaN where there is none. By
        default raters went through the items in the table's order.
    bootstrap, confidence, seed
        As in `annotation.stats.agreement.agreement`.

    Raises
    ------
    ValueError
        If ``order`` has another shape than the ratings.
    """
    when = _checked_order(order, table)
    distinct = distinct_items(table)
    resampling = Resampling.from_table(
        distinct.table, bootstrap=bootstrap, confidence=confidence, seed=seed, copies=distinct.copies
    )
    raters = np.flatnonzero((table.codes != MISSING).any(axis=0)).tolist()
    compared = compare_pairs(table, distinct.table, resampling, cohen.rater_pairs(table), raters=raters)
    rest = compare_with_the_rest(table, raters, compared.means[1:], resampling)
    backwards = find_inverted_raters(table)
    profiles = [
        _profile(table, distinct.table, resampling, column, agreement, when[:, column], agreement.rater in backwards)
        for column, agreement in zip(raters, rest, strict=True)
    ]
    identical = tuple(identical_raters(table))
    return AnnotatorReport(table.categories, tuple(profiles), identical, tuple(_warnings(profiles, identical)))


def _checked_order(order: npt.ArrayLike | None, table: RatingTable) -> FloatArray:
    if order is None:
        return np.tile(np.arange(float(table.n_items))[:, None], (1, len(table.raters)))
    when = np.asarray(order, dtype=float)
    if when.shape != table.codes.shape:
        raise ValueError(f"the order has shape {when.shape}, the ratings {table.codes.shape}")
    return when


def _profile(
    table: RatingTable,
    distinct: RatingTable,
    resampling: Resampling,
    column: int,
    rest: RaterAgreement,
    when: FloatArray,
    inverted: bool,
) -> AnnotatorProfile:
    said = table.codes[:, column]
    in_order = np.flatnonzero(said != MISSING)[np.argsort(when[said != MISSING], kind="stable")]
    answers, others = said[in_order], majority(drop_rater(table, column)).codes[in_order]
    counts = np.bincount(answers, minlength=table.n_categories).astype(float)
    run, probability = longest_run(answers, others)
    common = (said != MISSING) & table.pairable
    others_vary = np.unique(table.codes[common][table.codes[common] != MISSING]).size > 1
    constant = len(answers) >= ENOUGH_TO_COMPARE and int((counts > 0).sum()) == 1 and bool(others_vary)
    return AnnotatorProfile(
        annotator=table.raters[column],
        n_ratings=len(answers),
        n_categories_used=int((counts > 0).sum()),
        rest=rest,
        versus=_versus_others(table, distinct, resampling, column),
        shares=tuple((counts / counts.sum()).tolist()),
        entropy=relative_entropy(counts),
        longest_run=run,
        run_probability=probability,
        inverted=inverted,
        constant=constant,
        straight_lining=len(answers) >= ENOUGH_TO_COMPARE and probability < UNLIKELY,
    )


def _versus_others(
    table: RatingTable, distinct: RatingTable, resampling: Resampling, column: int
) -> dict[str, Estimate]:
    """The annotator against the majority and the mean of the others."""
    replicates = compute_item_figures(drop_rater(distinct, column), distinct.codes[:, column], resampling)
    others = drop_rater(table, column)
    rated = table.codes[:, column] != MISSING
    met = count_basis(others, rated & (others.ratings_per_item > 0))
    decided = count_basis(others, rated & (majority(others).codes != MISSING))
    bases = [decided if name in VERSUS_MAJORITY else met for name in OF_ITEMS]
    reasons = [_why_not(name, table, met, decided) for name in OF_ITEMS]
    found = estimates(replicates, resampling, bases, reasons, scale=find_scales(OF_ITEMS))
    return dict(zip(OF_ITEMS, found, strict=True))


def _why_not(name: str, table: RatingTable, met: Basis, decided: Basis) -> str:
    if not met.n_items:
        return "no item rated by someone else as well"
    if name in VERSUS_MAJORITY:
        nominal = table.level == "nominal" and "weighted" in name
        if nominal:
            return NO_ORDER
        return "one category used" if decided.n_items else "the others are tied on every common item"
    return NO_SCORES.get(table.level) or "the annotator's scores or the others' means do not vary"


def drop_rater(table: RatingTable, column: int) -> RatingTable:
    """The table with the ratings of one rater taken out."""
    return table.replace_codes(np.where(np.arange(len(table.raters)) == column, MISSING, table.codes))


def identical_raters(table: RatingTable, pairs: Sequence[tuple[int, int]] | None = None) -> list[tuple[str, str]]:
    """Pairs of raters that say the same on every common item, where these are many and that is improbable.

    Two people who are both right say the same on easy items: the probability is that of the same shares at random among
    items of which the majority of the others says the same. ``pairs`` are columns; by default all are looked at.
    """
    found = []
    for a, b in cohen.rater_pairs(table) if pairs is None else pairs:
        both = (table.codes[:, a] != MISSING) & (table.codes[:, b] != MISSING)
        first, second = table.codes[both, a], table.codes[both, b]
        if len(first) >= ENOUGH_TO_COMPARE and (first == second).all():
            others = table.counts[both]
            others[np.arange(len(first)), first] -= 2
            if (find_shares(first, compute_majority(others)) ** 2).sum(axis=1).prod() < UNLIKELY:
                found.append((table.raters[a], table.raters[b]))
    return found


def find_inverted_raters(table: RatingTable, copies: IntArray | None = None) -> list[str]:
    """Raters whose scores run clearly against the mean of the others; on ordered scales and with two options.

    The correlation has to be below `INVERTED` and, by Fisher's z, significantly below zero, over clusters where the
    table has any. ``copies`` says how many items each row of the table stands for.
    """
    times = np.ones(table.n_items) if copies is None else copies.astype(float)
    if not table.has_scores and table.n_categories != 2:
        return []
    scores = table.rated_scores if table.has_scores else np.where(table.codes < 0, np.nan, table.codes)
    rated = np.isfinite(scores)
    total, n_rated = np.nansum(scores, axis=1), rated.sum(axis=1)
    found = []
    for column in np.flatnonzero(rated.any(axis=0)).tolist():
        own = scores[:, column]
        others = ratio(total - np.nan_to_num(own), (n_rated - rated[:, column]).astype(float))
        common = np.isfinite(own) & np.isfinite(others)
        n, statistic = int(times[common].sum()), pearson(own, others)
        correlation = float(statistic.evaluate(times[None, :])[0, 0])
        if n >= ENOUGH_TO_COMPARE and correlation < INVERTED:
            clusters = _clusters_of(table, common)
            p = _p_by_item(correlation, n) if clusters is None else _p_by_cluster(statistic, common, clusters)
            if p < scipy.special.ndtr(-SURE):
                found.append(table.raters[column])
    return found


def _clusters_of(table: RatingTable, used: BoolArray) -> list[str] | None:
    """The clusters of the items where the mask (n_items,) is true; None where each is one of its own."""
    if table.clusters is None or len(set(table.clusters)) == table.n_items:
        return None
    return [table.clusters[row] for row in np.flatnonzero(used).tolist()]


def _p_by_item(correlation: float, n: int) -> float:
    """One-sided p-value that the correlation of n independent items is below 0, by Fisher's z."""
    return float(scipy.special.ndtr(np.arctanh(max(correlation, -1 + 1e-12)) * np.sqrt(n - 3)))


def _p_by_cluster(statistic: SumStatistic, used: BoolArray, clusters: Sequence[str]) -> float:
    """The same over the clusters (m,) of the m used items: Student's t of Fisher's z by the jackknife.

    1 where there is one cluster, or no correlation without one of them.
    """
    of_used = SumStatistic(statistic.contributions[used], statistic.function)
    resampling = build_resampling(clusters, bootstrap=0, confidence=0.95, seed=0)
    prepared = PreparedSums.prepare([of_used], resampling)
    value = of_used.function(resampling.times @ prepared.rows)
    knife = Jackknife.from_left_out(value, prepared.evaluate_left_out()[0], resampling)
    if knife.flat[0]:
        return 0.0 if resampling.n_units > 1 else 1.0
    r, se, df = float(value[0]), float(knife.se[0]), float(knife.df[0])
    return 1.0 if np.isnan(se) else float(scipy.special.stdtr(df, np.arctanh(max(r, -1 + 1e-12)) * (1 - r**2) / se))


def relative_entropy(counts: FloatArray) -> float:
    """Shannon entropy of the shares of ``counts`` (q,) over log q, 0 to 1; NaN without counts or choice."""
    if counts.sum() == 0 or len(counts) < 2:
        return float("nan")
    shares = counts[counts > 0] / counts.sum()
    return float(max(0.0, -(shares * np.log(shares)).sum() / np.log(len(counts))))


def longest_run(answers: IntArray, others: IntArray | None = None) -> tuple[int, float]:
    """The most equal answers in a row, and how probable that is, about, for the same shares at random.

    Items that follow each other may be alike, so that equal answers are right: p_ik is as of `find_shares`. A run
    of k of at least L starts at item i with the probability of 1 - p_(i-1)k times the product of L shares; the
    probability that there is any is 1 - exp(-sum over i and k), the Poisson approximation. NaN without answers.
    """
    n = len(answers)
    if not n:
        return 0, float("nan")
    changes = np.flatnonzero(np.diff(answers)) + 1
    lengths = np.diff(np.concatenate([[0], changes, [n]]))
    longest = int(lengths.max())
    shares = find_shares(answers, others)
    upto = np.vstack([np.zeros_like(shares[:1]), np.log(np.maximum(shares, 1e-300)).cumsum(axis=0)])
    starts = np.vstack([np.ones_like(shares[:1]), 1 - shares[: n - longest]])
    expected = (starts * np.exp(upto[longest:] - upto[: n - longest + 1])).sum()
    return longest, float(-np.expm1(-expected))


def find_shares(answers: IntArray, others: IntArray | None = None) -> FloatArray:
    """(n, q) share of each category among the answers (n,) to items of which the ``others`` (n,) say the same.

    -1 of the others is nothing; without them all items have the same shares.
    """
    alike = np.zeros(len(answers), dtype=np.int64) if others is None else np.unique(others, return_inverse=True)[1]
    counts = np.zeros((alike.max() + 1, answers.max() + 1))
    np.add.at(counts, (alike, answers), 1)
    shares: FloatArray = (counts / counts.sum(axis=1, keepdims=True))[alike]
    return shares


def _warnings(profiles: Sequence[AnnotatorProfile], identical: Sequence[tuple[str, str]]) -> list[StatWarning]:
    flags = {
        "constant_rater": [one.annotator for one in profiles if one.constant],
        "straight_lining": [one.annotator for one in profiles if one.straight_lining],
        "identical_raters": [f"{a} and {b}" for a, b in identical],
    }
    inverted = build_inverted_warnings([one.annotator for one in profiles if one.inverted])
    rest = [StatWarning(code, MESSAGES[code].format(join_names(names))) for code, names in flags.items() if names]
    return [*inverted, *rest]


MESSAGES = {
    "constant_rater": "{} always gives the same answer where others do not.",
    "straight_lining": "{} gives the same answer many times in a row, more often than chance would.",
    "identical_raters": "Identical on every common item: {}. One person twice, or a copied column?",
}
