"""Forms of an evaluation: which cases, which judges, in which settings; and what one sees in a wrong answer."""

from __future__ import annotations

from collections.abc import Mapping

from django import forms
from django.utils.translation import gettext_lazy

from annotation.benchmarks.models import Benchmark
from annotation.stats.bands import TIERS
from core.accounts.models.users import User
from core.audit.log import audit_batch
from core.errors import InputError
from core.options.fields import OptionsForm, split_names
from core.options.model import Options
from judging.evaluations.options import NewEvaluation, NewEvaluationRuns, Tagging
from judging.evaluations.services import evaluations
from judging.evaluations.services.evaluations import Drawing
from judging.judges.models import Judge
from judging.judges.services import judges
from judging.runs.forms import ORDERS, JudgeChoice, latest_judges
from judging.runs.models.evaluations import Evaluation


class JudgesChoice(forms.ModelMultipleChoiceField[Judge]):
    """Judges with what is behind their names."""

    label_from_instance = JudgeChoice.label_from_instance


class AskForm(OptionsForm):
    """Judges and settings: each judge answers in each setting."""

    verb: type[Options] = NewEvaluationRuns
    asks: tuple[str, ...] = ("settings", "answers", "retriever", "k", "order_policy", "seed", "budget_usd")
    places = {"judge": "judges", "shows": "settings"}
    judges = JudgesChoice(
        queryset=Judge.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Choose one.")},
    )
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
        help_text="Fields of the persona, separated by commas, such as preferences, demographics.Age.",
    )

    def __init__(
        self, *args: object, benchmark: Benchmark, evaluation: Evaluation | None = None, **kwargs: object
    ) -> None:
        super().__init__(*args, **kwargs)
        self.evaluation = evaluation
        self.set("budget_usd", label="Budget of each run in US dollars", help_text="Empty for none.")
        self.set("settings", initial=["none", "profile"], help_text="")
        self.set("order_policy", choices=[(name, ORDERS[name]) for name in ("both", "random")])
        choice = self.fields["judges"]
        assert isinstance(choice, JudgesChoice)
        choice.queryset = latest_judges(benchmark.project_id)

    def describe(self) -> dict[str, object]:
        """Return what was chosen, as the options of an evaluation."""
        given = self.cleaned_data
        return {
            **self.arguments(),
            "without": split_names(given["without"]),
            "embedder": evaluations.describe_embedder(given["embedder"], given["embedder_url"]),
        }

    def start(self, by: User) -> Evaluation | None:
        """Begin the runs; None if something stands in the way, which is said at its field."""
        given = self.cleaned_data
        try:
            for judge in given["judges"]:
                judges.probe(judge)  # may wait on the network, so before the database is locked
            with audit_batch():
                evaluation = self.evaluation or self.find_or_create(by)
                described = evaluations.describe_runs(self.describe())
                evaluations.ask(by=by, evaluation=evaluation, judges=list(given["judges"]), **described)
        except InputError as error:
            self.refuse(error)
            return None
        return evaluation

    def find_or_create(self, by: User) -> Evaluation:  # noqa: ARG002
        """Return the evaluation to add to, or a new one where there is none."""
        raise InputError("There is no evaluation to add to.", field="judges")


class EvaluationForm(AskForm):
    """A new evaluation: its cases, and the first judges."""

    verb = NewEvaluation
    asks = (*AskForm.asks, "size", "tiers", "kinds", "longest")

    def __init__(self, data: Mapping[str, object] | None, *, benchmark: Benchmark) -> None:
        super().__init__(data, benchmark=benchmark)
        self.benchmark = benchmark
        there = list(benchmark.cases.only_counting().order_by().values_list("tier", "kind").distinct())
        tiers, kinds = ({row[at] for row in there} - {""} for at in (0, 1))
        ordered = [*(tier for tier in TIERS if tier in tiers), *sorted(tiers - {*TIERS})]
        self.set("tiers", choices=[(one, one) for one in ordered])
        self.set("kinds", choices=[(one, one) for one in sorted(kinds)])

    def find_or_create(self, by: User) -> Evaluation:
        drawing = Drawing.from_options(self.describe())
        return evaluations.begin(by=by, benchmark=self.benchmark, drawing=drawing)


class TagForm(OptionsForm):
    """What one sees in a wrong answer."""

    verb = Tagging
