"""Preferences of people with what the rating table does not hold: who saw what first, by how much, of whom."""

from __future__ import annotations

from collections.abc import Mapping

from django.db.models import Case, IntegerField, Value, When

from annotation.stats.difficulty.preferences import FIRST, SECOND, Shown, preference_order, split_by_strength
from annotation.stats.table import IntArray, RatingTable
from annotation.studies.models.studies import Assignment, Study
from annotation.studies.queries.by_rating import read_by_order
from annotation.studies.queries.ratings import PeoplesRatings
from annotation.studies.queries.units import to_position

NEW = -1
"""What was handed in after the table was read."""


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
    return split_by_strength(table, strength), Shown(order, _systems(ratings))


def _how(ratings: PeoplesRatings) -> tuple[IntArray, IntArray]:
    """(n, r) which response was shown first, and by how much one is better: 2 much, 1 slightly, 0 not asked."""
    shown = _numbered("assignment__order", {Assignment.Order.AB: 1, Assignment.Order.BA: -1})
    order, strength = read_by_order(
        ratings.criterion, ratings.table, shown, _numbered("strength", {"much": 2, "slightly": 1})
    )
    return order, strength


def _numbered(name: str, numbers: Mapping[str, int]) -> Case:
    """A text as the number that it stands for, 0 for any other."""
    cases = [When(**{name: text}, then=Value(number)) for text, number in numbers.items()]
    return Case(*cases, default=Value(0), output_field=IntegerField())


def _systems(ratings: PeoplesRatings) -> list[tuple[str, str]]:
    """Who made the two responses of each item."""
    items = ratings.criterion.study.items.values_list("position", "pair__model_1", "pair__model_2")
    named = {position: (first, second) for position, first, second in items}
    return [named[to_position(name)] for name in ratings.table.items]
