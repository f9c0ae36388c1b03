"""What the verbs of an experiment take: started, and its dialogues sent to people and judges."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from core.options.model import LARGEST, Choices, Dollars, Hint, Options
from simulation.agents.prompts import PUBLISHED, STRATEGIES, USER_INFORMATION
from simulation.agents.prompts.roles import KINDS, ROLES, STEPS
from simulation.agents.services import AgentOptions, Prompt

MOST_TURNS = 200
MOST_PASSAGES = 50
PUBLISHED_SAMPLE = 100
"""The human check of PersonaLens: so many dialogues drawn at random, rated by three people."""

RANDOM, STRATIFIED = "random", "stratified"
DRAWS = {
    RANDOM: "At random: the human check of PersonaLens",
    STRATIFIED: "Spread over the judge's scores, and weighted",
}
"""How dialogues are drawn for people."""

Exchanges = Annotated[int | None, Field(ge=1, le=MOST_TURNS)]
Turns = Annotated[int | None, Field(ge=2, le=MOST_TURNS)]


class NewExperiment(Options):
    """Who plays, who is under test, what each is told, and how far it may go."""

    makes_root: ClassVar[bool] = True

    name: str = Field(min_length=1, max_length=120, title="Name")
    user_agent: AgentOptions
    assistants: list[AgentOptions] = Field(min_length=1)
    conditions: list[str] = Field(
        min_length=1,
        title="Conditions: what the assistant knows of the user",
        description=f"{', '.join(PUBLISHED)}; base+I-KIND-STEP of {', '.join(KINDS)} and {STEPS}.",
    )
    users: str = Field(
        "10", min_length=1, title="Users", description="A number to draw at random, ids separated by commas, or all."
    )
    tasks: str = Field(
        "single 4, multi 1",
        min_length=1,
        title="Tasks",
        description="A number to draw, ids with commas, all, single or multi; the last two also with a number. What a "
        "user does not care for is left out.",
    )
    source: str = Field("", title="Dataset", description="Whose profiles and tasks, where there are several sources.")
    strategy: Annotated[
        str,
        Choices({key: f"{key.replace('_', ' ').capitalize()}: {says}" for key, says in STRATEGIES.items()}),
        Hint(radio=True),
    ] = Field("vanilla", title="Strategy of the user agent")
    user_information: str = Field(
        "",
        title="Information given to the user agent",
        description=f"{' or '.join(USER_INFORMATION)}. Empty: faithful for PersonaLens, else task_preferences.",
    )
    prompts: dict[str, Prompt] = Field({}, description=f"Texts in place of Concord's own, by role: {', '.join(ROLES)}.")
    seed: int = Field(0, ge=0, le=LARGEST, title="Seed", description="The same seed draws the same.")
    single_exchanges: Annotated[Exchanges, Hint(option="max-exchanges", metavar="N", null=True)] = Field(
        None,
        title="Maximum exchanges, one domain",
        description="20 if no limit is given. An exchange is a reply of the assistant and one of the user, after the "
        "user’s first message.",
    )
    multi_exchanges: Annotated[Exchanges, Hint(option="max-exchanges-multi", metavar="N", null=True)] = Field(
        None, title="Maximum exchanges, several domains", description="30 if no limit is given."
    )
    single_turns: Annotated[Turns, Hint(option="max-turns", metavar="N", null=True)] = Field(
        None, description="In place of exchanges: messages of both sides, without a closing reply."
    )
    multi_turns: Annotated[Turns, Hint(option="max-turns-multi", metavar="N", null=True)] = Field(
        None, description="The same for several domains."
    )
    passages: int = Field(
        3,
        ge=1,
        le=MOST_PASSAGES,
        title="Passages retrieved for a turn",
        description="For conditions with retrieval.",
    )
    embedder: Annotated[str, Hint(metavar="MODEL")] = Field(
        "",
        title="Embedding model",
        description="For retrieval by embeddings: openai_compatible:MODEL. Parameters may follow as JSON.",
    )
    budget_usd: Annotated[Dollars | None, Hint(metavar="USD", null=True)] = Field(
        None,
        title="Budget in US dollars",
        description="The experiment stops itself before it costs more. Empty for none.",
    )


class ForPeople(Options):
    """A sample of an experiment's dialogues for people."""

    n: int = Field(
        PUBLISHED_SAMPLE, ge=1, le=LARGEST, title="Dialogues for people", description="Three people rate each."
    )
    draw: Annotated[str, Choices(DRAWS), Hint(wrong="{input!r} is not one of {known}.")] = Field(
        RANDOM, title="Sampling"
    )
