"""The form that makes a panel out of runs."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import QuerySet

from core.accounts.models.users import User
from judging.runs.forms import SayingForm
from judging.runs.models.runs import JudgeRun
from judging.runs.services import panels
from judging.stats import panels as panel_stats

PANEL_METHODS = [
    (panel_stats.MAJORITY, "Majority: the value that most members gave; a tie leaves the item unscored"),
    (panel_stats.MEAN, "Mean: of the members' numbers, and the value of the scale next to it"),
    (
        panel_stats.DAWID_SKENE,
        "Dawid–Skene: learns from all items how each member errs, and weighs the votes by it; needs three members",
    ),
]


class RunChoices(forms.ModelMultipleChoiceField[JudgeRun]):
    """Runs with what is behind their numbers."""

    def label_from_instance(self, obj: Any) -> str:
        repeats = f", {obj.repeats} repeats" if obj.repeats > 1 else ""
        turns = ", single turns" if obj.every_turn else ""
        return f"{obj.judge}, run {obj.pk}: {obj.n_judged:,} judgments{repeats}{turns} · {obj.created_at:%Y-%m-%d}"


class PanelForm(SayingForm):
    """Some of a study's finished runs, combined."""

    name = forms.CharField(label="Name", max_length=120, help_text="Tables and plots call it so.")
    runs = RunChoices(queryset=JudgeRun.objects.none(), label="Members", widget=forms.CheckboxSelectMultiple)
    method = forms.ChoiceField(
        label="How they are combined", choices=PANEL_METHODS, widget=forms.RadioSelect, initial=panel_stats.MAJORITY
    )

    def __init__(self, *args: Any, runs: QuerySet[JudgeRun], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = self.fields["runs"]
        assert isinstance(choices, RunChoices)
        choices.queryset = runs

    def save(self, by: User) -> JudgeRun | None:
        given = self.cleaned_data
        made: JudgeRun | None = self.done(
            lambda: panels.combine(by=by, name=given["name"], runs=list(given["runs"]), method=given["method"])
        )
        return made
