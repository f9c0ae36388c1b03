"""People's submitted labels of a study, as one rating table per criterion.

Items are named by their position in the study and raters by their username, both unique there. Where a criterion is
asked of turns, the rows are turns ("17.3" is the third turn of item 17), and those of one dialogue are resampled
together, since what they share makes their ratings alike. Only submitted
assignments count: what an annotator has saved but not handed in is not yet their answer. What somebody said whom a
researcher has excluded is left out as long as that lasts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from annotation.models import Annotation, Criterion, Study
from annotation.queries.units import position_of, unit
from annotation.stats.table import Level, RatingTable


@dataclass(frozen=True)
class PeoplesRatings:
    """What people said on one criterion.

    Attributes
    ----------
    criterion
        The question and its scale.
    table
        One row per item, or turn of one, that somebody answered, also where all answers were "cannot judge".
    unscored
        By username, how often the answer was "cannot judge".
    """

    criterion: Criterion
    table: RatingTable
    unscored: dict[str, int]

    def resampled(self, *, clusters: Mapping[int, str] | None, strata: Mapping[int, str] | None) -> PeoplesRatings:
        """The same with the cluster and the stratum of each item, by position. None for what plays no part.

        Turns of one dialogue stay together in any case.
        """
        if not self.table.n_items:
            return self
        together = self.table.clusters if clusters is None else tuple(clusters[p] for p in self.positions)
        within = None if strata is None else tuple(strata[p] for p in self.positions)
        return replace(self, table=replace(self.table, clusters=together, strata=within))

    @property
    def positions(self) -> tuple[int, ...]:
        """The items' positions in the study, in the order of the table; of turns, each turn's item."""
        return tuple(position_of(name) for name in self.table.items)


@dataclass(frozen=True)
class Label:
    """One answer; `value` is empty where the annotator could not judge, `turn` 0 where it is on the whole item."""

    position: int
    turn: int
    username: str
    value: str


def of_study(study: Study, *, guideline_version: int | None = None) -> tuple[PeoplesRatings, ...]:
    """The ratings of each criterion, in the order of the criteria; those given under one version only. Two queries."""
    criteria = list(study.criteria.all())
    labels: dict[int, list[Label]] = defaultdict(list)
    for criterion_id, label in _labels(study, criteria, guideline_version):
        labels[criterion_id].append(label)
    return tuple(ratings_of(criterion, labels[criterion.pk]) for criterion in criteria)


def of_criterion(criterion: Criterion) -> PeoplesRatings:
    """The ratings of one criterion. One query."""
    return ratings_of(criterion, [label for _, label in _labels(criterion.study, [criterion])])


def _labels(
    study: Study, criteria: Sequence[Criterion], guideline_version: int | None = None
) -> Iterator[tuple[int, Label]]:
    """With the criterion's id, by item and annotator."""
    submitted = (
        Annotation.objects.counting()
        .filter(assignment__study=study, criterion__in=criteria)
        .order_by("assignment__item__position", "turn", "assignment__annotator__username")
    )
    if guideline_version is not None:
        submitted = submitted.filter(guideline_version=guideline_version)
    fields = submitted.values_list(
        "criterion_id", "assignment__item__position", "turn", "assignment__annotator__username", "value"
    )
    for criterion_id, position, turn, username, value in fields.iterator(chunk_size=5000):
        yield criterion_id, Label(position, turn, username, value)


def ratings_of(criterion: Criterion, labels: Sequence[Label]) -> PeoplesRatings:
    """The ratings of a criterion from its labels, which are in the order of items and annotators."""
    unscored = Counter(label.username for label in labels if not label.value)
    return PeoplesRatings(criterion, _table(criterion, labels), dict(unscored))


def _table(criterion: Criterion, labels: Sequence[Label]) -> RatingTable:
    level = cast(Level, criterion.level)  # the database allows nothing else
    if not labels:
        nobody = np.empty((0, 0), dtype=np.int64)
        return RatingTable(nobody, tuple(criterion.values), level, (), ())
    names = [unit(label.position, label.turn) for label in labels]
    together = tuple(str(position_of(name)) for name in dict.fromkeys(names)) if criterion.of_turns else None
    return RatingTable.from_long(
        names,
        [label.username for label in labels],
        [label.value for label in labels],
        categories=criterion.values,
        level=level,
        clusters=together,
    )
