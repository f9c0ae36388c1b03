"""Judges' answers as a source of open scales: a number or a set that only a judge gave has a place as well."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from annotation.studies.models.studies import Criterion
from annotation.studies.queries.scales import SOURCES, Given, select_distinct
from judging.runs.models.runs import Judgment


def list_by_judges(criteria: Sequence[Criterion]) -> Iterable[Given]:
    """What judges gave, each answer once."""
    return select_distinct(Judgment.objects.all(), criteria)


SOURCES.append(list_by_judges)
