"""The document in place of a result that the answers to a criterion cannot have."""

from __future__ import annotations

from typing import Any

from annotation.stats.by_level import Result, explain_missing
from annotation.studies.models.studies import Criterion, Study


def describe_missing(result: Result, study: Study, criterion: Criterion) -> dict[str, Any] | None:
    """Why there is none; None where there is."""
    reason = explain_missing(result, criterion.level)
    if reason is None:
        return None
    return {"study": study.name, "criterion": criterion.key, "level": criterion.level, "reason": reason}
