"""Preferences of people with what the rating table does not hold: who saw what first, by how much, of whom."""

from __future__ import annotations

import numpy as np
from django.db.models import Case, IntegerField, Value, When

from annotation.models import Annotation, Assignment, Study, User
from annotation.queries import columns
from annotation.queries.ratings import PeoplesRatings
from annotation.queries.units import position_of
from annotation.stats.difficulty.preferences import FIRST, SECOND, Shown, by_strength, preference_order
from annotation.stats.table import IntArray, RatingTable


def preferences(ratings: PeoplesRatings) -> tuple[RatingTable, Shown | None]:
    """The table of a criterion; of a preference by how much it is one, where all say it, and how pairs were shown.

    No query where it is no preference, else three.
    """
    table, study = ratings.table, ratings.criterion.study
    of_pairs = study.kind == Study.Kind.PAIR and {FIRST, SECOND} <= set(ratings.criterion.values)
    is_preference = of_pairs and (preference_order(table) is not None or table.n_categories == 2)
    if not is_preference or not table.n_ratings:
        return table, None
    order, strength = _how(ratings)
    return by_strength(table, strength), Shown(order, _systems(ratings))


def _how(ratings: PeoplesRatings) -> tuple[IntArray, IntArray]:
    """(n, r) which response was shown first, and by how much one is better: 2 much, 1 slightly, 0 not asked."""
    rows = Annotation.objects.counting().filter(assignment__study=ratings.criterion.study, criterion=ratings.criterion)
    shown = Case(
        When(assignment__order=Assignment.Order.AB, then=Value(1)),
        When(assignment__order=Assignment.Order.BA, then=Value(-1)),
        default=Value(0),
        output_field=IntegerField(),
    )
    much = Case(
        When(strength="much", then=Value(2)),
        When(strength="slightly", then=Value(1)),
        default=Value(0),
        output_field=IntegerField(),
    )
    place, who, first, strong = columns.read(
        rows, "assignment__item__position", "assignment__annotator_id", shown, much
    )
    names = dict(User.objects.filter(pk__in=np.unique(who).tolist()).values_list("pk", "username"))
    row_of = {position: row for row, position in enumerate(ratings.positions)}
    column_of = {name: column for column, name in enumerate(ratings.table.raters)}
    row = np.array([row_of[position] for position in place.tolist()], dtype=np.int64)
    column = np.array([column_of[names[pk]] for pk in who.tolist()], dtype=np.int64)
    found = np.zeros((2, *ratings.table.codes.shape), dtype=np.int64)
    found[0, row, column], found[1, row, column] = first, strong
    return found[0], found[1]


def _systems(ratings: PeoplesRatings) -> list[tuple[str, str]]:
    """Who made the two responses of each item."""
    items = ratings.criterion.study.items.values_list("position", "pair__model_1", "pair__model_2")
    named = {position: (first, second) for position, first, second in items}
    return [named[position_of(name)] for name in ratings.table.items]
