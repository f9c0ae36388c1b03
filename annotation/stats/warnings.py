"""What a reader must know before believing a figure, as a code for machines and a sentence for people."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.stats.cohen import LEAST_SHARE
from annotation.stats.estimate import Estimate
from annotation.stats.labels import are_mixed
from annotation.stats.orders import TIE
from annotation.stats.resampling import Resampling
from annotation.stats.result_types import NoteDocument
from annotation.stats.table import RatingTable

FEW_ITEMS = 30
FEW_DISAGREEMENTS = 5
FEW_RARE = 10
FEW_EFFECTIVE = 25
"""Below this many clusters, or effective units, measured intervals of skewed kappas cover less than they claim."""

HIGH_AGREEMENT = 0.8
LOW_KAPPA = 0.4
ENOUGH_TO_COMPARE = 20


@dataclass(frozen=True)
class StatWarning:
    """A coded warning: ``code`` never changes its meaning, ``message`` is one or two sentences."""

    code: str
    message: str

    def to_json(self) -> NoteDocument:
        """The warning as JSON types."""
        return {"code": self.code, "message": self.message}


@dataclass(frozen=True)
class Joint:
    """Two raters, the number of items both rated, and the share on which they say the same."""

    a: str
    b: str
    n: int
    same: float
    in_mean: bool = True


def table_warnings(table: RatingTable) -> list[StatWarning]:
    """Warnings that the ratings alone give rise to."""
    checks: Sequence[Callable[[RatingTable], Iterable[StatWarning]]] = (
        build_few_items_warnings,
        _few_disagreements,
        _rare_categories,
        _one_category,
        _unequal_counts,
        _idle_raters,
        _mixed_labels,
    )
    return [warning for check in checks for warning in check(table)]


def build_few_items_warnings(table: RatingTable) -> Iterable[StatWarning]:
    """A warning where few items have two ratings."""
    n = int(table.pairable.sum())
    if n < FEW_ITEMS:
        yield StatWarning(
            "few_items",
            f"Only {n} items have two or more ratings; below {FEW_ITEMS} the coefficients are unstable "
            "and the intervals too narrow.",
        )


def _few_disagreements(table: RatingTable) -> Iterable[StatWarning]:
    disputed = int((table.pairable & (table.counts.max(axis=1, initial=0.0) < table.ratings_per_item)).sum())
    if 0 < disputed < FEW_DISAGREEMENTS:
        yield StatWarning(
            "few_disagreements",
            f"Raters disagree on only {disputed} of {int(table.pairable.sum())} items. Intervals rest on these "
            "few, and cover less than they claim (docs/methods.md, coverage).",
        )


def _rare_categories(table: RatingTable) -> Iterable[StatWarning]:
    """Chance-corrected coefficients speak of the rarer categories: those must be agreed on often enough."""
    if table.n_used < 2 or not table.pairable.any() or not table.has_scale:
        return
    usual = int(table.counts.sum(axis=0).argmax())
    agreed = int(((np.delete(table.counts, usual, axis=1) >= 2).any(axis=1)).sum())
    if agreed < FEW_RARE and table.pairable.sum() >= FEW_ITEMS:
        yield StatWarning(
            "rare_categories",
            f"On only {agreed} items do two raters agree on anything but {table.categories[usual]!r}. Kappa "
            "rests on these few, and its interval covers less than it claims (docs/methods.md, coverage).",
        )


def _one_category(table: RatingTable) -> Iterable[StatWarning]:
    if table.n_ratings and table.n_used == 1:
        used = table.categories[int(table.counts.sum(axis=0).argmax())]
        yield StatWarning(
            "one_category",
            f"Every rating is {used!r}: there is nothing to tell agreement from habit. "
            "Coefficients that divide by the chance of disagreement are undefined.",
        )


def _unequal_counts(table: RatingTable) -> Iterable[StatWarning]:
    counts = table.ratings_per_item[table.ratings_per_item > 0]
    if counts.size and counts.min() < counts.max():
        yield StatWarning(
            "unequal_counts",
            f"Items have {counts.min():g} to {counts.max():g} ratings. fleiss_kappa averages the shares of "
            "each item (Gwet 2014); fleiss_kappa_pooled sums rater pairs over items, so that items with many "
            "ratings count for more.",
        )


def _idle_raters(table: RatingTable) -> Iterable[StatWarning]:
    idle = [name for name, codes in zip(table.raters, table.codes.T, strict=True) if (codes < 0).all()]
    if idle:
        yield StatWarning("idle_raters", f"No rating by {', '.join(idle)}: not counted among the raters.")


def _mixed_labels(table: RatingTable) -> Iterable[StatWarning]:
    if are_mixed([category for category in table.categories if category != TIE]):
        scale = ", ".join(str(category) for category in table.categories[:12])
        yield StatWarning(
            "mixed_labels",
            f"The categories mix numbers and labels: {scale}. Each counts as a category of its own; a label that "
            "stands for a missing rating should be an empty cell.",
        )


def resampling_warnings(table: RatingTable, resampling: Resampling) -> list[StatWarning]:
    """Warnings about how the intervals were made."""
    if not resampling.n_replicates or not len(resampling.stratum):
        return []
    return [*_few_clusters(table, resampling), *_single_units(table, resampling)]


def _few_clusters(table: RatingTable, resampling: Resampling) -> list[StatWarning]:
    if table.clusters is None or resampling.n_units >= FEW_EFFECTIVE:
        return []
    n = resampling.n_units
    there = "is only 1 cluster" if n == 1 else f"are only {n} clusters"
    message = f"There {there}; below {FEW_EFFECTIVE} intervals may be too short"
    return [StatWarning("few_clusters", f"{message}, above all where one category is rare.")]


def _single_units(table: RatingTable, resampling: Resampling) -> list[StatWarning]:
    if table.strata is None:
        return []
    single = int((np.bincount(resampling.stratum) == 1).sum())
    if not single:
        return []
    message = f"{single} strata hold a single item or cluster, which resampling cannot vary"
    return [StatWarning("single_unit_strata", f"{message}: intervals are too narrow.")]


def coefficient_warnings(coefficients: dict[str, Estimate]) -> list[StatWarning]:
    """Warnings that follow from the values of the coefficients, by their names in the JSON."""
    return [*_kappa_paradox(coefficients), *interval_warnings(coefficients)]


def interval_warnings(figures: Mapping[str, Estimate]) -> list[StatWarning]:
    """A warning about the figures, by name, whose intervals rest on few effective units, where there are any."""
    few = {name: e.df for name, e in figures.items() if e.df < FEW_EFFECTIVE}
    if not few:
        return []
    message = f"Few items or clusters decide these intervals, which may be too short: {join_names(list(few))}."
    least = f"The fewest effective units are {min(few.values()):.0f}; {FEW_EFFECTIVE} are enough."
    return [StatWarning("few_effective_units", f"{message} {least}")]


def _kappa_paradox(coefficients: dict[str, Estimate]) -> Iterable[StatWarning]:
    agreement, kappa = coefficients["percent_agreement"].value, coefficients["fleiss_kappa"].value
    if agreement >= HIGH_AGREEMENT and kappa < LOW_KAPPA:
        ac = coefficients["gwet_ac"].value
        yield StatWarning(
            "kappa_paradox",
            f"Raters agree on {100 * agreement:.0f} % of pairs, yet kappa is {kappa:.2f}: one category is so "
            "frequent that chance explains most of it (Feinstein and Cicchetti 1990). "
            f"Gwet's AC is {ac:.2f}; read them together.",
        )


def pair_warnings(
    joints: Sequence[Joint], undefined: Sequence[Joint], identical: Sequence[tuple[str, str]]
) -> list[StatWarning]:
    """Warnings about pairs of raters: ``joints`` are all, ``undefined`` those without a kappa, ``identical`` named."""
    return [*_identical(identical), *_never_met(joints), *_left_out(joints), *_undefined(undefined)]


def _identical(pairs: Sequence[tuple[str, str]]) -> Iterable[StatWarning]:
    if same := [f"{a} and {b}" for a, b in pairs]:
        yield StatWarning(
            "identical_raters",
            f"Identical on every one of at least {ENOUGH_TO_COMPARE} common items: {join_names(same)}. "
            "One person twice, or a copied column?",
        )


def _never_met(joints: Sequence[Joint]) -> Iterable[StatWarning]:
    apart = [f"{j.a} and {j.b}" for j in joints if j.n == 0]
    if apart:
        yield StatWarning("pairs_without_items", f"No item rated by both: {join_names(apart)}.")


def _left_out(joints: Sequence[Joint]) -> Iterable[StatWarning]:
    few = [f"{j.a} and {j.b} ({j.n})" for j in joints if j.n and not j.in_mean]
    if few:
        most = max(j.n for j in joints)
        yield StatWarning(
            "pairs_left_out",
            f"Too few common items beside the {most} of the best covered pair (below "
            f"{100 * LEAST_SHARE:.0f} %): listed, and left out of means over pairs: {join_names(few)}.",
        )


def build_left_out_warnings(raters: Sequence[str], figures: str) -> list[StatWarning]:
    """A warning about raters with too few ratings to take part in ``figures``, where there are any."""
    if not raters:
        return []
    message = f"Below {100 * LEAST_SHARE:.0f} % of the ratings of the busiest rater, and left out of {figures}"
    return [StatWarning("raters_left_out", f"{message}: {join_names(raters)}.")]


def _undefined(undefined: Sequence[Joint]) -> Iterable[StatWarning]:
    names = [f"{j.a} and {j.b}" for j in undefined if j.n]
    if names:
        yield StatWarning(
            "undefined_pairs",
            f"Kappa is undefined, and left out of the mean over pairs, for {join_names(names)}.",
        )


def build_inverted_warnings(names: Sequence[str]) -> list[StatWarning]:
    """A warning about raters whose scores run against those of the others, where there are any."""
    if not names:
        return []
    message = f"The scores of {join_names(names)} run against those of the others: a scale read upside down?"
    return [StatWarning("inverted_scale", message)]


def join_names(names: Sequence[str], most: int = 5) -> str:
    """Names for a sentence: the first few, and how many more."""
    more = len(names) - most
    return "; ".join(names[:most]) + (f"; and {more} more" if more > 0 else "")
