"""People's submitted labels of a study, as one rating table per criterion.

Items are named by their position in the study and raters by their username, both unique there. Where a criterion is
asked of turns, the rows are turns ("17.3" is the third turn of item 17), and those of one dialogue are resampled
together, since what they share makes their ratings alike. Only submitted
assignments count: what an annotator has saved but not handed in is not yet their answer. What somebody said whom a
researcher has excluded is left out as long as that lasts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from django.db.models import Exists, OuterRef, QuerySet

from annotation.stats.dependence import INDEPENDENT, Design
from annotation.stats.table import MISSING, IntArray, Level, RatingTable
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Criterion, Item, Study
from annotation.studies.queries import columns, items
from annotation.studies.queries.dependence import Dependence, read_dependence
from annotation.studies.queries.items import list_texts
from annotation.studies.queries.scales import Scale, has_open_scale, load_scales, to_label
from annotation.studies.queries.units import build_names, number_units, to_position, to_turn, unit
from core.accounts.models.users import User


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
    declined
        (n,) how many answers on each row of the table were "cannot judge".
    design
        What the table's clusters, strata and weights are called.
    """

    criterion: Criterion
    table: RatingTable
    unscored: dict[str, int]
    declined: IntArray
    design: Design = INDEPENDENT

    def add_dependence(self, found: Dependence) -> PeoplesRatings:
        """The same with the clusters, strata and weights of the study. Turns of one dialogue stay together, and
        responses of one item."""
        table = found.apply(self.table, self.positions)
        return replace(self, table=table, design=found.design_of(self.criterion.unit))

    @property
    def positions(self) -> tuple[int, ...]:
        """The items' positions in the study, in the order of the table; of turns, each turn's item."""
        return tuple(to_position(name) for name in self.table.items)


@dataclass(frozen=True)
class Label:
    """One answer as it is compared (`annotation.studies.queries.scales`); empty where the annotator could not judge.

    `turn` is 0 where it is on the whole item.
    """

    position: int
    turn: int
    username: str
    value: str


def load_study(
    study: Study, *, guideline_version: int | None = None, dependence: Dependence | None = None
) -> tuple[PeoplesRatings, ...]:
    """The ratings of each criterion, in the order of the criteria; those given under one version only.

    They carry the clusters, strata and weights of the study, or those that are given. Four queries or five, one of
    which reads the labels, as columns of numbers.
    """
    found = dependence or read_dependence(study)
    return tuple(
        one.add_dependence(found) for one in load_criteria(study, list(study.criteria.all()), guideline_version)
    )


def load_criterion(criterion: Criterion, *, positions: Sequence[int] | None = None) -> PeoplesRatings:
    """The ratings of one criterion, on all items; or those at some positions, which say nothing of all the others."""
    if positions is not None:
        return load_criteria(criterion.study, [criterion], positions=positions)[0]
    return load_criteria(criterion.study, [criterion])[0].add_dependence(read_dependence(criterion.study))


def load_criteria(
    study: Study,
    criteria: Sequence[Criterion],
    guideline_version: int | None = None,
    positions: Sequence[int] | None = None,
) -> tuple[PeoplesRatings, ...]:
    """The ratings of some criteria alone, without clusters, strata and weights. Two queries, or three."""
    counting = _counting(study, criteria, guideline_version)
    if positions is not None:
        counting = counting.filter(assignment__item__in=items.ids(study.pk, positions))
    place, *rest, annotators, codes = columns.read(
        counting,
        "assignment__item__position",
        "turn",
        "criterion_id",
        "assignment__annotator_id",
        columns.code([one for one in criteria if not has_open_scale(one)]),
    )
    turns, asked = rest
    people = dict(User.objects.filter(pk__in=np.unique(annotators).tolist()).values_list("pk", "username"))
    found = []
    scales = load_scales(criteria)
    for criterion in criteria:
        mine = np.flatnonzero(asked == criterion.pk)
        if (
            has_open_scale(criterion) or (codes[mine] == columns.ELSEWHERE).any()
        ):  # spelled otherwise than on the scale: looked at one by one
            labels = list(_labels(criterion, guideline_version, positions))
            found.append(build_ratings(criterion, labels, scales[criterion.pk]))
        else:
            found.append(
                _of_columns(criterion, number_units(place[mine], turns[mine]), annotators[mine], codes[mine], people)
            )
    return tuple(found)


def _of_columns(
    criterion: Criterion, units: IntArray, annotators: IntArray, codes: IntArray, people: Mapping[int, str]
) -> PeoplesRatings:
    """From one entry per label. Annotators are in the order in which the items, read in theirs, name them."""
    if not units.size:
        return PeoplesRatings(
            criterion, _table(criterion, [], tuple(criterion.values)), {}, np.zeros(0, dtype=np.int64)
        )
    ranked = {pk: rank for rank, pk in enumerate(sorted(people, key=people.__getitem__))}
    known, who = np.unique(annotators, return_inverse=True)
    ranks = np.array([ranked[pk] for pk in known.tolist()])
    order = np.lexsort((ranks[who], units))
    _, first = np.unique(who[order], return_index=True)
    raters = np.argsort(first)
    column = np.argsort(raters)[who]
    rows, row = np.unique(units, return_inverse=True)
    matrix = np.full((rows.size, known.size), MISSING, dtype=np.int64)
    matrix[row, column] = codes
    names = tuple(build_names(rows))
    usernames = tuple(people[pk] for pk in known[raters].tolist())
    declined = codes == columns.UNSCORED
    unscored = np.bincount(column[declined], minlength=known.size).tolist()
    table = RatingTable(
        matrix,
        tuple(criterion.values),
        cast(Level, criterion.level),  # the database allows nothing else
        names,
        usernames,
        clusters=_clusters(criterion, names),
    )
    by_name = {name: n for name, n in zip(usernames, unscored, strict=True) if n}
    return PeoplesRatings(criterion, table, by_name, np.bincount(row[declined], minlength=rows.size))


def _counting(study: Study, criteria: Sequence[Criterion], guideline_version: int | None) -> QuerySet[Annotation]:
    found = Annotation.objects.only_counting().filter(assignment__study=study, criterion__in=criteria)
    return found if guideline_version is None else found.filter(guideline_version=guideline_version)


def _labels(
    criterion: Criterion, guideline_version: int | None = None, positions: Sequence[int] | None = None
) -> Iterator[Label]:
    """By item and annotator."""
    counting = _counting(criterion.study, [criterion], guideline_version)
    if positions is not None:
        counting = counting.filter(assignment__item__in=items.ids(criterion.study_id, positions))
    fields = ("assignment__item__position", "turn", "assignment__annotator__username", "value", "content")
    rows = counting.order_by(*fields[:3]).values_list(*fields)
    for position, turn, username, value, content in rows.iterator(chunk_size=5000):
        yield Label(position, turn, username, to_label(criterion, value, content))


def build_ratings(criterion: Criterion, labels: Sequence[Label], scale: Scale) -> PeoplesRatings:
    """The ratings of a criterion from its labels, which are in the order of items and annotators."""
    unscored = Counter(label.username for label in labels if not label.value)
    by_row = Counter(unit(one.position, one.turn) for one in labels if not one.value)
    table = _table(criterion, labels, scale)
    if criterion.type == Criterion.Type.SPANS:
        table = replace(table, texts=load_lengths(criterion, table.items))
    declined = np.array([by_row[name] for name in table.items], dtype=np.int64)
    return PeoplesRatings(criterion, table, dict(unscored), declined)


def _clusters(criterion: Criterion, names: Iterable[str]) -> tuple[str, ...] | None:
    """What rows of one item share, where it is asked of turns or responses."""
    if criterion.unit == Criterion.Unit.ITEM:
        return None
    return tuple(str(to_position(name)) for name in names)


def _table(criterion: Criterion, labels: Sequence[Label], scale: Scale) -> RatingTable:
    level, is_open = cast(Level, criterion.level), has_open_scale(criterion)  # the database allows nothing else
    if not labels:
        nobody = np.empty((0, 0), dtype=np.int64)
        return RatingTable(nobody, scale, level, (), (), is_open=is_open)
    names = [unit(label.position, label.turn) for label in labels]
    return RatingTable.from_long(
        names,
        [label.username for label in labels],
        [label.value for label in labels],
        categories=scale,
        level=level,
        clusters=_clusters(criterion, dict.fromkeys(names)),
        is_open=is_open,
    )


ROLES = {"user_turns": "user", "assistant_turns": "assistant"}


def load_lengths(criterion: Criterion, names: Sequence[str]) -> tuple[Mapping[str, int], ...]:
    """Of each row of a table, told by its name, the characters of each part. One query for two thousand items."""
    positions = sorted({to_position(name) for name in names})
    there = Item.objects.filter(pk__in=items.ids(criterion.study_id, positions)).select_related("dialogue", "pair")
    lengths = {
        item.position: {part: len(text) for part, text in select_texts(criterion, item).items()} for item in there
    }
    return tuple(_of_unit(criterion, lengths[to_position(name)], to_turn(name)) for name in names)


def _of_unit(criterion: Criterion, lengths: Mapping[str, int], turn: int) -> Mapping[str, int]:
    """Of a turn or response its own text alone."""
    if not turn:
        return lengths
    part = f"{criterion.part_noun}-{turn}"
    return {part: lengths[part]}


def select_texts(criterion: Criterion, item: Item) -> dict[str, str]:
    """The texts of the item in which spans may lie: its turns, or those of one side, or its responses."""
    texts = list_texts(item)
    if item.dialogue is None:
        return {name: text for name, text in texts.items() if name.startswith("response-")}
    role = ROLES.get(criterion.limits.get("where", ""))
    turns = enumerate(item.dialogue.turns, start=1)
    wanted = {f"turn-{number}" for number, turn in turns if role in (None, turn["role"])}
    return {name: text for name, text in texts.items() if name in wanted}


@dataclass(frozen=True)
class Annotator:
    """How pages show an annotator; results know them by username."""

    name: str
    is_simulated: bool


def load_annotators(study: Study) -> dict[str, Annotator]:
    """By username, those who hold or have submitted assignments of the study. One query."""
    slots = Assignment.objects.filter(study=study, annotator=OuterRef("pk"))  # of one, who may hold a million
    held = User.objects.filter(Exists(slots)).order_by("username")
    return {user.username: Annotator(str(user), user.is_simulated) for user in held}
