"""The rubric of a study: its criteria as they are asked now, in the form of a file."""

from __future__ import annotations

from typing import Any

from annotation.studies.models.studies import Criterion, Study
from annotation.studies.parsing.rubrics import Rubric, parse_rubric

REST = ("name", "help", "examples", "limits", "is_required", "condition")
"""Of a criterion, what a version holds besides its texts and categories."""


def load_rubric(study: Study) -> Rubric:
    """What the study asks now. InputError where that was imported and is no rubric by today's rules."""
    document = {"name": study.name, "kind": study.kind, "criterion": [to_document(one) for one in study.asked]}
    return parse_rubric(document)


def to_document(criterion: Criterion) -> dict[str, Any]:
    """A row as a file says it."""
    fields = ("key", "type", "level", "unit", "question", "guideline", "categories", *REST)
    given = {name: getattr(criterion, name) for name in fields}
    given["categories"] = [
        {name: str(one[name]) for name in ("value", "label", "guideline") if one.get(name)}
        for one in criterion.categories
    ]
    return given


def describe_rest(criterion: Criterion) -> dict[str, Any]:
    """What a version keeps of a criterion besides its texts and categories."""
    return {name: getattr(criterion, name) for name in REST}
