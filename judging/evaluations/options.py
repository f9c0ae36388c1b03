"""What the verbs of an evaluation take: begun, asked more, its wrong answers tagged."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from annotation.stats.bands import TIERS
from core.options.model import LARGEST, Choices, Hint, Options
from judging.judges.evaluation_settings import ANSWERS, BM25, CHOICE, MOST, RETRIEVERS, SETTINGS
from judging.runs.models.evaluations import FailureTag
from judging.runs.options import ORDERS, Key, RunOptions

TAGS: dict[str, str] = {str(value): str(label) for value, label in FailureTag.Tag.choices}


class NewEvaluationRuns(RunOptions):
    """Judges and settings: each judge answers in each setting."""

    judges: list[Key] = Field(min_length=1, description="Their ids.")
    settings: list[Annotated[str, Choices(SETTINGS)]] = Field(
        min_length=1, title="Persona information shown", description=f"Among {', '.join(SETTINGS)}."
    )
    answers: Annotated[str, Choices(ANSWERS), Hint(radio=True)] = CHOICE
    retriever: Annotated[str, Choices(RETRIEVERS)] = Field(BM25, title="Retrieval of memories")
    k: Annotated[int, Hint(option="top-k", metavar="K")] = Field(
        5, ge=1, le=MOST, title="Memories", description="The maximum number."
    )
    without: Annotated[list[str], Hint(metavar="FIELD")] = Field(
        [], title="Fields to leave out", description="Fields of the persona, such as preferences or demographics.Age."
    )
    embedder: dict[str, object] | None = Field(
        None, description="model, and base_url, of a server of embeddings, for the retriever endpoint."
    )
    order_policy: Annotated[str, Choices(ORDERS), Hint(option="order", radio=True)] = Field(
        "both", title="Order of the responses"
    )


class NewEvaluation(NewEvaluationRuns):
    """Which cases, and who answers them. What is not named does not narrow the cases."""

    size: Annotated[int | None, Hint(option="cases", metavar="N")] = Field(
        None, ge=1, le=LARGEST, title="Cases", description="As many of each tier as there are. Empty for all."
    )
    tiers: list[Annotated[str, Choices({tier: tier for tier in TIERS})]] = Field([], title="Tiers")
    kinds: list[str] = Field([], title="Kinds")
    split: str = ""
    longest: Annotated[int | None, Hint(metavar="N")] = Field(
        None,
        ge=1,
        le=LARGEST,
        title="Maximum length of a case (characters)",
        description="Counts question and responses. Helps with a slow model; the result states it.",
    )


class Tagging(Options):
    """What one sees in a wrong answer."""

    tags: list[Annotated[str, Choices(TAGS)]]
    note: str = Field("", max_length=500)
