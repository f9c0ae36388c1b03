"""Forms about benchmarks: building one, cleaning one, and a filter round."""

from __future__ import annotations

from django import forms
from django.db.models import QuerySet

from annotation.benchmarks.models import Benchmark, FilterOutcome, FilterRound
from annotation.benchmarks.options import PREFERENCE, Cleaning, NewBenchmark, NewRound
from annotation.benchmarks.services import building, filtering, versions
from annotation.benchmarks.services.building import BuildOptions
from annotation.stats.benchmarks.cleaning import ABOUT
from annotation.stats.benchmarks.filtering import OUTCOMES, USUAL
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries.studies import everyday
from core.accounts.models.users import User
from core.accounts.permissions import filter_visible
from core.options.fields import OptionsForm, parse_shares
from core.sentences import translate

OF_CASES = ("tiers", "cuts", "agreement_cuts", "pooled", "seed")


def list_studies(by: User) -> QuerySet[Study]:
    """The studies that somebody may build a benchmark from."""
    asked = Criterion.objects.filter(key=PREFERENCE).values("study")
    return filter_visible(by, everyday().filter(kind=Study.Kind.PAIR, pk__in=asked)).order_by("name")


class BuildForm(OptionsForm):
    """A benchmark from the votes of a study."""

    verb = NewBenchmark
    asks = ("name", "version", "tiers", "cuts", "agreement_cuts", "pooled", "seed", "notes")
    study = forms.ModelChoiceField(queryset=Study.objects.none(), to_field_name="slug")
    splits = forms.CharField(
        required=False,
        help_text="Shares that sum to 1, such as dev=0.2 test=0.8. A persona, or a response, is in one split only.",
    )

    def __init__(self, *args: object, by: User, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.set("notes", label="Notes")
        self.fields["study"].queryset = list_studies(by)  # type: ignore[attr-defined]
        self.order_fields(["study", *self.asks[:-2], "splits"])

    def build(self, by: User) -> Benchmark | None:
        """Build the draft; None if something was refused, with the reason at its field."""
        return self.done(lambda: self.build_draft(by))

    def build_draft(self, by: User) -> Benchmark:
        splits = parse_shares(self.cleaned_data["splits"].replace(",", " ").split())
        options = BuildOptions.from_options({**self.arguments(*OF_CASES), "splits": splits})
        return building.build(
            by=by,
            study=self.cleaned_data["study"],
            options=options,
            **self.arguments("name", "version", "notes"),
        )


class CleanForm(OptionsForm):
    """A cleaned version of a benchmark."""

    verb, asks = Cleaning, ("rules", "version")

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        known = [(name, translate(about)) for name, about in ABOUT.items()]
        self.set("rules", choices=known, help_text="")

    def clean_into(self, by: User, benchmark: Benchmark) -> Benchmark | None:
        return self.done(lambda: versions.clean(by=by, benchmark=benchmark, **self.arguments()))


class FilterForm(OptionsForm):
    """A filter round: what becomes of each state of the votes."""

    verb, asks = NewRound, ("cuts", "min_votes", "overlap", "seed")

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        labels = dict(FilterOutcome.Outcome.choices)
        choices = [(outcome, labels[outcome]) for outcome in OUTCOMES]
        for state, usual in reversed(list(USUAL.items())):
            name = f"rule_{state.replace(' ', '_')}"
            self.fields[name] = forms.ChoiceField(choices=choices, initial=usual, label=state.capitalize())
        self.order_fields([name for name in self.fields if name.startswith("rule_")])

    @property
    def rules(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name.startswith("rule_")]

    def run(self, by: User, study: Study) -> FilterRound | None:
        rules = {state: self.cleaned_data[f"rule_{state.replace(' ', '_')}"] for state in USUAL}
        given = {"chance": "uniform", "min_votes": 2, **self.arguments("cuts", "min_votes")}
        asked = self.arguments("seed", "overlap")
        return self.done(lambda: filtering.run(by=by, study=study, rule=filtering.build_rule(rules, **given), **asked))
