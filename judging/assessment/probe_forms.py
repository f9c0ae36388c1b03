"""The form that sets probes of a judge going."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.studies.models.studies import Study
from core.accounts.models.users import User
from core.errors import InputError
from judging.assessment.services import probes
from judging.assessment.services.probes import LEAST_ITEMS, USUAL_ITEMS, ProbeOptions
from judging.judges.models.judges import Judge
from judging.judges.prompts.alterations import list_alterations
from judging.judges.services import judges
from judging.runs.forms import SayingForm, dollars
from judging.runs.models.runs import JudgeRun
from judging.runs.services import estimates, runs
from judging.runs.services.estimates import Estimate


class ProbeForm(SayingForm):
    """Which alterations, of how many items, on which criteria."""

    alterations = forms.MultipleChoiceField(
        label="Alterations",
        widget=forms.CheckboxSelectMultiple,
        help_text="Each asks about one copy of every item; the item as it is is asked about twice.",
    )
    criteria = forms.MultipleChoiceField(label="Criteria", widget=forms.CheckboxSelectMultiple)
    n = forms.IntegerField(
        label="Items",
        min_value=LEAST_ITEMS,
        initial=USUAL_ITEMS,
        help_text="Randomised; all of them where there are no more. More show smaller effects.",
    )
    seed = forms.IntegerField(
        label="Seed", min_value=0, max_value=runs.LARGEST_SEED, initial=0, help_text="Of everything that is randomised."
    )
    budget_usd = dollars("Budget in US dollars", help_text="The run stops itself before it costs more. Empty for none.")
    ask_anew = forms.BooleanField(
        label="Ignore the cache",
        required=False,
        help_text="Otherwise the first answer on an item as it is may be one that is known.",
    )

    def __init__(self, *args: Any, study: Study, judge: Judge, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study, self.judge = study, judge
        there = [(one.name, f"{one.name}: {one.label}") for one in list_alterations(study.kind)]
        keys = [(criterion.key, criterion.name) for criterion in study.criteria.all() if not criterion.of_turns]
        for name, choices in (("alterations", there), ("criteria", keys)):
            self.fields[name].choices = choices  # type: ignore[attr-defined]
            self.fields[name].initial = [value for value, _ in choices]

    def estimate(self) -> Estimate | None:
        """What the run would take; None if something stands in its way, which is then said at its field."""
        found: Estimate | None = self.done(lambda: estimates.estimate(self.build_plan()))
        return found

    def start(self, by: User) -> JudgeRun | None:
        """The run, started; None if something stands in its way."""
        try:
            judges.probe(self.judge)  # may wait on the network, so before the database is locked
        except InputError as error:
            self.add_error(None, error.message)
            return None
        run: JudgeRun | None = self.done(lambda: runs.make(by=by, plan=self.build_plan(), queue=True))
        return run

    def build_plan(self) -> runs.Plan:
        """The run as it would be."""
        given = self.cleaned_data
        options = ProbeOptions(
            alterations=tuple(given["alterations"]),
            criteria=tuple(given["criteria"]),
            n=given["n"],
            seed=given["seed"],
            budget_usd=given["budget_usd"],
            use_cache=not given["ask_anew"],
        )
        return probes.plan(study=self.study, judge=self.judge, options=options)
