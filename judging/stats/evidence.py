"""What people and one judge said of the same items, as columns, and what each analysis takes from them.

Every column has one entry per item of the study, in one order. Frozen here, so that whatever is computed from it, in
the browser or by a command, is computed from the same.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from annotation.stats.bands import DEFAULT_CUTS, TIERS, band_positions
from annotation.stats.labels import Label
from annotation.stats.majority import majority
from annotation.stats.table import MISSING, BoolArray, FloatArray, IntArray, RatingTable
from annotation.stats.tiers import item_kappas
from judging.stats.audits.battery import PairColumns, ScoreColumns
from judging.stats.calibrate import Columns
from judging.stats.leaderboard import Comparisons

PREFERENCE = {"1": 1.0, "2": 0.0, "tie": 0.5}
"""Preference for response 1, by the value of a pair's criterion."""


@dataclass(frozen=True, eq=False)
class Material:
    """The n items.

    Attributes
    ----------
    names
        Of the items, unique.
    inclusion
        (n,) probability with which the item came into the study.
    clusters
        (n,) what is independent of each other: profile, else question or dialogue.
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
    """

    names: tuple[str, ...]
    inclusion: FloatArray
    clusters: tuple[str, ...]
    length: FloatArray
    assistants: tuple[str, ...]
    opponents: tuple[str, ...]
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fingerprints: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Number of items."""
        return len(self.names)

    def subset(self, mask: BoolArray) -> "Material":
        """The items where the mask (n,) is true."""
        return Material(
            names=chosen(self.names, mask),
            inclusion=self.inclusion[mask],
            clusters=chosen(self.clusters, mask),
            length=self.length[mask],
            assistants=chosen(self.assistants, mask),
            opponents=chosen(self.opponents, mask),
            groups={name: chosen(column, mask) for name, column in self.groups.items()},
            fingerprints=chosen(self.fingerprints, mask) if self.fingerprints else (),
        )

    @cached_property
    def weights(self) -> FloatArray | None:
        """One over the inclusion probability; None where all are equal, so that weights change nothing."""
        equal = not self.n or np.ptp(self.inclusion) == 0
        return None if equal else np.asarray(1 / self.inclusion, dtype=float)

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
    """

    table: RatingTable
    gold: IntArray
    declined: IntArray
    by_hand: Mapping[int, str] = field(default_factory=dict)

    @cached_property
    def tied(self) -> BoolArray:
        """(n,) rated items on which people are divided equally and nobody adjudicated."""
        return np.asarray(majority(self.table).tied & (self.gold == MISSING))

    @cached_property
    def consensus(self) -> IntArray:
        """(n,) the adjudicated category, else the majority; -1 without either."""
        return np.where(self.gold != MISSING, self.gold, majority(self.table).codes)

    @cached_property
    def mean(self) -> FloatArray:
        """(n,) the adjudicated score, else the mean of people's scores; NaN without either."""
        scores = self.table.rated_scores
        n = self.table.ratings_per_item
        mean = np.where(n > 0, np.nansum(scores, axis=1) / np.maximum(n, 1), np.nan)
        return np.where(self.gold != MISSING, scored(self.gold, self.table.scores), mean)

    @cached_property
    def tiers(self) -> tuple[str, ...]:
        """(n,) tier of each item: by hand, else by the usual cuts against uniform chance; empty without one."""
        computed = self._computed_tiers()
        return tuple(self.by_hand.get(row, tier) for row, tier in enumerate(computed))

    def _computed_tiers(self) -> tuple[str, ...]:
        if not self.table.n_categories:
            return ("",) * self.table.n_items
        kappa = item_kappas(self.table, 1 / self.table.n_categories)
        known = np.isfinite(kappa)
        place = band_positions(np.where(known, kappa, 0.0), DEFAULT_CUTS)
        return tuple(TIERS[at] if there else "" for at, there in zip(place, known, strict=True))

    @property
    def without_label(self) -> BoolArray:
        """(n,) items that people looked at without a label coming of it: tied, or nobody could judge."""
        looked_at = (self.table.ratings_per_item > 0) | (self.declined > 0)
        return np.asarray(looked_at & (self.consensus == MISSING) & (np.isnan(self.mean) | self.counted))

    @property
    def counted(self) -> bool:
        """Whether a label is a category that is counted (two categories, or no order), not a score that is averaged."""
        return self.table.level == "nominal" or self.table.n_categories == 2

    def drawn(self, priority: FloatArray) -> IntArray:
        """(n,) one person's category: of those who rated the item the one with the highest ``priority`` (n, r)."""
        known = self.table.codes != MISSING
        if not self.table.codes.shape[1]:
            return np.full(self.table.n_items, MISSING)
        chosen = np.where(known, priority, -1.0).argmax(axis=1)
        return np.where(known.any(axis=1), self.table.codes[np.arange(len(chosen)), chosen], MISSING)


@dataclass(frozen=True, eq=False)
class Said:
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
        (n,) 1 where its explanation names another score than its verdict, 0 where the same, NaN where none; or None.
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

    @property
    def unscored(self) -> BoolArray:
        """(n,) asked without a verdict."""
        return np.asarray(self.asked & (self.codes == MISSING))


@dataclass(frozen=True, eq=False)
class Evidence:
    """People and a judge on one criterion of a study.

    Attributes
    ----------
    previous
        (n,) verdicts of an earlier version of the judge on the same items, or None.
    """

    material: Material
    people: People
    said: Said
    previous: IntArray | None = None

    @property
    def table(self) -> RatingTable:
        """People's ratings."""
        return self.people.table

    @cached_property
    def usable(self) -> BoolArray:
        """(n,) items that count: the judge was asked, and people either gave a label or were not asked."""
        return self.said.asked & ~self.people.without_label

    @property
    def labelled(self) -> BoolArray:
        """(n,) items with a label of people."""
        return np.asarray(self.people.consensus != MISSING) if self.people.counted else ~np.isnan(self.people.mean)

    @property
    def is_preference(self) -> bool:
        """Whether the criterion asks which of two responses is better."""
        return {"1", "2"} <= {str(c) for c in self.table.categories} <= set(PREFERENCE) and any(self.material.opponents)

    def columns(self, kept: BoolArray | None = None) -> Columns:
        """What `judging.stats.calibrate.calibrate` takes: labels of people (counted, or mean scores) and verdicts."""
        mask = self.usable if kept is None else self.usable & kept
        table, m = self.table, self.material
        if self.people.counted:
            scale: tuple[Label, ...] = table.categories
            human = [None if code == MISSING else scale[code] for code in self.people.consensus[mask]]
        else:
            scale = tuple(table.scores.tolist())
            human = [None if np.isnan(score) else score for score in self.people.mean[mask].tolist()]
        judge = [None if code == MISSING else scale[code] for code in self.said.codes[mask]]
        return Columns(
            human=tuple(human),
            judge=tuple(judge),
            categories=scale,
            level=table.level,
            confidence=self.said.confidence[mask] if self.said.confidence_from else None,
            weights=None if m.weights is None else m.weights[mask],
            clusters=None if m.dependent is None else chosen(m.clusters, mask),
        )

    def scores(self) -> tuple[FloatArray, FloatArray]:
        """(n,) people's label and the judge's own score as numbers, for recalibration; the verdict without a score."""
        human = scored(self.people.consensus, self.numbers) if self.people.counted else self.people.mean
        verdict = scored(self.said.codes, self.numbers)
        own = np.where(np.isnan(self.said.score), verdict, self.said.score)
        return np.where(self.usable, human, np.nan), np.where(self.usable, own, np.nan)

    @property
    def numbers(self) -> FloatArray:
        """(q,) the scale as numbers; 0 and 1 for two categories without numbers."""
        table = self.table
        return np.arange(2.0) if table.n_categories == 2 and table.level == "nominal" else table.scores

    def comparisons(self) -> Comparisons | None:
        """Pairs of two named assistants, as the leaderboard takes them; None where none is known."""
        first, second = np.array(self.material.assistants, object), np.array(self.material.opponents, object)
        kept = self.usable & (first != "") & (second != "") & (first != second)
        if not self.is_preference or not kept.any():
            return None
        prefers = self.preferences
        return Comparisons.of(
            list(first[kept]),
            list(second[kept]),
            scored(self.people.consensus, prefers)[kept],
            scored(self.said.codes, prefers)[kept],
            clusters=None if self.material.dependent is None else chosen(self.material.clusters, kept),
        )

    @property
    def preferences(self) -> FloatArray:
        """(q,) preference for response 1 that each category states."""
        return np.array([PREFERENCE[str(category)] for category in self.table.categories])

    def pair_columns(self, person: IntArray, other: IntArray, own: FloatArray | None) -> PairColumns:
        """What `audit_pairs` takes; ``person`` and ``other`` are two people's categories per item."""
        prefers, said = self.preferences, self.said
        known = (said.first != MISSING) | (said.second != MISSING)
        one_order = np.where(said.first != MISSING, 1.0, 0.0)
        return PairColumns(
            person=scored(person, prefers),
            judge_ab=scored(np.where(known, said.first, said.codes), prefers),
            judge_ba=scored(said.second, prefers),
            length=None if np.isnan(self.material.length).all() else self.material.length,
            own=own,
            clusters=self.material.dependent,
            shown_first=np.where(known, one_order, np.nan),
            **self._agreeing(person, other),  # type: ignore[arg-type]
        )

    def score_columns(
        self, person: IntArray, others: Sequence[tuple[FloatArray, FloatArray]], own: FloatArray | None
    ) -> ScoreColumns:
        """What `audit_scores` takes; ``others`` are scores of (person, judge) on other criteria, for the halo."""
        scale, said = self.numbers, self.said
        mine = (scored(person, scale), scored(said.codes, scale))
        return ScoreColumns(
            person=np.column_stack([mine[0], *(one for one, _ in others)]),
            judge=np.column_stack([mine[1], *(one for _, one in others)]),
            repeated=scored(said.repeated, scale) if said.repeated.shape[1] > 1 else None,
            previous=None if self.previous is None else scored(self.previous, scale),
            length=None if np.isnan(self.material.length).all() else self.material.length,
            own=None if own is None else (own > 0).astype(float),
            groups=self.material.groups,
            clusters=self.material.dependent,
            contradicts=said.contradicts,
        )

    def _agreeing(self, person: IntArray, other: IntArray) -> dict[str, object]:
        """Columns for scales without an order: whether the judge, and another person, say what the person says.

        Tiers are no groups here: people agree on easy items because that is what makes them easy.
        """
        said = self.said
        return {
            "judge_agrees": same(said.codes, person),
            "other_agrees": same(other, person),
            "repeated": codes_or_nan(said.repeated) if said.repeated.shape[1] > 1 else None,
            "previous_agrees": None if self.previous is None else same(self.previous, person),
            "groups": {name: column for name, column in self.material.groups.items() if name != "tier"},
        }

    def nominal_columns(self, person: IntArray, other: IntArray) -> PairColumns:
        """What `audit_nominal` takes: no preference, only whether verdicts are the same."""
        nothing = np.full(self.material.n, np.nan)
        return PairColumns(
            person=nothing,
            judge_ab=nothing,
            judge_ba=nothing,
            clusters=self.material.dependent,
            **self._agreeing(person, other),  # type: ignore[arg-type]
        )


def scored(codes: IntArray, scores: FloatArray) -> FloatArray:
    """The scores of codes, NaN where the code is -1."""
    if not len(scores):
        return np.full(codes.shape, np.nan)
    return np.where(codes == MISSING, np.nan, scores[codes])


def codes_or_nan(codes: IntArray) -> FloatArray:
    """Codes as numbers, NaN where missing."""
    return np.where(codes == MISSING, np.nan, codes.astype(float))


def same(a: IntArray, b: IntArray) -> FloatArray:
    """(n,) 1 where both say the same, 0 where not, NaN where either is missing."""
    return np.where((a == MISSING) | (b == MISSING), np.nan, (a == b).astype(float))


def chosen(names: Sequence[str], mask: BoolArray) -> tuple[str, ...]:
    """The names where the mask is true."""
    return tuple(name for name, kept in zip(names, mask, strict=True) if kept)


def family(model: str) -> str:
    """What a model is a kind of: ``meta-llama/Llama-3-8B`` and ``llama-7b`` are both ``llama``; empty if unknown."""
    found = re.match(r"[a-z]+", model.rsplit("/", 1)[-1].lower())
    return found.group() if found else ""


def own_kind(model: str, material: Material) -> FloatArray | None:
    """(n,) 1 where the item (or response 1) is of the judge's family, -1 where response 2 is, else 0.

    None where no assistant's name is known or none is of its family: there is nothing to prefer.
    """
    mine = family(model)
    if not mine:
        return None
    first = np.array([family(name) == mine for name in material.assistants], dtype=float)
    second = np.array([family(name) == mine for name in material.opponents], dtype=float)
    side = first - second
    return side if side.any() else None
