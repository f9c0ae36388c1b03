"""Forms of generation: material ordered, conflicts decided, candidates run, imported and paired."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import combinations

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils.text import format_lazy
from django.utils.translation import gettext as _, gettext_lazy, gettext_noop

from annotation.corpus.models import Profile, Task
from core.accounts.models.users import User
from core.errors import InputError
from core.files.input_files import MEGABYTE
from core.files.outcome import Outcome
from core.files.staging import save_upload
from core.options.fields import OptionsForm, Result, split_names
from judging.judges.services.keys import load_keyring_for
from simulation.agents import services as agents_services
from simulation.agents.models import Agent
from simulation.agents.prompts.generation import GENERATORS, LEVELS
from simulation.experiments.models import PreferenceType
from simulation.generation import queries
from simulation.generation.models import CandidateRun, Making
from simulation.generation.options import ConflictDecision, NewCandidateRun, NewMaking, NewPairs, NewSeedRun
from simulation.generation.queries import find_record
from simulation.generation.result_types import MadePairsDocument, SeedEstimateDocument
from simulation.generation.services import candidates, generation, seed_estimates, seed_runs
from simulation.generation.services.candidates import Question
from simulation.generation.services.seed_runs import SeedPlan

SIZE = format_lazy(
    gettext_lazy("At most {size} MB; the command candidates takes more."), size=settings.MAX_UPLOAD_BYTES // MEGABYTE
)


def list_matchups() -> list[tuple[str, str]]:
    """Every two levels, the higher one first."""
    words = _("{level} against {other}")
    return [(f"{a}-{b}", words.format(level=a, other=b)) for b, a in combinations(LEVELS, 2)]


class UploadedForm(OptionsForm):
    """A form with a file that may be left out or not."""

    def clean_file(self) -> UploadedFile | None:
        file: UploadedFile | None = self.cleaned_data["file"]
        if file and file.size and file.size > settings.MAX_UPLOAD_BYTES:
            raise forms.ValidationError(SIZE)
        return file


@contextmanager
def say_at_file() -> Iterator[None]:
    """Say what is wrong with a file at its field, with the line."""
    try:
        yield
    except InputError as error:
        raise InputError(str(error), field="file") from error


def build_agent_field(label: str) -> forms.CharField:
    """The field in which an agent is named."""
    return forms.CharField(
        label=label,
        initial="local",
        help_text="PROVIDER, PROVIDER:MODEL, or a name that begins with claude or gpt. Parameters may follow as JSON.",
    )


def find_agent(text: str, field: str, by: User) -> Agent:
    """The agent of a short text; what is wrong with it is said at its field."""
    try:
        return agents_services.parse_agent(text, side="assistant", keys=load_keyring_for(by))
    except InputError as error:
        raise InputError(error.message, field=field) from error


class GenerationForm(OptionsForm):
    """An order of material. What each kind needs, the service says."""

    verb, asks = NewMaking, ("kind", "source", "domains", "demographics", "n", "prompts")
    agent = build_agent_field(gettext_noop("Model"))
    profile = forms.CharField(
        label="Profile",
        max_length=200,
        required=False,
        help_text="Id of an existing profile, for everything but a whole profile.",
    )
    task = forms.CharField(label="Task", max_length=200, required=False, help_text="Id of the task, for a situation.")

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        known = PreferenceType.objects.order_by("source").values_list("source", flat=True).distinct()
        self.set("source", choices=[(name, name) for name in known] or [("personalens", _("none imported yet"))])
        self.set("kind", choices=[one for one in Making.Kind.choices if one[0] not in Making.OF_CANDIDATES])
        self.fields["domains"] = forms.CharField(
            label="Domains",
            required=False,
            help_text=_("Separated by commas. {more}").format(more=_(str(self.fields["domains"].help_text))),
        )
        own = _("JSON with texts by name, in place of Concord's own: {names}.")
        self.fields["prompts"].help_text = own.format(names=", ".join(GENERATORS))

    def order(self, by: User) -> Making | None:
        """The order, sent to the workers; None if it was refused, with the reason at its field."""
        return self.done(lambda: self.create_order(by))

    def create_order(self, by: User) -> Making:
        given = self.cleaned_data
        agent = find_agent(given["agent"], "agent", by)
        return generation.order(
            by=by,
            agent=agent,
            domains=split_names(given["domains"]),
            profile=find_record(Profile, given["profile"], field="profile"),
            task=find_record(Task, given["task"], field="task"),
            replaced=given["prompts"],
            **self.arguments("kind", "source", "demographics", "n"),
        )


class ReviewForm(OptionsForm):
    """What a person decides of a conflict."""

    verb = ConflictDecision


class CandidateRunForm(UploadedForm):
    """Who answers which questions of whom, at which levels, and what it may cost."""

    verb, asks = NewCandidateRun, ("name", "levels", "seed", "budget_usd")
    agent = build_agent_field(gettext_noop("Model"))
    profiles = forms.CharField(
        label="Personas", initial="all", required=False, help_text="Ids separated by commas, or all."
    )
    questions = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="One on each line; every persona is asked each of them.",
    )
    kind = forms.ChoiceField(
        label="Kind of these questions",
        choices=[
            ("general", gettext_lazy("general: for anybody")),
            ("specific", gettext_lazy("specific: about the person's own life")),
        ],
    )
    file = forms.FileField(
        label="Or a file of questions",
        required=False,
        help_text=format_lazy(
            "{} {}",
            gettext_lazy("JSONL: question, and optionally kind and profile_id, whose question it then is."),
            SIZE,
        ),
    )

    def begin(self, by: User) -> CandidateRun | None:
        """The run, sent to the workers; None if it was refused, with the reason at its field."""
        return self.done(lambda: self.create_run(by))

    def create_run(self, by: User) -> CandidateRun:
        given = self.cleaned_data
        agent = find_agent(given["agent"], "agent", by)
        return candidates.begin(by=by, agent=agent, questions=self.list_questions(), **self.arguments())

    def list_questions(self) -> list[Question]:
        """The questions of the lines and of the file, each once."""
        given = self.cleaned_data
        people = candidates.people(given["profiles"])
        lines = [line.strip() for line in given["questions"].splitlines() if line.strip()]
        if lines and not people:
            raise InputError("There is nobody to ask for: name personas, or import profiles first.", field="profiles")
        found = [Question(one, line, given["kind"]) for one in people for line in lines]
        if given["file"]:
            with save_upload(given["file"]) as file, say_at_file():
                found += candidates.read_questions(file, people)
        if not found:
            raise InputError("Write at least one question, or give a file of them.", field="questions")
        return list(dict.fromkeys(found))


class SeedRunForm(UploadedForm):
    """A file of seeds, how much is made of it, by whom, and what it may cost."""

    verb = NewSeedRun
    asks = ("name", "personas", "specific", "general", "memories", "levels", "seed", "budget_usd")
    file = forms.FileField(
        label="Seeds", help_text=format_lazy("{} {}", gettext_lazy("JSONL: id and traits on each line."), SIZE)
    )
    agent = build_agent_field(gettext_noop("Model"))
    checker = forms.CharField(
        label="Checking model", required=False, help_text="Another model. Empty: no model checks the responses."
    )
    against = forms.MultipleChoiceField(
        choices=list_matchups, initial=["full-none"], widget=forms.CheckboxSelectMultiple, label="Pairs"
    )

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.set("personas", initial=20)

    def begin(self, by: User) -> CandidateRun | None:
        """The run, sent to the workers; None if it was refused, with the reason at its field."""
        more = self.arguments("name", "seed", "budget_usd")
        return self.done(lambda: self.pass_plan(lambda **plan: seed_runs.begin(by=by, **plan, **more), by))

    def estimate(self, by: User) -> SeedEstimateDocument | None:
        """What it would take; None if it was refused."""
        return self.done(lambda: self.pass_plan(seed_estimates.estimate, by))

    def pass_plan(self, to: Callable[..., Result], by: User) -> Result:
        given = self.cleaned_data
        with save_upload(given["file"]) as file, say_at_file():
            seeds, _ = seed_runs.read_seeds(file)
        against = [one.split("-") for one in given["against"]]
        plan = SeedPlan(seeds, against=against, **self.arguments("personas", "specific", "general", "memories"))
        sides = {name: find_agent(given[name], name, by) if given[name] else None for name in ("agent", "checker")}
        return to(plan=plan, levels=given["levels"], **sides)


class CandidateFileForm(UploadedForm):
    """Candidates from elsewhere."""

    file = forms.FileField(
        label="File",
        allow_empty_file=True,
        help_text=format_lazy(
            "{} {}",
            gettext_lazy("JSONL: profile_id, question, level, text; optionally kind, provider, model."),
            SIZE,
        ),
    )

    def load(self, by: User) -> Outcome | None:
        """What the import did; None if it was refused, with file and line."""
        return self.done(lambda: self.import_file(by))

    def import_file(self, by: User) -> Outcome:
        with save_upload(self.cleaned_data["file"]) as file, say_at_file():
            return candidates.load(by=by, path=file.path, name=file.name)


class PairsForm(OptionsForm):
    """Which level stands against which, and how alike the two responses must be."""

    verb, asks = NewPairs, ("kind", "length", "same_form", "near", "each", "seed")
    against = forms.MultipleChoiceField(
        choices=list_matchups, initial=["full-none"], widget=forms.CheckboxSelectMultiple, label="Levels"
    )

    def __init__(self, *args: object, run: CandidateRun | None = None, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.run = run
        self.set("kind", choices=[("", _("all")), *((kind, kind) for kind in queries.kinds() if kind)])

    def make(self, by: User) -> MadePairsDocument | None:
        """What came of it; None if it was refused, with the reason at its field."""
        return self.done(lambda: self.create_pairs(by))

    def create_pairs(self, by: User) -> MadePairsDocument:
        against = [one.split("-") for one in self.cleaned_data["against"]]
        rule = candidates.build_rule(against, **self.arguments("length", "same_form", "near", "each", "seed"))
        return candidates.make_pairs(by=by, rule=rule, run=self.run, **self.arguments("kind"))
