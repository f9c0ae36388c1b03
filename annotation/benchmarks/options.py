"""What the verbs of a benchmark take: built of votes, audited, cleaned, its cases filtered."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from annotation.stats.benchmarks.audit import BOOTSTRAP
from annotation.stats.benchmarks.filtering import OUTCOMES, USUAL
from annotation.stats.benchmarks.splitting import UNEVEN
from core.options.model import LARGEST, Choices, Hint, Options

MOST_RESAMPLES = 10_000
PREFERENCE = "preference"
TIERS_FROM = {
    "counted": "Counted: the kappa of each case's own votes",
    "model": "Model: the likeliest by the difficulty model of all votes together",
}


class VoteOptions(Options):
    """How votes become tiers."""

    criterion: Annotated[str, Hint(metavar="KEY")] = Field(PREFERENCE, description="The choice between the responses.")
    cuts: str = Field(
        "0.4,0.6,0.8",
        min_length=1,
        title="Thresholds of kappa",
        description="Kappas up to which a case is contested, hard and medium.",
    )
    chance: str = Field("uniform", description="uniform or margins.")
    min_votes: int = Field(
        2, ge=1, le=1000, title="Least number of votes", description="A case with fewer has no gold."
    )
    seed: int = Field(0, ge=0, le=LARGEST, description="Seed of all random choices.")


class NewBenchmark(VoteOptions):
    """How cases are made of a study's votes."""

    study: str = Field(min_length=1, description="Its slug.")
    name: Annotated[str, Hint(positional=True)] = Field(min_length=1, max_length=120)
    version: Annotated[str, Hint(option="version-name", metavar="VERSION")] = Field("1", min_length=1, max_length=40)
    parent: str | None = Field(None, description="The version that this one corrects; by the API, its slug.")
    tiers: Annotated[str, Choices(TIERS_FROM)] = Field("counted", description="A tier set by hand stands above both.")
    agreement_cuts: str = Field(
        "0.6,0.75,0.9",
        title="Thresholds of the model",
        description="Probabilities that two people agree, up to which a case is contested, hard and medium.",
    )
    pooled: Annotated[bool, Hint(option="pool")] = Field(
        False,
        title="Count the votes of all rounds",
        description="Where the texts stayed the same; else the last.",
    )
    splits: dict[str, float] = Field({}, description="Name and share; they sum to 1.")
    split_tolerance: float = Field(
        UNEVEN, ge=0, le=1, description="How far the share of a split may be from the wanted one."
    )
    by_question: bool = Field(False, description="Keep a question in one split too.")
    notes: Annotated[str, Hint(rows=3)] = ""


class AuditOptions(Options):
    """How a benchmark is audited."""

    bootstrap: int = Field(BOOTSTRAP, ge=0, le=MOST_RESAMPLES, description="Resamples.")
    seed: int = Field(0, ge=0, le=LARGEST)


class Cleaning(Options):
    """A version without what rules leave out."""

    rules: list[str] = Field(min_length=1, title="Leave out", description="As the audit page names them.")
    version: str = Field(min_length=1, max_length=40, title="Version name")
    notes: str = ""


class NewRound(VoteOptions):
    """What becomes of each state of the votes; what is not named follows the usual rule."""

    outcomes: dict[str, Annotated[str, Choices({one: one for one in OUTCOMES})]] = Field(
        {}, description=f"By state: {', '.join(USUAL)}."
    )
    name: str = Field("", max_length=120, description="Name of the study that asks again.")
    overlap: Annotated[int | None, Hint(null=True)] = Field(
        None, ge=1, le=1000, title="Annotators per item when asked again"
    )
