"""How far raters agree: every coefficient of a rating table with its interval, its pairs and its warnings."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from annotation.stats import (
    chance_corrected as chance,
    cohen,
    concordance,
    icc as intraclass,
    per_category as categories,
)
from annotation.stats.alpha import krippendorff_alpha, set_agreement
from annotation.stats.analytic import analytic_estimate, compute_linearised_errors, simple_sampling
from annotation.stats.annotators import find_inverted_raters, identical_raters
from annotation.stats.distinct import distinct_items
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import Basis, estimates
from annotation.stats.jackknife import find_scales
from annotation.stats.labels import Label
from annotation.stats.pairs import (
    NO_ORDER,
    NOT_SIMPLE,
    PairAgreement,
    RaterAgreement,
    compare_pairs,
    compare_with_the_rest,
    count_basis,
    mean_estimates,
)
from annotation.stats.per_category import CategoryAgreement
from annotation.stats.resampling import Replicates, Resampling, SumStatistic, replicate
from annotation.stats.result_types import TableAgreementDocument
from annotation.stats.table import MISSING, BoolArray, FloatArray, Level, RatingTable
from annotation.stats.warnings import (
    Joint,
    StatWarning,
    build_inverted_warnings,
    build_left_out_warnings,
    coefficient_warnings,
    pair_warnings,
    resampling_warnings,
    table_warnings,
)
from annotation.stats.weighting import Weighting, default_weighting

__all__ = [
    "COEFFICIENTS",
    "NO_ORDER",
    "AgreementResult",
    "CategoryAgreement",
    "PairAgreement",
    "RaterAgreement",
    "agreement",
    "count_basis",
]

ALPHA = "krippendorff_alpha"

MEAN_OF_PAIRS = {
    "mean_pairwise_cohen_kappa": "cohen_kappa",
    "mean_pairwise_weighted_cohen_kappa": "weighted_cohen_kappa",
    "mean_pairwise_linear_cohen_kappa": "linear_cohen_kappa",
    "mean_pairwise_scott_pi": "scott_pi",
}

COEFFICIENTS = (*chance.NAMES, ALPHA, *MEAN_OF_PAIRS, *intraclass.NAMES)
"""The names of `AgreementResult.coefficients`, in order; rankings and sets have those of `OWN` before the ICCs."""


@dataclass(frozen=True)
class AgreementResult:
    """Everything `agreement` says about a rating table.

    Attributes
    ----------
    level, categories
        The scale.
    n_items, n_items_pairable, n_raters, n_ratings
        Rows of the table; those with at least two ratings; raters with ratings; ratings.
    weights
        The agreement weights of ``gwet_ac``: ``"identity"`` (AC1) or ``"quadratic"`` (AC2); of rankings and sets, which
        have no ``gwet_ac``, those of weighted kappa: ``"kemeny"`` and ``"masi"``.
    seed, bootstrap, confidence
        How the intervals were made: seed, number of replicates, nominal coverage.
    coefficients
        Figures by name, as listed in `COEFFICIENTS`.
    analytic
        Some of them again, with standard errors and intervals by formula instead of the bootstrap.
    per_category
        Share and Fleiss' kappa of each category; nothing of rankings, sets and numbers without a scale.
    pairs
        Every two raters.
    raters
        Each rater against the others.
    warnings
        What to know before believing the figures.
    """

    level: Level
    categories: tuple[Label, ...]
    n_items: int
    n_items_pairable: int
    n_raters: int
    n_ratings: int
    weights: Weighting
    seed: int
    bootstrap: int
    confidence: float
    coefficients: Mapping[str, Estimate]
    analytic: Mapping[str, Estimate]
    per_category: tuple[CategoryAgreement, ...]
    pairs: tuple[PairAgreement, ...]
    raters: tuple[RaterAgreement, ...]
    warnings: tuple[StatWarning, ...]

    def to_json(self) -> TableAgreementDocument:
        """The result as JSON types, without the part on judges."""
        return {
            "level": self.level,
            "n_items": self.n_items,
            "n_items_pairable": self.n_items_pairable,
            "n_raters": self.n_raters,
            "n_ratings": self.n_ratings,
            "categories": list(self.categories),
            "weights": self.weights,
            "seed": self.seed,
            "bootstrap": self.bootstrap,
            "confidence": self.confidence,
            "coefficients": {name: estimate.to_json() for name, estimate in self.coefficients.items()},
            "analytic": {name: estimate.to_json() for name, estimate in self.analytic.items()},
            "per_category": [category.to_json() for category in self.per_category],
            "pairs": [pair.to_json() for pair in self.pairs],
            "raters": [rater.to_json() for rater in self.raters],
            "warnings": [warning.to_json() for warning in self.warnings],
        }


def agreement(table: RatingTable, *, bootstrap: int = 2000, confidence: float = 0.95, seed: int = 0) -> AgreementResult:
    """All coefficients of agreement of a rating table, each with a bootstrap interval over items.

    Parameters
    ----------
    table
        The ratings. Its clusters are resampled whole, its strata keep their sizes, its weights weigh items.
    bootstrap
        Number of replicates; 0 for point estimates without intervals.
    confidence
        Nominal coverage of the intervals.
    seed
        Seed of the resampling.

    Returns
    -------
    AgreementResult
        With the coefficients of `COEFFICIENTS`; weighted kappa is quadratic unless it is called linear. What
        cannot be computed is NaN with a reason.

    Raises
    ------
    ValueError
        If ``bootstrap`` or ``seed`` is negative, ``confidence`` not between 0 and 1, or a cluster crosses
        strata.

    Examples
    --------
    >>> table = RatingTable.from_wide([["yes", "yes"], ["no", "no"], ["yes", "no"], ["no", "no"]])
    >>> round(agreement(table, bootstrap=0).coefficients["fleiss_kappa"].value, 3)
    0.467
    """
    distinct = distinct_items(table)
    resampling = Resampling.from_table(
        distinct.table, bootstrap=bootstrap, confidence=confidence, seed=seed, copies=distinct.copies
    )
    resampling.draw_ahead()
    work = _Work(table, distinct.table, resampling)
    inverted, errors = find_inverted_raters(distinct.table, distinct.copies), work.compute_linearised_errors()
    of_table = table_warnings(table)
    coefficients, pairs, raters = work.coefficients()
    return AgreementResult(
        level=table.level,
        categories=table.categories,
        n_items=table.n_items,
        n_items_pairable=int(table.pairable.sum()),
        n_raters=table.n_raters,
        n_ratings=table.n_ratings,
        weights=default_weighting(table),
        seed=seed,
        bootstrap=bootstrap,
        confidence=confidence,
        coefficients={name: coefficients[name] for name in _names(table)},
        analytic=work.analytic(coefficients, errors),
        per_category=work.compute_categories(),
        pairs=pairs,
        raters=raters,
        warnings=(*of_table, *_warnings(table, resampling, coefficients, pairs, inverted)),
    )


@dataclass(frozen=True, eq=False)
class _Work:
    """All items, which say what a figure rests on; their distinct rows; and how these are resampled."""

    table: RatingTable
    distinct: RatingTable
    resampling: Resampling

    @property
    def pairable(self) -> Basis:
        return count_basis(self.table, self.table.pairable)

    @cached_property
    def icc_raters(self) -> BoolArray:
        """(columns,) mask of the raters whose ICC is asked."""
        return intraclass.mask_compared_raters(self.table)

    @property
    def complete(self) -> Basis:
        """What the ICC rests on."""
        used = count_basis(self.table, intraclass.complete_items(self.table, self.icc_raters))
        k = int(self.icc_raters.sum())
        return Basis(used.n_items, k, k * used.n_items)

    def coefficients(self) -> tuple[dict[str, Estimate], tuple[PairAgreement, ...], tuple[RaterAgreement, ...]]:
        """The coefficients by name, every pair of raters, and each rater against the others."""
        raters = np.flatnonzero((self.distinct.codes >= 0).any(axis=0)).tolist()
        with ThreadPoolExecutor(1) as beside:  # numpy lets the two run side by side
            of_items = beside.submit(self._of_items)
            compared = compare_pairs(
                self.table, self.distinct, self.resampling, cohen.rater_pairs(self.distinct), raters=raters
            )
            rest = compare_with_the_rest(self.table, raters, compared.means[1:], self.resampling)
        return {**of_items.result(), **self._means(compared.means[0])}, compared.pairs, tuple(rest)

    @cached_property
    def _statistics(self) -> list[SumStatistic]:
        """All statistics that do not look at pairs of raters."""
        table, weights = self.distinct, self.resampling.item_weights
        return [
            chance.chance_corrected(table),
            krippendorff_alpha(table, item_weights=weights),
            intraclass.icc(table, self.icc_raters, item_weights=weights),
            build_own_statistic(table, weights),
        ]

    @cached_property
    def _replicates(self) -> list[Replicates]:
        return replicate(self._statistics, self.resampling)

    def _of_items(self) -> dict[str, Estimate]:
        """The coefficients that do not ask who said what, and the ICCs."""
        shared, alpha, icc, last = self._replicates
        reason = chance.explain_undefined(self.table)
        complete, own = self.complete, OWN.get(self.table.level, ())
        by_count = reason if self.table.has_scale else chance.NOT_COUNTED
        why = [by_count if name in chance.BY_COUNT else reason for name in chance.NAMES]
        no_own = [concordance.ALL_TIED if name == "kendall_w" and self.table.pairable.any() else reason for name in own]
        return {
            **self._named(chance.NAMES, shared, self.pairable, why),
            **(self._named(own, last, self.pairable, no_own) if own else {}),
            **self._named((ALPHA,), alpha, self.pairable, [reason]),
            **self._named(intraclass.NAMES, icc, complete, intraclass.reasons(self.table, icc.value)),
        }

    def _named(
        self, names: Sequence[str], replicates: Replicates, basis: Basis, reasons: Sequence[str]
    ) -> dict[str, Estimate]:
        found = estimates(replicates, self.resampling, [basis] * len(names), reasons, scale=find_scales(names))
        return dict(zip(names, found, strict=True))

    def _means(self, means: Replicates) -> dict[str, Estimate]:
        reason = chance.explain_undefined(self.table)
        if reason.startswith("one category"):
            reason = "no pair of raters with a defined kappa"
        nominal = self.table.level == "nominal"
        found = mean_estimates(means, self.resampling, self.pairable, reason=reason, nominal=nominal)
        return {name: found[kind] for name, kind in MEAN_OF_PAIRS.items()}

    def compute_categories(self) -> tuple[CategoryAgreement, ...]:
        if self.table.level in OWN or self.table.is_open:
            return ()
        found, q = self._replicates[3], self.table.n_categories
        rated = count_basis(self.table, self.table.ratings_per_item > 0)
        bases = [rated] * q + [self.pairable] * q
        scales = find_scales(["percent_agreement"] * q + ["fleiss_kappa"] * q)
        figures = estimates(found, self.resampling, bases, categories.reasons(self.table), scale=scales)
        rows = zip(self.table.categories, figures[:q], figures[q:], strict=True)
        return tuple(CategoryAgreement(category, share, kappa) for category, share, kappa in rows)

    def compute_linearised_errors(self) -> dict[str, float]:
        """Standard errors by linearisation."""
        shared, alpha, *_ = self._statistics
        return {**self._linearised(shared, chance.NAMES), **self._linearised(alpha, (ALPHA,))}

    def analytic(self, coefficients: Mapping[str, Estimate], errors: Mapping[str, float]) -> dict[str, Estimate]:
        """The coefficients that formulas give a standard error for."""
        found = {name: self._by_formula(coefficients[name], error) for name, error in errors.items()}
        copies = self.resampling.copies_of_items
        ends = intraclass.f_intervals(self.distinct, self.resampling.confidence, copies, self.icc_raters)
        return found | {name: self._by_f(coefficients[name], ends[name]) for name in intraclass.NAMES}

    def _linearised(self, statistic: SumStatistic, names: Sequence[str]) -> dict[str, float]:
        if self.resampling.n_units < 2:
            return dict.fromkeys(names, np.nan)
        return dict(zip(names, compute_linearised_errors(statistic, self.resampling).tolist(), strict=True))

    def _by_formula(self, figure: Estimate, error: float) -> Estimate:
        basis = Basis(figure.n_items, figure.n_raters, figure.n_ratings)
        reason = "no interval: there is only one unit to resample" if figure.defined else figure.reason
        return analytic_estimate(
            figure.value,
            error,
            basis,
            confidence=self.resampling.confidence,
            reason=reason,
            n_units=self.resampling.n_units,
        )

    def _by_f(self, figure: Estimate, ends: tuple[float, float]) -> Estimate:
        simple = simple_sampling(self.table)
        known = simple and figure.defined and bool(np.isfinite(ends).all())
        undefined = figure.reason if not figure.defined else None if known else NOT_SIMPLE if not simple else NO_F
        return replace(
            figure,
            low=ends[0] if known else np.nan,
            high=ends[1] if known else np.nan,
            reason=undefined,
            method="analytic" if known else "none",
            seed=None,
            se=np.nan,
        )


OWN: dict[Level, tuple[str, ...]] = {
    "ranking": concordance.NAMES,
    "set": ("mean_masi", "mean_jaccard", "krippendorff_alpha_jaccard"),
}
"""By level, the coefficients that only it has."""


def build_own_statistic(table: RatingTable, item_weights: FloatArray) -> SumStatistic:
    """The coefficients of `OWN`; of categories, the share and the kappa of each."""
    if table.level == "ranking":
        return concordance.concordance(table)
    return set_agreement(table, item_weights) if table.level == "set" else categories.build_category_statistic(table)


def _names(table: RatingTable) -> tuple[str, ...]:
    """Of the coefficients of a table, in order. Rankings and sets have some of their own."""
    own = OWN.get(table.level, ())
    return (*COEFFICIENTS[: -len(intraclass.NAMES)], *own, *intraclass.NAMES)


NO_F = "no interval: nothing varies within items"


def _left_out(table: RatingTable) -> list[str]:
    """Raters with ratings, but too few for the ICC."""
    few = ~intraclass.mask_compared_raters(table) & (table.codes != MISSING).any(axis=0)
    return [table.raters[column] for column in np.flatnonzero(few)] if table.has_scores else []


def _warnings(
    table: RatingTable,
    resampling: Resampling,
    coefficients: dict[str, Estimate],
    pairs: Sequence[PairAgreement],
    inverted: Sequence[str],
) -> list[StatWarning]:
    joints = [Joint(pair.a, pair.b, pair.n, pair.percent_agreement.value, pair.in_mean) for pair in pairs]
    undefined = [j for j, pair in zip(joints, pairs, strict=True) if not pair.cohen_kappa.defined]
    same = [(table.raters.index(j.a), table.raters.index(j.b)) for j in joints if j.same == 1]
    return [
        *resampling_warnings(table, resampling),
        *coefficient_warnings(coefficients),
        *pair_warnings(joints, undefined, identical_raters(table, same)),
        *build_inverted_warnings(inverted),
        *build_left_out_warnings(_left_out(table), "the ICC"),
    ]
