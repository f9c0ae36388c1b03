"""The criteria of a study as a rubric, and as kept by a web process between requests.

Everybody who rates in a study asks for the same criteria. They are found under a stamp that is read with the slot and
changes with every new version of a criterion and with their order, so that what is kept here is never older than the
request. A short life bounds what a restored backup could bring about.
"""

from __future__ import annotations

from datetime import datetime
from time import monotonic

from annotation.studies.models.studies import Criterion, Study
from annotation.studies.parsing.rubrics import Rubric, parse_rubric

SECONDS = 60.0
MOST = 100
Key = tuple[int, datetime, int]
Row = tuple[object, ...]

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


REST = ("name", "help", "examples", "limits", "is_required", "condition")
"""Of a criterion, what a version holds besides its texts and categories."""


def load_rubric(study: Study) -> Rubric:
    """What the study asks now. InputError where that was imported and is not a rubric by today's rules."""
    document = {"name": study.name, "kind": study.kind, "criterion": [to_document(one) for one in study.asked]}
    return parse_rubric(document)


def to_document(criterion: Criterion) -> dict[str, object]:
    """A row as a file says it."""
    fields = ("key", "type", "level", "unit", "question", "guideline", "categories", *REST)
    given = {name: getattr(criterion, name) for name in fields}
    given["categories"] = [
        {name: str(one[name]) for name in ("value", "label", "guideline") if one.get(name)}
        for one in criterion.categories
    ]
    return given


def describe_rest(criterion: Criterion) -> dict[str, object]:
    """What a version keeps of a criterion besides its texts and categories."""
    return {name: getattr(criterion, name) for name in REST}
