"""What commands print of an estimate is its fields by name; the types that mypy knows must say the same."""

from __future__ import annotations

from dataclasses import fields

import pytest

from judging.management.commands.judge import RunEstimateDocument
from judging.runs.services import estimates as of_runs
from simulation.experiments.services import estimates as of_experiments
from simulation.management.commands.simulate import ExperimentEstimateDocument


@pytest.mark.parametrize(
    ("estimate", "document"),
    [(of_runs.Estimate, RunEstimateDocument), (of_experiments.Estimate, ExperimentEstimateDocument)],
    ids=["run", "experiment"],
)
def test_each_field_is_declared(estimate: type, document: type) -> None:
    assert [field.name for field in fields(estimate)] == list(document.__annotations__)
