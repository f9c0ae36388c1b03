"""What was seen of a study's items: the material, people's labels, a judge's verdicts, and those on altered copies.

Every column has one entry per item of the study, in one order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from annotation.stats.arrays import ratio
from annotation.stats.bands import DEFAULT_CUTS, TIERS, band_positions
from annotation.stats.dawid_skene import DawidSkene, dawid_skene
from annotation.stats.dependence import INDEPENDENT, Design
from annotation.stats.majority import majority
from annotation.stats.table import MISSING, BoolArray, FloatArray, IntArray, RatingTable
from annotation.stats.tiers import chance_agreement, item_kappas
from judging.stats.audits.altered import AlteredReplies
from judging.stats.audits.design import SamplingDesign
from judging.stats.label_shares import majority_shares, nearest_shares


@dataclass(frozen=True, eq=False)
class ItemColumns:
    """The n items.

    Attributes
    ----------
    names
        Of the items, unique.
    inclusion
        (n,) probability with which the item came into the study.
    clusters
        (n,) what is independent of each other: profile, else question or dialogue, or what the study names.
    length
        (n,) log number of characters of what is judged; for pairs the log ratio of response 1 to response 2.
    assistants
        (n,) who answered: one name, for pairs that of response 1; empty where unknown.
    opponents
        (n,) for pairs who gave response 2; empty otherwise.
    groups
        By name (domain, condition, …) the group of each item; only groupings with two groups or more.
    fingerprints
        (n,) hash of what is judged, the same for equal contents.
    split_units
        (n,) what a hold-out never splits: a user, else a question; empty where nothing was read.
    design
        What clusters, strata and weights are called.
    strata
        (n,) within what the draw was made; None where it is not kept.
    """

    names: tuple[str, ...]
    inclusion: FloatArray
    clusters: tuple[str, ...]
    length: FloatArray
    assistants: tuple[str, ...]
    opponents: tuple[str, ...]
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fingerprints: tuple[str, ...] = ()
    split_units: tuple[str, ...] = ()
    design: Design = INDEPENDENT
    strata: tuple[str, ...] | None = None

    @property
    def n(self) -> int:
        """Number of items."""
        return len(self.names)

    def subset(self, mask: BoolArray) -> "ItemColumns":
        """The items where the mask (n,) is true."""
        return ItemColumns(
            names=select_names(self.names, mask),
            inclusion=self.inclusion[mask],
            clusters=select_names(self.clusters, mask),
            length=self.length[mask],
            assistants=select_names(self.assistants, mask),
            opponents=select_names(self.opponents, mask),
            groups={name: select_names(column, mask) for name, column in self.groups.items()},
            fingerprints=select_names(self.fingerprints, mask) if self.fingerprints else (),
            split_units=select_names(self.split_units, mask) if self.split_units else (),
            design=self.design,
            strata=None if self.strata is None else select_names(self.strata, mask),
        )

    @cached_property
    def weights(self) -> FloatArray | None:
        """One over the inclusion probability; None where all are equal, so that weights change nothing."""
        equal = not self.n or np.ptp(self.inclusion) == 0
        return None if equal else np.asarray(1 / self.inclusion, dtype=float)

    @property
    def sampling(self) -> SamplingDesign:
        """Clusters and weights as the probes take them."""
        return SamplingDesign(self.dependent, self.weights)

    @cached_property
    def dependent(self) -> tuple[str, ...] | None:
        """The clusters; None where every item is one of its own."""
        return None if len(set(self.clusters)) == self.n else self.clusters


@dataclass(frozen=True, eq=False)
class People:
    """What people said on one criterion.

    Attributes
    ----------
    table
        (n, r) ratings, a row for every item, rated or not.
    gold
        (n,) category that the newest adjudication gave; -1 where there is none.
    declined
        (n,) how many people looked at the item and could not judge.
    by_hand
        By row, the tiers that a researcher has set.
    demographics
        By question, the answer of each of the r people about themselves; None where there is none.
    strengths
        Of preferences: row, person and by how much one response is better, where that was said. The difficulty model
        looks at them.
    """

    table: RatingTable
    gold: IntArray
    declined: IntArray
    by_hand: Mapping[int, str] = field(default_factory=dict)
    demographics: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)
    strengths: tuple[tuple[int, int, str], ...] = ()

    @cached_property
    def tied(self) -> BoolArray:
        """(n,) rated items on which people are divided equally and nobody adjudicated."""
        return np.asarray(majority(self.table).tied & (self.gold == MISSING))

    @cached_property
    def consensus(self) -> IntArray:
        """(n,) the adjudicated category, else the majority; -1 without either."""
        return np.where(self.gold != MISSING, self.gold, majority(self.table).codes)

    @cached_property
    def label_shares(self) -> FloatArray:
        """(n, q) share of each category in people's label: equal shares where they are tied; NaN without a label."""
        if self.counted:
            return majority_shares(self.table.counts, self.gold)
        return nearest_shares(self.mean, self.table.scores)

    @cached_property
    def votes(self) -> FloatArray:
        """(n, q) share of the people who chose each category; NaN where nobody did."""
        return ratio(self.table.counts, np.broadcast_to(self.table.ratings_per_item[:, None], self.table.counts.shape))

    def compute_expected(self, numbers: FloatArray) -> FloatArray:
        """(n,) people's label as a number: of a tie the mean of the tied categories; NaN without a label."""
        if not self.counted:
            return self.mean
        return np.asarray(self.label_shares @ numbers) if len(numbers) else np.full(self.table.n_items, np.nan)

    @cached_property
    def mean(self) -> FloatArray:
        """(n,) the adjudicated score, else the mean of people's scores; NaN without either."""
        scores = self.table.rated_scores
        n = self.table.ratings_per_item
        mean = np.where(n > 0, np.nansum(scores, axis=1) / np.maximum(n, 1), np.nan)
        return np.where(self.gold != MISSING, to_scores(self.gold, self.table.scores), mean)

    @cached_property
    def tiers(self) -> tuple[str, ...]:
        """(n,) tier of each item: by hand, else by the usual cuts against uniform chance; empty without one."""
        computed = self._computed_tiers()
        return tuple(self.by_hand.get(row, tier) for row, tier in enumerate(computed))

    def _computed_tiers(self) -> tuple[str, ...]:
        if not self.table.n_categories:
            return ("",) * self.table.n_items
        kappa = item_kappas(self.table, chance_agreement(self.table, "uniform"))
        known = np.isfinite(kappa)
        place = band_positions(np.where(known, kappa, 0.0), DEFAULT_CUTS)
        return tuple(TIERS[at] if there else "" for at, there in zip(place, known, strict=True))

    @cached_property
    def annotators(self) -> DawidSkene:
        """Dawid and Skene's model of the people, fitted once for all judges that are held to them."""
        return dawid_skene(self.table.subset_items(self.table.ratings_per_item > 0))

    @property
    def without_label(self) -> BoolArray:
        """(n,) items that people looked at and nobody could judge. A tie is a label: of the tied categories."""
        return np.asarray((self.declined > 0) & (self.table.ratings_per_item == 0) & (self.gold == MISSING))

    @property
    def with_label(self) -> BoolArray:
        """(n,) items that somebody rated or adjudicated."""
        return np.asarray((self.table.ratings_per_item > 0) | (self.gold != MISSING))

    @property
    def counted(self) -> bool:
        """Whether a label is a category that is counted (two categories, or no order), not a score that is averaged."""
        return not self.table.has_scores or (self.table.n_categories == 2 and not self.table.is_open)


@dataclass(frozen=True, eq=False)
class JudgeVerdicts:
    """What one judge said on one criterion.

    Attributes
    ----------
    asked
        (n,) whether it was asked.
    codes
        (n,) its verdict, -1 without one; both orders have to name the same response.
    score
        (n,) mean over the scale weighted by the model's probabilities; NaN where it tells none.
    confidence, confidence_from
        (n,) how sure it is, and how that is known; empty where it is not known.
    first, second
        (n,) its verdict with response 1 shown first, and second; -1 where missing or the order is unknown.
    repeated
        (n, r) verdicts of the independent calls; r is 1 where it was asked once.
    contradicts
        (n,) 1 where its explanation states another verdict than it gave, 0 where the same, NaN where none; or None.
    explained
        (n,) whether it gave an explanation with its verdict; or None where that is not known.
    """

    asked: BoolArray
    codes: IntArray
    score: FloatArray
    confidence: FloatArray
    confidence_from: str
    first: IntArray
    second: IntArray
    repeated: IntArray
    contradicts: FloatArray | None = None
    explained: BoolArray | None = None

    @property
    def unscored(self) -> BoolArray:
        """(n,) asked without a verdict."""
        return np.asarray(self.asked & (self.codes == MISSING))


@dataclass(frozen=True, eq=False)
class AlteredCodes:
    """What one judge said on one criterion of m items, as they are and altered in one way.

    Attributes
    ----------
    name
        Of the alteration.
    rows
        (m,) which items of the material.
    original, copy, repeated
        (m,) verdicts on the item, on the altered copy, and on the item asked again; -1 where there is none.
    wanted
        (m,) the verdict that the alteration is to bring about; None where it should change nothing.
    n_items
        Items that were drawn, also those in which there was nothing to alter.
    """

    name: str
    rows: IntArray
    original: IntArray
    copy: IntArray
    repeated: IntArray
    wanted: IntArray | None
    n_items: int

    def to_columns(self, scale: FloatArray, *, nominal: bool, paired: bool, design: SamplingDesign) -> AlteredReplies:
        """As the probe takes them; ``scale`` (q,) are the categories' numbers, ``design`` the material's."""
        original, copy, repeated = (to_scores(codes, scale) for codes in (self.original, self.copy, self.repeated))
        return AlteredReplies(
            name=self.name,
            original=original,
            copy=copy,
            repeated=repeated,
            wanted=None if self.wanted is None else to_scores(self.wanted, scale),
            left_out=self.n_items - len(self.rows),
            n_items=self.n_items,
            nominal=nominal,
            paired=paired,
            design=design.select(self.rows),
        )


def to_scores(codes: IntArray, scores: FloatArray) -> FloatArray:
    """The scores of codes, NaN where the code is -1."""
    if not len(scores):
        return np.full(codes.shape, np.nan)
    return np.where(codes == MISSING, np.nan, scores[codes])


def select_names(names: Sequence[str], mask: BoolArray) -> tuple[str, ...]:
    """The names where the mask is true."""
    return tuple(name for name, kept in zip(names, mask, strict=True) if kept)
