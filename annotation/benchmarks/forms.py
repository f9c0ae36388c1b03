"""Forms about benchmarks: building one, cleaning one, and a filter round."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.agreement.services.difficulty import parse_model_cuts
from annotation.agreement.services.tiers import parse_cuts
from annotation.benchmarks.models import Benchmark, FilterRound
from annotation.benchmarks.services import auditing, building, filtering
from annotation.benchmarks.services.building import TIERS_FROM, BuildOptions
from annotation.benchmarks.services.filtering import PREFERENCE
from annotation.stats.benchmarks.cleaning import ABOUT
from annotation.stats.benchmarks.filtering import OUTCOMES, USUAL, Rule
from annotation.studies.models.studies import Criterion, Study
from core.accounts.models.users import User
from core.accounts.permissions import filter_visible
from core.errors import InputError
from core.files.shares import parse_shares

CUTS, AGREEMENT = "0.4,0.6,0.8", "0.6,0.75,0.9"
CUTS_HELP = "Kappas up to which a case is contested, hard and medium."


class Refusing(forms.Form):
    """A form that shows what a service refuses at its field."""

    def refuse(self, error: InputError) -> None:
        self.add_error(error.field if error.field in self.fields else None, error.message)


class BuildForm(Refusing):
    """A benchmark from the votes of a study."""

    study = forms.ModelChoiceField(queryset=Study.objects.none(), to_field_name="slug")
    name = forms.CharField(max_length=120)
    version = forms.CharField(max_length=40, initial="1")
    tiers = forms.ChoiceField(
        choices=[(name, f"{name.capitalize()}: {about}") for name, about in TIERS_FROM.items()],
        initial="counted",
        required=False,
        help_text="A tier set by hand stands above both.",
    )
    cuts = forms.CharField(initial=CUTS, label="Thresholds of kappa", help_text=CUTS_HELP)
    agreement_cuts = forms.CharField(
        initial=AGREEMENT,
        required=False,
        label="Thresholds of the model",
        help_text="Probabilities that two people agree, up to which a case is contested, hard and medium.",
    )
    pooled = forms.BooleanField(
        required=False,
        label="Count the votes of all rounds",
        help_text="Where the texts stayed the same; else the last.",
    )
    splits = forms.CharField(
        required=False,
        help_text="Shares that sum to 1, such as dev=0.2 test=0.8. A persona, or a response, is in one split only.",
    )
    seed = forms.IntegerField(min_value=0, initial=0, help_text="Of the splits.")
    notes = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 3}))

    def __init__(self, *args: Any, by: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        asked = Criterion.objects.filter(key=PREFERENCE).values("study")
        found = filter_visible(by, Study.objects.filter(kind=Study.Kind.PAIR, pk__in=asked)).order_by("name")
        self.fields["study"].queryset = found  # type: ignore[attr-defined]

    def build(self, by: User) -> Benchmark | None:
        """The draft, or None if something was refused, with the reason at its field."""
        given = self.cleaned_data
        try:
            return building.build(
                by=by,
                study=given["study"],
                name=given["name"],
                version=given["version"],
                notes=given["notes"],
                options=BuildOptions(
                    tiers=given["tiers"] or "counted",
                    cuts=parse_cuts(given["cuts"]),
                    agreement_cuts=parse_model_cuts(given["agreement_cuts"] or AGREEMENT),
                    pooled=given["pooled"],
                    splits=parse_shares(given["splits"].replace(",", " ").split()),
                    seed=given["seed"],
                ),
            )
        except InputError as error:
            self.refuse(error)
        return None


class CleanForm(Refusing):
    """A cleaned version of a benchmark."""

    rules = forms.MultipleChoiceField(
        choices=[(name, f"{name.replace('_', ' ').capitalize()}: {about}") for name, about in ABOUT.items()],
        widget=forms.CheckboxSelectMultiple,
        label="Leave out",
    )
    version = forms.CharField(max_length=40, label="Version name")

    def clean_into(self, by: User, benchmark: Benchmark) -> Benchmark | None:
        try:
            given = self.cleaned_data
            return auditing.clean(by=by, benchmark=benchmark, rules=given["rules"], version=given["version"])
        except InputError as error:
            self.refuse(error)
        return None


class FilterForm(Refusing):
    """A filter round: what becomes of each state of the votes."""

    cuts = forms.CharField(initial=CUTS, help_text=CUTS_HELP)
    min_votes = forms.IntegerField(min_value=1, initial=2, label="Least number of votes")
    overlap = forms.IntegerField(min_value=1, required=False, label="Annotators per item when asked again")
    seed = forms.IntegerField(min_value=0, initial=0, help_text="Of the order in which is asked again.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(outcome, outcome) for outcome in OUTCOMES]
        for state, usual in reversed(list(USUAL.items())):
            name = f"rule_{state.replace(' ', '_')}"
            self.fields[name] = forms.ChoiceField(choices=choices, initial=usual, label=state.capitalize())
        self.order_fields([name for name in self.fields if name.startswith("rule_")])

    @property
    def rules(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name.startswith("rule_")]

    def run(self, by: User, study: Study) -> FilterRound | None:
        given = self.cleaned_data
        outcomes = {state: given[f"rule_{state.replace(' ', '_')}"] for state in USUAL}
        try:
            rule = Rule(outcomes, parse_cuts(given["cuts"]), "uniform", given["min_votes"])
            return filtering.run(by=by, study=study, rule=rule, seed=given["seed"], overlap=given["overlap"])
        except InputError as error:
            self.refuse(error)
        return None
