"""What people and one judge said of the same items, as columns, and what each analysis takes from them.

Every column has one entry per item of the study, in one order. Frozen here, so that whatever is computed from it, in
the browser or by a command, is computed from the same.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from annotation.stats.labels import Label
from annotation.stats.table import MISSING, BoolArray, FloatArray, IntArray, RatingTable
from judging.stats.audits.altered import AlteredReplies
from judging.stats.audits.columns import PairColumns, ScoreColumns, codes_or_nan
from judging.stats.calibrate import Columns
from judging.stats.label_shares import compute_agreement
from judging.stats.leaderboard import Comparisons
from judging.stats.observed import AlteredCodes, ItemColumns, JudgeVerdicts, People, select_names, to_scores

PREFERENCE = {"1": 1.0, "2": 0.0, "tie": 0.5}
"""Preference for response 1, by the value of a pair's criterion."""


@dataclass(frozen=True, eq=False)
class AssessmentData:
    """People and a judge on one criterion of a study.

    Attributes
    ----------
    previous
        (n,) verdicts of an earlier version of the judge on the same items, or None.
    copies
        What it said of altered copies of some items.
    """

    material: ItemColumns
    people: People
    said: JudgeVerdicts
    previous: IntArray | None = None
    copies: tuple[AlteredCodes, ...] = ()

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
        """(n,) items with a label of people; where they are tied, the label is divided."""
        return self.people.with_label

    @property
    def agreement(self) -> FloatArray:
        """(n,) 1 where the verdict is people's label, 0 where not, a share where they are tied; NaN without either."""
        return compute_agreement(self.people.label_shares, self.said.codes)

    @property
    def is_preference(self) -> bool:
        """Whether the criterion asks which of two responses is better."""
        return self.is_choice and any(self.material.opponents)

    @property
    def is_scored(self) -> bool:
        """Whether verdicts and labels are numbers on one scale: neither a preference nor categories without order."""
        return not self.is_preference and self.table.is_ordered

    @property
    def is_choice(self) -> bool:
        """Whether the categories name one of two responses, or a tie."""
        return self.table.has_scale and {"1", "2"} <= {str(c) for c in self.table.categories} <= set(PREFERENCE)

    def n_clusters(self, items: BoolArray) -> int:
        """Independent units (profiles, questions) among the items (n,)."""
        return len(set(select_names(self.material.clusters, items)))

    def outside_commonest(self, items: BoolArray) -> float:
        """How many of the items (n,) people put outside their commonest category: items times the share of ratings."""
        counts = self.table.counts[items].sum(axis=0)
        return float(items.sum() * (1 - counts.max() / counts.sum())) if counts.sum() else 0.0

    def columns(self, kept: BoolArray | None = None) -> Columns:
        """What `judging.stats.calibrate.calibrate` takes: labels of people (counted, or mean scores) and verdicts."""
        mask = self.usable if kept is None else self.usable & kept
        table, m = self.table, self.material
        human: list[Label | tuple[Label, ...] | None]
        if self.people.counted:
            scale: tuple[Label, ...] = table.categories
            human = [_label(share, scale) for share in self.people.label_shares[mask]]
        else:
            scale = tuple(table.scores.tolist())
            human = [None if np.isnan(score) else score for score in self.people.mean[mask].tolist()]
        judge = [None if code == MISSING else scale[code] for code in self.said.codes[mask]]
        return Columns(
            human=tuple(human),
            judge=tuple(judge),
            categories=scale,
            level=table.level if table.has_scores else "nominal",
            confidence=self.said.confidence[mask] if self.said.confidence_from else None,
            weights=None if m.weights is None else m.weights[mask],
            clusters=None if m.dependent is None else select_names(m.clusters, mask),
            votes=self.people.votes[mask],
        )

    def scores(self) -> tuple[FloatArray, FloatArray]:
        """(n,) people's label and the judge's own score as numbers, for recalibration; the verdict without a score."""
        human = self.people.compute_expected(self.numbers)
        verdict = to_scores(self.said.codes, self.numbers)
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
        return Comparisons.from_names(
            list(first[kept]),
            list(second[kept]),
            self.people.compute_expected(prefers)[kept],
            to_scores(self.said.codes, prefers)[kept],
            clusters=None if self.material.dependent is None else select_names(self.material.clusters, kept),
            weights=None if self.material.weights is None else self.material.weights[kept],
        )

    @property
    def preferences(self) -> FloatArray:
        """(q,) preference for response 1 that each category states."""
        return np.array([PREFERENCE[str(category)] for category in self.table.categories])

    @property
    def asked_codes(self) -> IntArray:
        """(n, r) people's categories on the items that the judge was asked about; -1 elsewhere."""
        return np.where(self.said.asked[:, None], self.table.codes, MISSING)

    def pair_columns(self, own: FloatArray | None) -> PairColumns:
        """What `probe_pairs` takes."""
        prefers, said = self.preferences, self.said
        known = (said.first != MISSING) | (said.second != MISSING)
        one_order = np.where(said.first != MISSING, 1.0, 0.0)
        return replace(
            self.nominal_columns(),
            people=to_scores(self.asked_codes, prefers),
            judge_ab=to_scores(np.where(known, said.first, said.codes), prefers),
            judge_ba=to_scores(said.second, prefers),
            length=None if np.isnan(self.material.length).all() else self.material.length,
            own=own,
            shown_first=np.where(known, one_order, np.nan),
            altered=self._altered(prefers, paired=True),
        )

    def score_columns(self, others: Sequence[tuple[FloatArray, FloatArray]], own: FloatArray | None) -> ScoreColumns:
        """What `probe_scores` takes; ``others`` are scores of (people, judge) on other criteria, for the halo."""
        scale, said = self.numbers, self.said
        mine = (to_scores(self.asked_codes, scale), to_scores(said.codes, scale))
        return ScoreColumns(
            people=np.stack([mine[0], *(people for people, _ in others)], axis=2),
            judge=np.column_stack([mine[1], *(judge for _, judge in others)]),
            repeated=to_scores(said.repeated, scale) if said.repeated.shape[1] > 1 else None,
            previous=None if self.previous is None else to_scores(self.previous, scale),
            length=None if np.isnan(self.material.length).all() else self.material.length,
            own=None if own is None else (own > 0).astype(float),
            groups=self.material.groups,
            design=self.material.sampling,
            contradicts=said.contradicts,
            explained=said.explained,
            altered=self._altered(scale),
        )

    def _altered(self, scale: FloatArray, *, nominal: bool = False, paired: bool = False) -> tuple[AlteredReplies, ...]:
        design = self.material.sampling
        return tuple(one.to_columns(scale, nominal=nominal, paired=paired, design=design) for one in self.copies)

    def nominal_columns(self) -> PairColumns:
        """What `probe_nominal` takes: no preference, only categories.

        Tiers are no groups here: people agree on easy items because that is what makes them easy.
        """
        said, nothing = self.said, np.full(self.material.n, np.nan)
        return PairColumns(
            people=np.full(self.table.codes.shape, np.nan),
            judge_ab=nothing,
            judge_ba=nothing,
            design=self.material.sampling,
            judge_codes=said.codes,
            people_codes=self.asked_codes,
            previous_codes=self.previous,
            repeated=codes_or_nan(said.repeated) if said.repeated.shape[1] > 1 else None,
            groups={name: column for name, column in self.material.groups.items() if name != "tier"},
            altered=self._altered(np.arange(float(self.table.n_categories)), nominal=True),
            contradicts=said.contradicts,
            explained=said.explained,
        )


def _label(shares: FloatArray, scale: Sequence[Label]) -> Label | tuple[Label, ...] | None:
    """People's label of one item, from the shares (q,) of the categories: several where they are tied."""
    said = tuple(scale[code] for code in np.flatnonzero(shares > 0).tolist())
    return None if not said else said[0] if len(said) == 1 else said


def family(model: str) -> str:
    """What a model is a kind of: ``meta-llama/Llama-3-8B`` and ``llama-7b`` are both ``llama``; empty if unknown."""
    found = re.match(r"[a-z]+", model.rsplit("/", 1)[-1].lower())
    return found.group() if found else ""


def mark_own_family(model: str, material: ItemColumns) -> FloatArray | None:
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
