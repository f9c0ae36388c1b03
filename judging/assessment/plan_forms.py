"""What is asked of a plan of labels, and of the study that is made of one."""

from __future__ import annotations

from typing import Any

from django import forms

from judging.assessment.queries.assessment_data import JudgeData
from judging.assessment.services.labelling_plans import PlanOptions
from judging.runs.forms import SayingForm


class PlanForm(forms.Form):
    """How narrow the mean of which criterion has to be."""

    criterion = forms.ChoiceField(label="Criterion")
    width = forms.FloatField(
        label="Width of the interval",
        min_value=0.0001,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="From end to end, in units of the scale; of a rate, 0.1 is ten points.",
    )
    by = forms.ChoiceField(
        label="Allocate by", required=False, help_text="Groups in which the judge errs more get more labels."
    )
    confidence = forms.FloatField(label="Confidence", min_value=0.5, max_value=0.999, initial=0.95)
    seed = forms.IntegerField(label="Seed", min_value=0, initial=0, help_text="Of the draw.")

    def __init__(self, *args: Any, evidence: JudgeData, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["criterion"].choices = [(c.key, c.name) for c in evidence.criteria]  # type: ignore[attr-defined]
        groups = [("", "no groups"), *((name, name) for name in evidence.material.groups)]
        self.fields["by"].choices = groups  # type: ignore[attr-defined]

    def options(self) -> PlanOptions:
        """What is planned for."""
        given = self.cleaned_data
        return PlanOptions(given["width"], given["by"], given["confidence"], given["seed"])


class PlanStudyForm(PlanForm, SayingForm):
    """The same, and what the study of the drawn items is called."""

    name = forms.CharField(label="Name of the new study", max_length=120)
    overlap = forms.IntegerField(label="People per item", min_value=1, initial=3)
