"""What is asked of a plan of labels, and of the study that is made of one."""

from __future__ import annotations

from typing import Any

from core.options.fields import OptionsForm
from core.options.model import Options
from judging.assessment.options import NewPlanned, PlanOptions
from judging.assessment.queries.assessment_data import JudgeData


class PlanForm(OptionsForm):
    """How narrow the mean of which criterion has to be."""

    verb: type[Options] = PlanOptions

    def __init__(self, *args: Any, evidence: JudgeData, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        keys = [(criterion.key, criterion.name) for criterion in evidence.criteria]
        self.set("criterion", choices=keys)
        self.set("by", choices=[("", "no groups"), *((name, name) for name in evidence.material.groups)])

    def plan_options(self) -> PlanOptions:
        """What is planned for."""
        return PlanOptions.check(self.arguments("criterion", "width", "by", "confidence", "seed"))


class PlanStudyForm(PlanForm):
    """The same, and what the study of the drawn items is called."""

    verb = NewPlanned
