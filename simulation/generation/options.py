"""What the verbs of generation take: material ordered, conflicts decided, candidates run and paired."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from annotation.stats.benchmarks.repeats import NEAR
from core.options.model import LARGEST, Choices, Dollars, Hint, Options
from simulation.agents.prompts.generation import GENERATORS, LEVELS
from simulation.agents.services import AgentOptions, Prompt
from simulation.generation.models import Candidate, ConflictReview, Making

MOST_TASKS = 20
MOST = 10_000

Key = Annotated[int, Field(ge=1, le=LARGEST)]
Level = Annotated[str, Choices(dict(Candidate.Level.choices))]
Matchup = Annotated[list[Level], Field(min_length=2, max_length=2)]


class NewMaking(Options):
    """An order of material. What each kind needs, the service says."""

    makes_root: ClassVar[bool] = True

    kind: Annotated[str, Choices(dict(Making.Kind.choices))] = Field(title="What to generate")
    agent: AgentOptions
    source: str = Field(
        "personalens",
        title="Preference types",
        description="The source whose preference types were imported with import_schema.",
    )
    domains: Annotated[list[str], Hint(metavar="DOMAIN")] = Field(
        [],
        title="Domains",
        description="Empty: a profile gets the domains that it cares for, and each task has several.",
    )
    demographics: Annotated[dict[str, object] | None, Hint(rows=2)] = Field(
        None,
        title="Demographics",
        description='For a whole profile: JSON such as {"age": "35-44", "country": "Norway"}.',
    )
    profile: Annotated[Key | None, Hint(null=True)] = None
    task: Annotated[Key | None, Hint(null=True)] = None
    n: int = Field(1, ge=1, le=MOST_TASKS, title="How many tasks")
    seed: int = Field(0, ge=0, le=LARGEST)
    prompts: Annotated[dict[str, Prompt], Hint(rows=2)] = Field(
        {},
        title="Prompts of your own",
        description=f"JSON with texts by name, in place of Concord's own: {', '.join(GENERATORS)}.",
    )


class ConflictDecision(Options):
    """What a person decides of a conflict."""

    decision: Annotated[
        str,
        Choices(dict(ConflictReview.Decision.choices)),
        Hint(radio=True, wrong="{input!r} is not one of {known}."),
    ] = Field(title="Decision")
    note: str = Field("", max_length=1000, title="Note")


class RunOptions(Options):
    """What every run of candidates takes."""

    makes_root: ClassVar[bool] = True

    name: str = Field(min_length=1, max_length=120, description="Name of the future benchmark.")
    agent: AgentOptions
    seed: int = Field(0, ge=0, le=LARGEST)
    budget_usd: Annotated[Dollars | None, Hint(metavar="USD", null=True)] = Field(
        None, title="Budget in US dollars", description="Checked before every request. Empty for none."
    )


class Asked(Options):
    """A question of one profile."""

    profile: Key
    question: str = Field(min_length=1)
    kind: str = Field("general", min_length=1, max_length=40)


class NewCandidateRun(RunOptions):
    """Who answers which questions of whom, at which levels, and what it may cost."""

    questions: list[Asked] = Field(min_length=1)
    levels: list[Level] = Field(list(LEVELS), min_length=1)


class Seed(Options):
    """Traits from which personas are made."""

    id: str = Field(min_length=1, max_length=100)
    traits: dict[str, object] = Field(min_length=1, description="Trait to value, or to a list of values.")


class NewSeedRun(RunOptions):
    """Personas from seeds, their questions and memories, responses to them, checks by a judge, and pairs."""

    checker: Annotated[AgentOptions | None, Hint(null=True)] = Field(
        None, description="The model that checks responses; null for none."
    )
    seeds: list[Seed] = Field(min_length=1)
    personas: int = Field(
        ge=1, le=MOST, description="The first are the seeds as they stand; the others combine their traits."
    )
    specific: int = Field(5, ge=0, le=MOST, title="Questions of each persona")
    general: int = Field(5, ge=0, le=MOST, title="Questions that every persona is asked")
    questions: list[str] = Field([], description="General questions that are given; others are made.")
    memories: int = Field(6, ge=0, le=MOST, title="Memories of each persona")
    against: list[Matchup] = Field([["full", "none"]], min_length=1, description='Such as [["full", "none"]].')
    levels: list[Level] = Field(["none", "generic", "full"], min_length=1)
    estimate: bool = Field(False, description="Say what it would take, and start nothing.")


class PairOptions(Options):
    """How alike two responses must be to make a pair."""

    length: float = Field(
        0.0,
        ge=0,
        le=1,
        title="Minimum length ratio",
        description="Characters of the shorter response over those of the longer. 0 allows any; 0.8 keeps length from "
        "telling which is better.",
    )
    same_form: bool = Field(
        False, title="Same form", description="Both have lists, headings or bold words, or neither has."
    )
    near: float = Field(
        NEAR,
        ge=0,
        le=100,
        title="Near-duplicates from",
        description="Similarity in percent from which two responses, or two pairs of a question, are near-duplicates.",
    )
    each: int = Field(
        1,
        ge=0,
        le=MOST,
        title="Pairs of two levels for a question",
        description="0 for as many as there are.",
    )


class NewPairs(PairOptions):
    """Which level stands against which, and how alike two responses must be."""

    against: list[Matchup] = Field(min_length=1, description='Such as [["full", "none"]].')
    run: Key | None = Field(None, description="Candidates of this run only.")
    kind: str = Field("", title="Kind of questions")
    seed: int = Field(0, ge=0, le=LARGEST, description="Seed of the order and of the sides.")
