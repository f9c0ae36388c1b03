"""Forms about candidates: a run of them, a file of them, and pairs made of their levels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from annotation.stats.benchmarks.repeats import NEAR
from core.accounts.models.users import User
from core.errors import InputError
from core.files.input_files import MEGABYTE, InputFile
from core.files.outcome import Outcome
from judging.judges.services.keys import load_keyring_for
from judging.runs.forms import SayingForm, dollars
from simulation.agents import services as agents_services
from simulation.agents.models import Agent
from simulation.agents.prompts.candidates import LEVELS
from simulation.experiments.services.experiments import LARGEST_SEED
from simulation.generation.models.candidates import Candidate, CandidateRun
from simulation.generation.queries import candidates as queries
from simulation.generation.services import candidate_runs, candidates, seed_estimates, seed_runs
from simulation.generation.services.candidates import Question
from simulation.generation.services.seed_runs import SeedPlan
from simulation.stats.pairing import PairRule

AGAINST = [(f"{a}-{b}", f"{a} against {b}") for b, a in combinations(LEVELS, 2)]
SIZE = f"At most {settings.MAX_UPLOAD_BYTES // MEGABYTE} MB; the command candidates takes more."


class UploadedForm(SayingForm):
    """A form with a file that may be left out or not."""

    def clean_file(self) -> UploadedFile | None:
        file: UploadedFile | None = self.cleaned_data["file"]
        if file and file.size and file.size > settings.MAX_UPLOAD_BYTES:
            raise forms.ValidationError(SIZE)
        return file


@contextmanager
def save_upload(upload: UploadedFile) -> Iterator[InputFile]:
    """The upload as a file under its own name, gone afterwards."""
    with TemporaryDirectory(prefix="concord-upload-") as folder:
        path = Path(folder) / "upload"
        with path.open("wb") as stream:
            stream.writelines(upload.chunks())
        yield InputFile(path, upload.name or "the file")


class CandidateRunForm(UploadedForm):
    """Who answers which questions of whom, at which levels, and what it may cost."""

    name = forms.CharField(max_length=120, help_text="Of the benchmark to be.")
    agent = forms.CharField(
        label="Who answers",
        initial="local",
        help_text="PROVIDER, PROVIDER:MODEL or a name that begins with claude or gpt; parameters as JSON may follow.",
    )
    profiles = forms.CharField(
        label="Personas", initial="all", required=False, help_text="Ids with commas between, or all."
    )
    questions = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="One on each line; every persona is asked each of them.",
    )
    kind = forms.ChoiceField(
        label="Kind of these questions",
        choices=[("general", "general: for anybody"), ("specific", "specific: about the person's own life")],
    )
    file = forms.FileField(
        label="Or a file of questions",
        required=False,
        help_text=f"JSONL: question, and optionally kind and profile_id, whose question it then is. {SIZE}",
    )
    levels = forms.MultipleChoiceField(
        choices=Candidate.Level.choices, initial=list(LEVELS), widget=forms.CheckboxSelectMultiple
    )
    seed = forms.IntegerField(min_value=0, max_value=LARGEST_SEED, initial=0)
    budget_usd = dollars("Budget in US dollars", help_text="Looked at before every reply. Empty for none.")

    def begin(self, by: User) -> CandidateRun | None:
        """The run, sent to the workers; None if it was refused, with the reason at its field."""
        found: CandidateRun | None = self.done(lambda: self.create_run(by))
        return found

    def create_run(self, by: User) -> CandidateRun:
        given = self.cleaned_data
        try:
            agent = agents_services.parse_agent(given["agent"], side="assistant", keys=load_keyring_for(by))
        except InputError as error:
            raise InputError(error.message, field="agent") from error
        return candidate_runs.begin(
            by=by,
            name=given["name"],
            agent=agent,
            questions=self.list_questions(),
            levels=given["levels"],
            seed=given["seed"],
            budget_usd=given["budget_usd"],
        )

    def list_questions(self) -> list[Question]:
        """The questions of the lines and of the file, each once."""
        given = self.cleaned_data
        people = candidates.people(given["profiles"])
        lines = [line.strip() for line in given["questions"].splitlines() if line.strip()]
        if lines and not people:
            raise InputError("There is nobody to ask for: name personas, or import profiles first.", field="profiles")
        found = [Question(one, line, given["kind"]) for one in people for line in lines]
        if given["file"]:
            with save_upload(given["file"]) as file:
                found += read_questions(file, people)
        if not found:
            raise InputError("Write at least one question, or give a file of them.", field="questions")
        return list(dict.fromkeys(found))


def read_questions(file: InputFile, people: Any) -> list[Question]:
    """The questions of a file; what is wrong with it is said at the file."""
    try:
        return candidates.read_questions(file, people)
    except InputError as error:
        raise InputError(str(error), field="file") from error


class SeedRunForm(UploadedForm):
    """A file of seeds, how much is made of it, by whom, and what it may cost."""

    name = forms.CharField(max_length=120, help_text="Of the benchmark to be.")
    file = forms.FileField(label="Seeds", help_text=f"JSONL: id and traits on each line. {SIZE}")
    agent = forms.CharField(
        label="Who writes",
        initial="local",
        help_text="PROVIDER, PROVIDER:MODEL or a name that begins with claude or gpt; parameters as JSON may follow.",
    )
    checker = forms.CharField(
        label="Who checks", required=False, help_text="Another model. Empty: no model checks the responses."
    )
    personas = forms.IntegerField(
        min_value=1,
        max_value=seed_runs.MOST,
        initial=20,
        help_text="The first are the seeds as they stand; the others combine their traits.",
    )
    specific = forms.IntegerField(min_value=0, initial=5, label="Questions of each persona")
    general = forms.IntegerField(min_value=0, initial=5, label="Questions that every persona is asked")
    memories = forms.IntegerField(min_value=0, initial=6, label="Memories of each persona")
    levels = forms.MultipleChoiceField(
        choices=Candidate.Level.choices, initial=["none", "generic", "full"], widget=forms.CheckboxSelectMultiple
    )
    against = forms.MultipleChoiceField(
        choices=AGAINST, initial=["full-none"], widget=forms.CheckboxSelectMultiple, label="Pairs"
    )
    seed = forms.IntegerField(min_value=0, max_value=LARGEST_SEED, initial=0)
    budget_usd = dollars("Budget in US dollars", help_text="Looked at before every reply. Empty for none.")

    def begin(self, by: User) -> CandidateRun | None:
        """The run, sent to the workers; None if it was refused, with the reason at its field."""
        more = {name: self.cleaned_data[name] for name in ("name", "seed", "budget_usd")}
        found: CandidateRun | None = self.done(lambda: seed_runs.begin(by=by, **self.build_plan(by), **more))
        return found

    def estimate(self, by: User) -> dict[str, Any] | None:
        """What it would take; None if it was refused."""
        found: dict[str, Any] | None = self.done(lambda: seed_estimates.estimate(**self.build_plan(by)))
        return found

    def build_plan(self, by: User) -> dict[str, Any]:
        given = self.cleaned_data
        with save_upload(given["file"]) as file:
            seeds = read_seeds(file)
        names = ("personas", "specific", "general", "memories")
        against = [one.split("-") for one in given["against"]]
        plan = SeedPlan(seeds, against=against, **{name: given[name] for name in names})
        sides = {name: find_agent(given[name], name, by) for name in ("agent", "checker")}
        return {"plan": plan, "levels": given["levels"], **sides}


def read_seeds(file: InputFile) -> list[dict[str, Any]]:
    """The seeds of a file; what is wrong with it is said at the file."""
    try:
        return seed_runs.read_seeds(file)[0]
    except InputError as error:
        raise InputError(str(error), field="file") from error


def find_agent(text: str, field: str, by: User) -> Agent | None:
    """The agent of a short text, None where there is none; what is wrong with it is said at its field."""
    try:
        return agents_services.parse_agent(text, side="assistant", keys=load_keyring_for(by)) if text.strip() else None
    except InputError as error:
        raise InputError(error.message, field=field) from error


class CandidateFileForm(UploadedForm):
    """Candidates from elsewhere."""

    file = forms.FileField(
        label="File",
        allow_empty_file=True,
        help_text=f"JSONL: profile_id, question, level, text; optionally kind, provider, model. {SIZE}",
    )

    def load(self, by: User) -> Outcome | None:
        """What the import did; None if it was refused, with file and line."""
        found: Outcome | None = self.done(lambda: self.import_file(by))
        return found

    def import_file(self, by: User) -> Outcome:
        with save_upload(self.cleaned_data["file"]) as file:
            try:
                return candidates.load(by=by, path=file.path, name=file.name)
            except InputError as error:
                raise InputError(str(error), field="file") from error


class PairsForm(SayingForm):
    """Which level stands against which, and how alike the two responses must be."""

    against = forms.MultipleChoiceField(
        choices=AGAINST, initial=["full-none"], widget=forms.CheckboxSelectMultiple, label="Levels"
    )
    kind = forms.ChoiceField(required=False, label="Kind of questions")
    length = forms.FloatField(
        min_value=0,
        max_value=1,
        initial=0,
        label="Least share of the longer one's characters",
        help_text="That the shorter response has. 0 for any length; 0.8 keeps length from telling which is better.",
    )
    same_form = forms.BooleanField(
        required=False, label="Same form", help_text="Both have lists, headings or bold words, or neither has."
    )
    near = forms.FloatField(
        min_value=1,
        max_value=100,
        initial=NEAR,
        label="Nearly the same from",
        help_text="Percent of similarity from which two responses, or two pairs of a question, are one too many.",
    )
    each = forms.IntegerField(
        min_value=0, initial=1, label="Pairs of two levels for a question", help_text="0 for as many as there are."
    )
    seed = forms.IntegerField(min_value=0, max_value=LARGEST_SEED, initial=0, help_text="Of order and sides.")

    def __init__(self, *args: Any, run: CandidateRun | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.run = run
        kinds = [(kind, kind) for kind in queries.kinds() if kind]
        self.fields["kind"].choices = [("", "all"), *kinds]  # type: ignore[attr-defined]

    def make(self, by: User) -> dict[str, Any] | None:
        """What came of it; None if it was refused, with the reason at its field."""
        found: dict[str, Any] | None = self.done(lambda: self.create_pairs(by))
        return found

    def create_pairs(self, by: User) -> dict[str, Any]:
        given = self.cleaned_data
        first, second = zip(*(one.split("-") for one in given["against"]), strict=True)
        rule = PairRule(
            tuple(zip(first, second, strict=True)),
            given["length"],
            given["same_form"],
            given["near"],
            given["each"],
            given["seed"],
        )
        return candidates.make_pairs(by=by, rule=rule, kind=given["kind"], run=self.run)
