"""How a judge is calibrated and audited: all that decides on a result besides labels and judgments."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, get_args

from core.errors import InputError
from judging.assessment.services.file_calibration import CalibrationOptions
from judging.stats.multiplicity import Method


@dataclass(frozen=True)
class AssessmentOptions(CalibrationOptions):
    """Of calibration. `epsilon` is the judge's discount in the alternative-annotator test, 0 to 1."""

    epsilon: float = 0.15

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.epsilon <= 1:
            raise InputError("must be between 0 and 1, for example 0.15", field="epsilon")

    def to_json(self) -> dict[str, Any]:
        """All that decides on the result besides the labels and the seed."""
        return {**super().to_json(), "targets": list(self.targets)}


@dataclass(frozen=True)
class AuditOptions:
    """Of audits: the level of all probes of a judge together, and how they are corrected."""

    level: float = 0.05
    method: Method = "holm"

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise InputError("must be between 0 and 1, for example 0.05", field="level")
        if self.method not in get_args(Method):
            raise InputError(f"must be one of {', '.join(get_args(Method))}", field="correction")

    def to_json(self) -> dict[str, Any]:
        """All that decides on the result besides the labels."""
        return asdict(self)
