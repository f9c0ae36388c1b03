"""A released benchmark as files: the layout of PersonaFeedback with what Concord knows besides; and revisions of pairs.

`{kind}/{tier}.jsonl` holds the cases, each with `user_id`, `question`, `chosen` and `reject` as published, and with its
votes, kappa, split and history; `excluded.jsonl` those that no model is scored on; `persona/` the personas as
published, `personas.jsonl` the same with all their fields; `benchmark.json` says what belongs together.
"""

from __future__ import annotations

import hashlib
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from core.files.input_files import InputFile, Problems, check_value, parse_document, read_document, read_jsonl

FORMAT = "concord-benchmark/1"
MANIFEST = "benchmark.json"
PERSONAS = "personas.jsonl"
EXCLUDED = "excluded.jsonl"
CHUNK = 1024 * 1024

Id = Annotated[str, Field(min_length=1, max_length=200)]
Source = Annotated[str, Field(min_length=1, max_length=40)]
Number = int | float
TierName = Literal["easy", "medium", "hard", "contested"]
Sha = Annotated[str, Field(min_length=64, max_length=64)]


class VoteCounts(BaseModel):
    """How many people chose response 1, response 2 and neither."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    one: int = Field(alias="1", ge=0, le=32_767)
    two: int = Field(alias="2", ge=0, le=32_767)
    tie: int = Field(default=0, ge=0, le=32_767)

    @property
    def is_tied(self) -> bool:
        """Whether two answers or more share the first place."""
        counts = (self.one, self.two, self.tie)
        return max(counts) > 0 and counts.count(max(counts)) > 1


class ReleasedCase(BaseModel):
    """A line of a file of cases. `gold` says which of the pair's responses `chosen` is."""

    model_config = ConfigDict(extra="forbid")

    user_id: str | None = None
    question: str = Field(min_length=1)
    chosen: str | None = None
    reject: str | None = None
    response_1: str | None = None
    response_2: str | None = None
    id: Id
    source: Source
    gold: Literal["", "1", "2"]
    kind: str = Field(default="", max_length=40)
    tier: Literal["", "easy", "medium", "hard", "contested"] = ""
    votes: VoteCounts | None = None
    kappa: float | None = Field(default=None, le=1, allow_inf_nan=False)
    split: str = Field(default="", max_length=16)
    excluded_reason: str = ""
    history: list[dict[str, object]] = []
    context: str = ""
    model_1: str = Field(default="", max_length=120)
    model_2: str = Field(default="", max_length=120)
    pair_kind: str = Field(default="", max_length=40)
    source_tier: str = Field(default="", max_length=16)
    source_label: Literal["", "1", "2", "tie"] = ""
    extra: dict[str, object] = {}
    content_hash: Sha

    @model_validator(mode="after")
    def check_consistency(self) -> ReleasedCase:
        if self.gold and (self.chosen is None or self.reject is None):
            raise ValueError("a case with gold has a chosen and a reject")
        if not self.gold and (self.response_1 is None or self.response_2 is None):
            raise ValueError("a case without gold has a response_1 and a response_2")
        if not self.gold and not self.excluded_reason:
            raise ValueError("a case without gold needs an excluded_reason")
        one, two = self.responses
        if one == two:
            raise ValueError("the chosen and the rejected response are the same")
        decided = any(step.get("step") == "adjudicated" for step in self.history)
        if self.gold and not self.excluded_reason and self.votes and self.votes.is_tied and not decided:
            raise ValueError("the votes are tied and nobody decided, but there is a gold")
        return self

    @property
    def responses(self) -> tuple[str, str]:
        """Response 1 and response 2 of the pair."""
        chosen, reject = self.chosen or "", self.reject or ""
        if not self.gold:
            return self.response_1 or "", self.response_2 or ""
        return (chosen, reject) if self.gold == "1" else (reject, chosen)


class ReleasedPersona(BaseModel):
    """A line of `personas.jsonl`: a profile with all its fields. `user_id` is what cases call it."""

    model_config = ConfigDict(extra="forbid")

    user_id: Id
    id: Id
    source: Source
    content_hash: Sha
    name: str = Field(default="", max_length=200)
    persona: str = ""
    demographics: dict[str, object] = {}
    preferences: dict[str, object] = {}
    interests: dict[str, object] = {}
    interactions: dict[str, object] = {}
    memories: list[object] = []
    extra: dict[str, object] = {}


class ReleasedFile(BaseModel):
    """A file of the release: where it lies, how many records it has, and their hash."""

    model_config = ConfigDict(extra="forbid")

    path: str = Field(min_length=1)
    records: int = Field(ge=0)
    sha256: Sha

    @field_validator("path")
    @classmethod
    def stays_inside(cls, path: str) -> str:
        if path.startswith(("/", "\\")) or ".." in path.replace("\\", "/").split("/"):
            raise ValueError("leads out of the folder")
        return path


class TierCount(BaseModel):
    """The cases of one counted tier: how many, and how many of each tier the difficulty model expects among them."""

    model_config = ConfigDict(extra="allow")

    counted: str
    n: int = Field(ge=0)
    expected: dict[TierName, Number]


class ModelTiers(BaseModel):
    """How sure the tiers are that the difficulty model made."""

    model_config = ConfigDict(extra="allow")

    method: str
    n_cases: int = Field(ge=0)
    sure: Number
    clear: int = Field(ge=0)
    clear_from: Number
    expected: dict[TierName, Number]
    intervals: dict[TierName, tuple[Number, Number]]
    by_counted: list[TierCount]


class Made(BaseModel):
    """How the benchmark was made: what pages, datasheet and card read of it is checked, the rest kept as it stands."""

    model_config = ConfigDict(extra="allow")

    how: str = ""
    with_tie: bool = False
    question: str = ""
    guideline: str = ""
    annotators: dict[str, int] = {}
    known_issues: list[str] = []
    parent: dict[str, str] = {}
    agreement_cuts: list[Number] = []
    model: ModelTiers | None = None

    @model_validator(mode="after")
    def has_the_cuts_of_its_tiers(self) -> Made:
        if self.model and not self.agreement_cuts:
            raise ValueError("the model's tiers have no agreement_cuts")
        return self


class Manifest(BaseModel):
    """`benchmark.json`."""

    model_config = ConfigDict(extra="ignore")

    format: Literal["concord-benchmark/1"]
    name: str = Field(min_length=1, max_length=120)
    version: str = Field(min_length=1, max_length=40)
    notes: str = ""
    made: Made = Made()
    input_hash: str = Field(default="", max_length=64)
    code_version: str = Field(default="", max_length=64)
    released_at: datetime
    digest: Sha
    cases: list[ReleasedFile] = Field(min_length=1)
    personas: ReleasedFile


def is_release(folder: Path) -> bool:
    """Return whether the folder holds a release of Concord's."""
    return (folder / MANIFEST).is_file()


def read_manifest(root: InputFile) -> Manifest:
    """Read what belongs to the release. InputError with file, line and field where that is not said well."""
    file = InputFile(root.path / MANIFEST, f"{root.name}/{MANIFEST}")
    data = read_document(file)
    return check_value(file, data, [], parse_document(file, data), Manifest)


def file_of(root: InputFile, listed: ReleasedFile) -> InputFile:
    """Read a file of the release whose content is what the manifest says."""
    file = InputFile(root.path / listed.path, f"{root.name}/{listed.path}")
    if sha256_of(file) != listed.sha256:
        raise file.error(f"is not the file that {MANIFEST} names: its SHA-256 is another one")
    return file


def sha256_of(file: InputFile) -> str:
    """Hash the file's bytes, in hexadecimal."""
    digest = hashlib.sha256()
    try:
        with file.path.open("rb") as stream:
            while part := stream.read(CHUNK):
                digest.update(part)
    except FileNotFoundError:
        raise file.error("does not exist") from None
    except OSError as error:
        raise file.error(f"cannot be read: {error.strerror}") from error
    return digest.hexdigest()


class RevisionRecord(BaseModel):
    """A line. A response that is left out stays as it is."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(min_length=1, max_length=200, coerce_numbers_to_str=True)
    response_1: str | None = None
    response_2: str | None = None
    reason: str = Field(min_length=1)

    @model_validator(mode="after")
    def changes_something(self) -> RevisionRecord:
        if self.response_1 is None and self.response_2 is None:
            raise ValueError("revises neither response_1 nor response_2")
        return self


def read_revisions(file: InputFile) -> list[RevisionRecord]:
    """Read the revisions of a file. InputError with file, line and field for the first bad one."""
    return [record for _, record in read_jsonl(file, RevisionRecord, Problems("stop"), id_of=lambda one: one.id)]
