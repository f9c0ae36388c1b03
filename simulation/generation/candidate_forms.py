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

from core.accounts.models.users import User
from core.errors import InputError
from core.files.input_files import MEGABYTE, InputFile
from core.files.outcome import Outcome
from core.options.fields import OptionsForm
from judging.judges.services.keys import load_keyring_for
from simulation.agents import services as agents_services
from simulation.agents.models import Agent
from simulation.agents.prompts.candidates import LEVELS
from simulation.generation.models.candidates import CandidateRun
from simulation.generation.options import NewCandidateRun, NewPairs, NewSeedRun
from simulation.generation.queries import candidates as queries
from simulation.generation.services import candidate_runs, candidates, seed_estimates, seed_runs
from simulation.generation.services.candidates import Question
from simulation.generation.services.seed_runs import SeedPlan
from simulation.stats.pairing import PairRule

AGAINST = [(f"{a}-{b}", f"{a} against {b}") for b, a in combinations(LEVELS, 2)]
SIZE = f"At most {settings.MAX_UPLOAD_BYTES // MEGABYTE} MB; the command candidates takes more."


class UploadedForm(OptionsForm):
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

    verb, asks = NewCandidateRun, ("name", "levels", "seed", "budget_usd")
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

    def begin(self, by: User) -> CandidateRun | None:
        """The run, sent to the workers; None if it was refused, with the reason at its field."""
        return self.done(lambda: self.create_run(by))

    def create_run(self, by: User) -> CandidateRun:
        given = self.cleaned_data
        try:
            agent = agents_services.parse_agent(given["agent"], side="assistant", keys=load_keyring_for(by))
        except InputError as error:
            raise InputError(error.message, field="agent") from error
        return candidate_runs.begin(by=by, agent=agent, questions=self.list_questions(), **self.arguments())

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

    verb = NewSeedRun
    asks = ("name", "personas", "specific", "general", "memories", "levels", "seed", "budget_usd")
    file = forms.FileField(label="Seeds", help_text=f"JSONL: id and traits on each line. {SIZE}")
    agent = forms.CharField(
        label="Who writes",
        initial="local",
        help_text="PROVIDER, PROVIDER:MODEL or a name that begins with claude or gpt; parameters as JSON may follow.",
    )
    checker = forms.CharField(
        label="Who checks", required=False, help_text="Another model. Empty: no model checks the responses."
    )
    against = forms.MultipleChoiceField(
        choices=AGAINST, initial=["full-none"], widget=forms.CheckboxSelectMultiple, label="Pairs"
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.set("personas", initial=20)

    def begin(self, by: User) -> CandidateRun | None:
        """The run, sent to the workers; None if it was refused, with the reason at its field."""
        more = self.arguments("name", "seed", "budget_usd")
        return self.done(lambda: seed_runs.begin(by=by, **self.build_plan(by), **more))

    def estimate(self, by: User) -> dict[str, Any] | None:
        """What it would take; None if it was refused."""
        return self.done(lambda: seed_estimates.estimate(**self.build_plan(by)))

    def build_plan(self, by: User) -> dict[str, Any]:
        given = self.cleaned_data
        with save_upload(given["file"]) as file:
            seeds = read_seeds(file)
        against = [one.split("-") for one in given["against"]]
        plan = SeedPlan(seeds, against=against, **self.arguments("personas", "specific", "general", "memories"))
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
        return self.done(lambda: self.import_file(by))

    def import_file(self, by: User) -> Outcome:
        with save_upload(self.cleaned_data["file"]) as file:
            try:
                return candidates.load(by=by, path=file.path, name=file.name)
            except InputError as error:
                raise InputError(str(error), field="file") from error


class PairsForm(OptionsForm):
    """Which level stands against which, and how alike the two responses must be."""

    verb, asks = NewPairs, ("kind", "length", "same_form", "near", "each", "seed")
    against = forms.MultipleChoiceField(
        choices=AGAINST, initial=["full-none"], widget=forms.CheckboxSelectMultiple, label="Levels"
    )

    def __init__(self, *args: Any, run: CandidateRun | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.run = run
        self.set("kind", choices=[("", "all"), *((kind, kind) for kind in queries.kinds() if kind)])

    def make(self, by: User) -> dict[str, Any] | None:
        """What came of it; None if it was refused, with the reason at its field."""
        return self.done(lambda: self.create_pairs(by))

    def create_pairs(self, by: User) -> dict[str, Any]:
        first, second = zip(*(one.split("-") for one in self.cleaned_data["against"]), strict=True)
        against = tuple(zip(first, second, strict=True))
        rule = PairRule(against, **self.arguments("length", "same_form", "near", "each", "seed"))
        return candidates.make_pairs(by=by, rule=rule, run=self.run, **self.arguments("kind"))
