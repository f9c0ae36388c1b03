"""How far people agree on what they mark: F1 of each two of them, and Krippendorff's alpha for unitizing.

F1 of two people is twice what both mark over the sum of what each marks, summed over the items of both; one of them may
be called the truth, the number is the same. Means are over pairs of people, as those of kappa are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from annotation.stats import cohen
from annotation.stats.arrays import ratio
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import Basis, estimates
from annotation.stats.jackknife import find_scales
from annotation.stats.pairs import count_basis
from annotation.stats.resampling import Replicates, Resampling, SumStatistic, replicate
from annotation.stats.result_types import PairDocument, PairFigures, RaterDocument, TableAgreementDocument
from annotation.stats.spans import Overlap, Spans, categories_of, compute_overlap, parse_spans
from annotation.stats.table import MISSING, BoolArray, FloatArray, RatingTable
from annotation.stats.unitizing import unitizing_alpha
from annotation.stats.warnings import build_few_items_warnings, interval_warnings, resampling_warnings

KINDS = ("overlap_f1", "labelled_overlap_f1", "exact_f1")
"""F1 of characters whatever their category, of characters of the same category, and of whole spans."""

ALPHA = "unitizing_alpha"

NOTHING = "nobody marked anything"
NO_TEXTS = "the lengths of the texts are not known"


@dataclass(frozen=True, eq=False)
class SpanPairs:
    """Pairs of columns of a table, and replicates of the figures of `KINDS` of each, kind by kind."""

    table: RatingTable
    pairs: tuple[cohen.Pair, ...]
    resampling: Resampling
    replicates: Replicates

    @classmethod
    def compare(cls, table: RatingTable, pairs: Sequence[cohen.Pair], resampling: Resampling) -> "SpanPairs":
        """Compare the answers of each two columns."""
        return cls(table, tuple(pairs), resampling, replicate([pairs_statistic(table, pairs)], resampling)[0])

    @cached_property
    def joint(self) -> list[int]:
        """How many items both of each pair rated."""
        counts = cohen.joint_counts(self.table.codes)
        return [int(counts[pair]) for pair in self.pairs]

    def mean(self, member: BoolArray) -> Replicates:
        """The figures of `KINDS` averaged over the pairs in ``member`` (P,), without those that are undefined."""
        made = self.replicates
        value, bootstrap, left_out = (self._mean(part, member) for part in (made.value, made.bootstrap, made.left_out))
        return Replicates(value, bootstrap, left_out, None if made.weight is None else self._mean(made.weight, member))

    def _mean(self, values: FloatArray, member: BoolArray) -> FloatArray:
        kinds = values.reshape(*values.shape[:-1], len(KINDS), len(self.pairs))[..., member]
        known = ~np.isnan(kinds)
        return ratio(np.where(known, kinds, 0.0).sum(axis=-1), known.sum(axis=-1).astype(float))

    def list_pairs(self, in_mean: BoolArray) -> list[PairDocument]:
        """Each pair as JSON types."""
        bases = [Basis(n, 2, 2 * n) for n in self.joint]
        why = [NOTHING if n else "no item rated by both" for n in self.joint]
        found = estimates(
            self.replicates,
            self.resampling,
            bases * len(KINDS),
            why * len(KINDS),
            scale=find_scales(kind for kind in KINDS for _ in self.pairs),
        )
        p = len(self.pairs)
        return [
            {
                "a": self.table.raters[a],
                "b": self.table.raters[b],
                "n": self.joint[place],
                "in_mean": bool(in_mean[place]),
                **_name_kinds(found[place::p]),
            }
            for place, (a, b) in enumerate(self.pairs)
        ]


def pairs_statistic(table: RatingTable, pairs: Sequence[cohen.Pair]) -> SumStatistic:
    """The figures of `KINDS` of P pairs of columns, as one statistic with 3 P values, kind by kind."""
    answers = parse_answers(table)
    columns = np.zeros((table.n_items, len(pairs), len(Overlap._fields)))
    for place, (a, b) in enumerate(pairs):
        for row in np.flatnonzero((table.codes[:, [a, b]] != MISSING).all(axis=1)).tolist():
            columns[row, place] = compute_overlap(answers[table.codes[row, a]], answers[table.codes[row, b]])
    of_pairs = columns.reshape(table.n_items, len(pairs) * len(Overlap._fields))
    return SumStatistic(of_pairs, partial(_f1, n_pairs=len(pairs)), partial(_count_marked, n_pairs=len(pairs)))


def _f1(sums: FloatArray, *, n_pairs: int) -> FloatArray:
    by_pair = sums.reshape(*sums.shape[:-1], n_pairs, len(Overlap._fields))
    return np.concatenate([ratio(2 * by_pair[..., k], by_pair[..., k + 1]) for k in (0, 2, 4)], axis=-1)


def _count_marked(sums: FloatArray, *, n_pairs: int) -> FloatArray:
    """(…, 3 P) what both of each pair mark, added up: F1 is the mean over units weighted by it."""
    by_pair = sums.reshape(*sums.shape[:-1], n_pairs, len(Overlap._fields))
    return np.concatenate([by_pair[..., k + 1] for k in (0, 2, 4)], axis=-1)


def parse_answers(table: RatingTable) -> list[Spans]:
    """What each category of the table marks."""
    return [parse_spans(str(category)) for category in table.categories]


def alpha_statistic(
    table: RatingTable, categories: Sequence[str], item_weights: FloatArray | None = None
) -> SumStatistic:
    """Alpha for unitizing over all categories, then of each; ``item_weights`` as of `unitizing_alpha`."""
    answers = parse_answers(table)
    given = [[answers[code] for code in row if code != MISSING] for row in table.codes.tolist()]
    return unitizing_alpha(given, table.texts or ({},) * table.n_items, categories, item_weights)


@dataclass(frozen=True)
class SpanAgreement:
    """Everything that is said of a table of spans, in the shape of `annotation.stats.agreement.AgreementResult`."""

    table: RatingTable
    categories: tuple[str, ...]
    resampling: Resampling
    coefficients: Mapping[str, Estimate]
    per_category: Mapping[str, Estimate]
    pairs: Sequence[PairDocument]
    raters: Sequence[RaterDocument]

    def to_json(self) -> TableAgreementDocument:
        """The result as JSON types."""
        table = self.table
        return {
            "level": table.level,
            "n_items": table.n_items,
            "n_items_pairable": int(table.pairable.sum()),
            "n_raters": table.n_raters,
            "n_ratings": table.n_ratings,
            "categories": list(self.categories),
            "weights": None,
            "seed": self.resampling.seed,
            "bootstrap": self.resampling.n_replicates,
            "confidence": self.resampling.confidence,
            "coefficients": {name: one.to_json() for name, one in self.coefficients.items()},
            "analytic": {},
            "per_category": [
                {"category": name, "unitizing_alpha": one.to_json()} for name, one in self.per_category.items()
            ],
            "pairs": list(self.pairs),
            "raters": list(self.raters),
            "warnings": [
                one.to_json()
                for one in (
                    *build_few_items_warnings(table),
                    *resampling_warnings(table, self.resampling),
                    *interval_warnings(self.coefficients),
                )
            ],
        }


def span_agreement(
    table: RatingTable, *, bootstrap: int = 2000, confidence: float = 0.95, seed: int = 0
) -> SpanAgreement:
    """F1 over pairs of people and alpha for unitizing, each with a bootstrap interval over items.

    The table is of level ``spans``; its ``texts`` say how long the texts are, without which there is no alpha.
    """
    resampling = Resampling.from_table(table, bootstrap=bootstrap, confidence=confidence, seed=seed)
    compared = SpanPairs.compare(table, cohen.rater_pairs(table), resampling)
    raters = np.flatnonzero((table.codes != MISSING).any(axis=0)).tolist()
    member = cohen.everyone_and_each(compared.pairs, raters, cohen.joint_counts(table.codes)) > 0
    categories = categories_of(str(category) for category in table.categories)
    alpha, *each = _alphas(table, categories, resampling)
    basis = count_basis(table, table.pairable)
    means = _named(compared.mean(member[:, 0]), resampling, basis, explain_undefined(table))
    return SpanAgreement(
        table=table,
        categories=categories,
        resampling=resampling,
        coefficients={**means, ALPHA: alpha},
        per_category=dict(zip(categories, each, strict=True)),
        pairs=compared.list_pairs(member[:, 0]),
        raters=[
            _with_the_rest(table, column, compared.mean(member[:, place]), resampling)
            for place, column in enumerate(raters, start=1)
        ],
    )


def explain_undefined(table: RatingTable) -> str:
    """Why F1 has no value."""
    if table.n_raters < 2:
        return "only one rater" if table.n_ratings else "no ratings"
    return NOTHING if table.pairable.any() else "no item with two ratings"


def _alphas(table: RatingTable, categories: Sequence[str], resampling: Resampling) -> list[Estimate]:
    statistic = alpha_statistic(table, categories, resampling.item_weights)
    reason = NO_TEXTS if table.texts is None else explain_undefined(table)
    names = [ALPHA] * (1 + len(categories))
    found = replicate([statistic], resampling)[0]
    if table.texts is None:
        found = Replicates(*(np.full_like(part, np.nan) for part in (found.value, found.bootstrap, found.left_out)))
    basis = count_basis(table, table.pairable)
    return estimates(found, resampling, [basis] * len(names), [reason] * len(names), scale=find_scales(names))


def _named(mean: Replicates, resampling: Resampling, basis: Basis, reason: str) -> dict[str, Estimate]:
    k = len(KINDS)
    found = estimates(mean, resampling, [basis] * k, [reason] * k, scale=find_scales(KINDS))
    return dict(zip(KINDS, found, strict=True))


def _with_the_rest(table: RatingTable, column: int, mean: Replicates, resampling: Resampling) -> RaterDocument:
    rated = table.codes[:, column] != MISSING
    found = _named(mean, resampling, count_basis(table, rated & table.pairable), explain_undefined(table))
    return {"rater": table.raters[column], "n_ratings": int(rated.sum()), **_name_kinds([*found.values()])}


def _name_kinds(figures: Sequence[Estimate]) -> PairFigures:
    """The figures of `KINDS` as JSON types."""
    overlap, labelled, exact = (one.to_json() for one in figures)
    return {"overlap_f1": overlap, "labelled_overlap_f1": labelled, "exact_f1": exact}
