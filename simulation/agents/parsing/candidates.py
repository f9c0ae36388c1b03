"""Candidates and questions from JSONL."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Id = Annotated[str, Field(min_length=1, max_length=200, coerce_numbers_to_str=True)]


class QuestionRecord(BaseModel):
    """A line of a file of questions. Without a profile it is asked of all that are named."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(min_length=1)
    kind: str = Field(default="general", max_length=40)
    profile_id: Id | None = None


class CandidateRecord(BaseModel):
    """A line of a file of candidates. Unknown keys are kept."""

    model_config = ConfigDict(extra="allow")

    profile_id: Id
    question: str = Field(min_length=1)
    kind: str = Field(default="general", max_length=40)
    level: Literal["none", "generic", "full", "over"]
    text: str = Field(min_length=1)
    provider: str = Field(default="imported", max_length=40)
    model: str = Field(default="", max_length=120)

    @property
    def others(self) -> dict[str, Any]:
        """Keys that are not known."""
        return dict(self.model_extra or {})
