"""Forms of an evaluation: which cases, which judges, in which settings; and what one sees in a wrong answer."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.benchmarks.models import Benchmark
from core.accounts.models.users import User
from core.audit.log import audit_batch
from core.errors import InputError
from judging.evaluations.services import evaluations, failures
from judging.evaluations.services.evaluations import Drawing
from judging.judges.evaluation_settings import ANSWERS, CHOICE, MOST, RETRIEVERS, SETTINGS, Setting
from judging.judges.models.judges import Judge
from judging.judges.services import judges
from judging.runs.forms import JudgeChoice, SayingForm, dollars, latest_judges
from judging.runs.models.evaluations import Evaluation
from judging.runs.services import runs

ORDERS = [
    ("both", "Both orders, which shows whether a model leans to a side"),
    ("random", "One order for each case, randomised"),
]


class JudgesChoice(forms.ModelMultipleChoiceField[Judge]):
    """Judges with what is behind their names."""

    label_from_instance = JudgeChoice.label_from_instance


class AskForm(forms.Form):
    """Judges and settings: each judge answers in each setting."""

    judges = JudgesChoice(
        queryset=Judge.objects.none(), widget=forms.CheckboxSelectMultiple, error_messages={"required": "Choose one."}
    )
    settings = forms.MultipleChoiceField(
        choices=list(SETTINGS.items()),
        initial=["none", "profile"],
        widget=forms.CheckboxSelectMultiple,
        label="What it is shown of the person",
    )
    answers = forms.ChoiceField(choices=list(ANSWERS.items()), initial=CHOICE, widget=forms.RadioSelect)
    retriever = forms.ChoiceField(choices=list(RETRIEVERS.items()), label="How memories are found", required=False)
    k = forms.IntegerField(min_value=1, max_value=MOST, initial=5, label="Memories", help_text="At most so many.")
    embedder = forms.CharField(
        max_length=120, required=False, label="Embedding model", help_text="For embeddings from a server."
    )
    embedder_url = forms.CharField(
        max_length=300,
        required=False,
        label="Address of its server",
        help_text="OpenAI-compatible, such as http://localhost:8000/v1. Empty for the one that OPENAI_BASE_URL names.",
    )
    without = forms.CharField(
        max_length=500,
        required=False,
        label="Fields to leave out",
        help_text="Of the persona, with commas between them, such as preferences, demographics.Age.",
    )
    order_policy = forms.ChoiceField(
        choices=ORDERS, initial="both", widget=forms.RadioSelect, label="Order of the responses"
    )
    seed = forms.IntegerField(
        min_value=0, max_value=runs.LARGEST_SEED, initial=0, help_text="Of everything that is randomised."
    )
    budget_usd = dollars("Budget of each run in US dollars", help_text="Empty for none.")

    def __init__(self, *args: Any, benchmark: Benchmark, evaluation: Evaluation | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.evaluation = evaluation
        choice = self.fields["judges"]
        assert isinstance(choice, JudgesChoice)
        choice.queryset = latest_judges(benchmark.project_id)

    def list_settings(self) -> list[Setting]:
        """The settings as chosen."""
        given = self.cleaned_data
        url = {"base_url": given["embedder_url"]} if given["embedder_url"] else {}
        embedder = {"model": given["embedder"], **url} if given["embedder"] else None
        left_out = tuple(name.strip() for name in given["without"].split(",") if name.strip())
        return [
            Setting(shows, given["answers"], given["retriever"] or "bm25", given["k"], left_out, embedder)
            for shows in given["settings"]
        ]

    def start(self, by: User) -> Evaluation | None:
        """The evaluation with the runs begun; None if something stands in the way, which is said at its field."""
        given = self.cleaned_data
        try:
            for judge in given["judges"]:
                judges.probe(judge)  # may wait on the network, so before the database is locked
            with audit_batch():
                evaluation = self.evaluation or self.find_or_create(by)
                evaluations.ask(
                    by=by,
                    evaluation=evaluation,
                    judges=list(given["judges"]),
                    settings=self.list_settings(),
                    order_policy=given["order_policy"],
                    seed=given["seed"],
                    budget_usd=given["budget_usd"],
                )
        except InputError as error:
            places = {"judge": "judges", "shows": "settings"}
            place = places.get(error.field or "", error.field)
            self.add_error(place if place in self.fields else None, error.message)
            return None
        return evaluation

    def find_or_create(self, by: User) -> Evaluation:  # noqa: ARG002
        """A new evaluation, where there is none to add to."""
        raise InputError("There is no evaluation to add to.", field="judges")


class EvaluationForm(AskForm):
    """A new evaluation: its cases, and the first judges."""

    size = forms.IntegerField(
        min_value=1, required=False, label="Cases", help_text="As many of each tier as there are. Empty for all."
    )
    tiers = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple, label="Tiers")
    kinds = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple, label="Kinds")
    longest = forms.IntegerField(
        min_value=1,
        required=False,
        label="Longest case in characters",
        help_text="Of question and responses together, for a slow model. The result says so.",
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, benchmark=benchmark, **kwargs)
        self.benchmark = benchmark
        there = list(benchmark.cases.only_counting().order_by().values_list("tier", "kind").distinct())
        for name, at in (("tiers", 0), ("kinds", 1)):
            found = sorted({row[at] for row in there} - {""})
            self.fields[name].choices = [(one, one) for one in found]  # type: ignore[attr-defined]

    def find_or_create(self, by: User) -> Evaluation:
        given = self.cleaned_data
        drawing = Drawing(
            size=given["size"],
            tiers=tuple(given["tiers"]),
            kinds=tuple(given["kinds"]),
            longest=given["longest"],
            seed=given["seed"],
        )
        return evaluations.begin(by=by, benchmark=self.benchmark, drawing=drawing)


class TagForm(SayingForm):
    """What one sees in a wrong answer."""

    tags = forms.MultipleChoiceField(
        choices=list(failures.TAGS.items()), required=False, widget=forms.CheckboxSelectMultiple
    )
    note = forms.CharField(max_length=500, required=False)
