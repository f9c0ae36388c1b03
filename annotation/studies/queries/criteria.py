"""The criteria of a study, kept by a web process between requests: everybody who rates in it asks for the same ones.

They are found under a stamp that is read with the slot and changes with every new version of a criterion and with their
order, so that what is kept here is never older than the request. A short life bounds what a restored backup could bring
about.
"""

from __future__ import annotations

from datetime import datetime
from time import monotonic
from typing import Any

from annotation.studies.models.studies import Criterion, Study

SECONDS = 60.0
MOST = 100
Key = tuple[int, datetime, int]
Row = tuple[Any, ...]

_kept: dict[Key, tuple[float, list[Row]]] = {}


STAMP = """(
    SELECT SUM(1000 * guideline_version + id * position) FROM annotation_criterion
    WHERE annotation_criterion.study_id = annotation_assignment.study_id AND annotation_criterion.is_asked
)"""
"""Part of a statement that reads slots: a number that changes when what is asked in their study does."""


def load_criteria(study: Study, stamp: int) -> list[Criterion]:
    """The study's criteria in their order; new objects each time, made from rows that are kept."""
    key = (study.pk, study.created_at, stamp)
    found = _kept.get(key)
    if found is None or found[0] < monotonic():
        found = monotonic() + SECONDS, list_criterion_rows(study)
        if len(_kept) >= MOST:
            _kept.clear()
        _kept[key] = found
    return [Criterion.from_db("default", NAMES, row) for row in found[1]]


NAMES = [field.attname for field in Criterion._meta.concrete_fields]


def list_criterion_rows(study: Study) -> list[Row]:
    return list(Criterion.objects.filter(study=study, is_asked=True).order_by("position").values_list(*NAMES))
