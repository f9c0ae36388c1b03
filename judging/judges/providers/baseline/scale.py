"""A feature between 0 and 1 -> a category: steps of equal width, stated with the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from judging.judges.providers.base import Reply
from judging.judges.providers.requests import CriterionSpec


@dataclass(frozen=True, slots=True)
class MeasuredScore:
    """A score from 0 (worst) to 1 (best), the features it was made of, and a sentence that says how."""

    score: float
    sentence: str
    features: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NothingToMeasure:
    """Why the text features say nothing here."""

    sentence: str


def reply(measured: MeasuredScore | NothingToMeasure, criterion: CriterionSpec) -> Reply:
    if isinstance(measured, NothingToMeasure):
        return Reply(unscored="nothing_to_measure", explanation=f"Baseline: {measured.sentence}")
    values = sort_values(criterion)
    value = values[min(int(measured.score * len(values)), len(values) - 1)]
    cuts = [round(step / len(values), 3) for step in range(1, len(values))]
    details = {"score": round(measured.score, 4), "cuts": cuts, "features": measured.features}
    return Reply(value=value, explanation=f"Baseline, no model: {measured.sentence}", details=details)


def sort_values(criterion: CriterionSpec) -> tuple[str, ...]:
    """The values from worst to best. Scales are written that way, but for a yes that may stand before its no."""
    values = criterion.values
    return ("no", "yes") if set(values) == {"yes", "no"} else values
