"""Preferences of people with what the rating table does not hold: who saw what first, by how much, of whom."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from django.db.models import Case, Expression, IntegerField, Value, When
from django.db.models.functions import Length, StrIndex

from annotation.stats.difficulty.preferences import Shown, preference_order, split_by_strength
from annotation.stats.orders import LETTERS
from annotation.stats.sides import SideBias, side_bias
from annotation.stats.table import MISSING, IntArray, RatingTable
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries import columns
from annotation.studies.queries.ratings import PeoplesRatings, load_study
from annotation.studies.queries.units import number_units, parse_names, to_position
from core.accounts.models.users import User


def preferences(ratings: PeoplesRatings) -> tuple[RatingTable, Shown | None]:
    """The table of a criterion; of a preference by how much it is one, where all say it, and how pairs were shown.

    No query where it is no preference, else three.
    """
    table = ratings.table
    is_preference = asks_for_side(ratings) and (preference_order(table) is not None or table.n_categories == 2)
    if not is_preference or not table.n_ratings:
        return table, None
    order, strength = _how(ratings)
    return split_by_strength(table, strength), Shown(order, _systems(ratings))


def asks_for_side(ratings: PeoplesRatings) -> bool:
    """Whether the criterion asks which response is better."""
    criterion = ratings.criterion
    return criterion.study.kind == Study.Kind.PAIR and criterion.is_preference


def load_side_bias(ratings: PeoplesRatings, *, bootstrap: int = 2000) -> SideBias | None:
    """Which place people chose on a criterion; None where it asks for none. Two queries."""
    table = ratings.table
    if not asks_for_side(ratings) or not table.n_ratings:
        return None
    chosen, n_places = read_by_order(ratings.criterion, table, PLACE, Length("assignment__order"))
    n_places = np.where(table.codes == MISSING, 0, n_places)
    clusters = table.clusters or table.items
    return side_bias(chosen, n_places, table.raters, clusters, bootstrap=bootstrap)


def load_side_biases(study: Study) -> dict[str, SideBias]:
    """By key of each preference that has been rated, which side people chose. No query where items have no sides."""
    if study.kind != Study.Kind.PAIR:
        return {}
    read = ((one.criterion.key, load_side_bias(one)) for one in load_study(study))
    return {key: bias for key, bias in read if bias}


def _how(ratings: PeoplesRatings) -> tuple[IntArray, IntArray]:
    """(n, r) which response was shown first, and by how much one is better: 2 much, 1 slightly, 0 not asked."""
    order, strength = read_by_order(
        ratings.criterion, ratings.table, ORDER, _numbered("strength", {"much": 2, "slightly": 1})
    )
    return order, strength


def _numbered(name: str, numbers: Mapping[str, int]) -> Case:
    """A text as the number that it stands for, 0 for any other."""
    cases = [When(**{name: text}, then=Value(number)) for text, number in numbers.items()]
    return Case(*cases, default=Value(0), output_field=IntegerField())


ORDER = _numbered("assignment__order", {"AB": 1, "BA": -1})
"""1 where response 1 was shown as A, -1 where response 2 was."""

PLACE = Case(
    *(
        When(value=str(number), then=StrIndex("assignment__order", Value(letter)))
        for number, letter in enumerate(LETTERS, start=1)
    ),
    default=Value(0),
    output_field=IntegerField(),
)
"""At which place, from 1, the response stood that was chosen; 0 for a tie."""


def _systems(ratings: PeoplesRatings) -> list[tuple[str, str]]:
    """Who made the two responses of each item."""
    items = ratings.criterion.study.items.values_list("position", "pair__model_1", "pair__model_2")
    named = {position: (first, second) for position, first, second in items}
    return [named[to_position(name)] for name in ratings.table.items]


def read_by_order(criterion: Criterion, table: RatingTable, *wanted: str | Expression) -> IntArray:
    """(columns, n, r) of people's ratings of a criterion, 0 where the table has none. Two queries."""
    rows = Annotation.objects.only_counting().filter(assignment__study=criterion.study_id, criterion=criterion)
    fixed = ("assignment__item__position", "turn", "assignment__annotator_id")
    place, turns, who, *values = columns.read(rows, *fixed, *wanted)
    names = dict(User.objects.filter(pk__in=np.unique(who).tolist()).values_list("pk", "username"))
    row_of = {number: row for row, number in enumerate(parse_names(table.items).tolist())}
    column_of = {name: column for column, name in enumerate(table.raters)}
    row = np.array([row_of.get(number, -1) for number in number_units(place, turns).tolist()], dtype=np.int64)
    column = np.array([column_of.get(names[pk], -1) for pk in who.tolist()], dtype=np.int64)
    there = (row >= 0) & (column >= 0)
    found = np.zeros((len(wanted), *table.codes.shape), dtype=np.int64)
    for number, each in enumerate(values):
        found[number, row[there], column[there]] = each[there]
    return found
