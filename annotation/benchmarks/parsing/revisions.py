"""Revisions of pairs from JSONL: `{"id": "pair1", "response_1": "…", "response_2": "…", "reason": "…"}` a line."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, model_validator

from core.files.checking import read_jsonl
from core.files.input_files import InputFile
from core.files.problems import Problems


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


def read(file: InputFile) -> list[RevisionRecord]:
    """The revisions of a file. InputError with file, line and field for the first bad one."""
    return [record for _, record in read_jsonl(file, RevisionRecord, Problems("stop"), id_of=lambda one: one.id)]
