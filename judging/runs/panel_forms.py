"""The form that makes a panel out of runs."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import QuerySet

from core.accounts.models.users import User
from core.options.fields import OptionsForm
from judging.runs.models.runs import JudgeRun
from judging.runs.options import NewPanel
from judging.runs.services import panels


class RunChoices(forms.ModelMultipleChoiceField[JudgeRun]):
    """Runs with what is behind their numbers."""

    def label_from_instance(self, obj: Any) -> str:
        repeats = f", {obj.repeats} repeats" if obj.repeats > 1 else ""
        unit = "" if obj.unit == JudgeRun.Unit.ITEM else f", {obj.get_unit_display()}"
        return f"{obj.judge}, run {obj.pk}: {obj.n_judged:,} judgments{repeats}{unit} · {obj.created_at:%Y-%m-%d}"


class PanelForm(OptionsForm):
    """Some of a study's finished runs, combined."""

    verb, asks = NewPanel, ("name", "method")
    runs = RunChoices(queryset=JudgeRun.objects.none(), label="Members", widget=forms.CheckboxSelectMultiple)

    def __init__(self, *args: Any, runs: QuerySet[JudgeRun], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = self.fields["runs"]
        assert isinstance(choices, RunChoices)
        choices.queryset = runs

    def save(self, by: User) -> JudgeRun | None:
        return self.done(lambda: panels.combine(by=by, runs=list(self.cleaned_data["runs"]), **self.arguments()))
