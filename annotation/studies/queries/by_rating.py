"""Whole numbers that belong to single ratings, in the shape of the rating table."""

from __future__ import annotations

import numpy as np
from django.db.models import Expression

from annotation.stats.table import IntArray, RatingTable
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Criterion
from annotation.studies.queries import columns
from annotation.studies.queries.units import number_units, parse_names
from core.accounts.models.users import User


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
