"""What the verbs of runs and imports take."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from annotation.corpus.imports.tables import TABLE_SOURCE
from core.options.model import LARGEST, Choices, Dollars, Hint, Options
from judging.runs.models.runs import JudgeRun
from judging.stats import panels

MOST_REPEATS = 100
ORDERS = dict(JudgeRun.OrderPolicy.choices)
PANEL_METHODS = {
    panels.MAJORITY: "Majority: the value that most members gave; a tie leaves the item unscored",
    panels.MEAN: "Mean: of the members' numbers, and the value of the scale next to it",
    panels.DAWID_SKENE: "Dawid–Skene: learns from all items how each member errs, and weighs the votes by it; needs "
    "three members",
}
ON_ERROR = {
    "stop": "Stop, and keep nothing of the file",
    "skip": "Leave it out, and keep the others",
}
Key = Annotated[int, Field(ge=1, le=LARGEST)]


class Resume(Options):
    """Go on with a run, perhaps with a higher budget."""

    budget_usd: Annotated[Dollars | None, Hint(null=True)] = Field(
        None, title="Budget in US dollars", description="In place of the budget, including what is spent."
    )


class RunOptions(Options):
    """What all runs of a judge take."""

    seed: int = Field(0, ge=0, le=LARGEST, title="Seed", description="The same seed draws the same.")
    budget_usd: Annotated[Dollars | None, Hint(null=True, metavar="USD")] = Field(
        None,
        title="Budget in US dollars",
        description="The run stops itself before it costs more. Empty for none.",
    )
    use_cache: Annotated[bool, Hint(option="no-cache", off="Ignore the cache")] = Field(
        True, description="Otherwise the same question about the same item is not paid for twice."
    )


class StudyRunOptions(RunOptions):
    """What runs on a study take."""

    criteria: Annotated[list[str] | None, Hint(metavar="KEY")] = Field(
        None, title="Criteria", description="Their keys; all if not given."
    )
    in_bulk: Annotated[bool, Hint(option="batch")] = Field(
        False,
        title="Use the batch API",
        description="Half the price, answered within a day. For judges of provider Anthropic.",
    )


class NewRun(StudyRunOptions):
    """A judge over the items of a study."""

    judge: Key = Field(description="Its id.")
    repeats: Annotated[int, Hint(wrong=f"Repeats must be from 1 to {MOST_REPEATS}.")] = Field(
        1,
        ge=1,
        le=MOST_REPEATS,
        title="Repeats",
        description="How often each question is asked. Two or more measure how consistent the judge is.",
    )
    order_policy: Annotated[str, Choices(ORDERS), Hint(radio=True)] = Field("random", title="Order of the responses")
    unit: Annotated[Literal["item", "turn", "response"] | None, Hint(radio=True)] = Field(
        None,
        title="What is judged",
        description="Each by itself: whole items, turns of the assistant, or responses. If not given, responses where "
        "all criteria are asked of each response, else whole items.",
    )
    every_turn: Annotated[bool, Hint(option="turns")] = Field(
        False, description="Ask about every turn of the assistant, not the whole dialogue."
    )


class NewPanel(Options):
    """Finished runs of a study, combined."""

    name: str = Field(min_length=1, max_length=120, title="Name", description="Shown in tables and plots.")
    runs: list[Key] = Field(min_length=1, max_length=100, title="Members")
    method: Annotated[str, Choices(PANEL_METHODS), Hint(radio=True)] = Field(
        panels.MAJORITY, title="How they are combined"
    )


class ImportItems(Options):
    """How the rows of a file are imported by a mapping."""

    source: str = Field(
        TABLE_SOURCE,
        max_length=40,
        title="Source",
        description="Where the ids of dialogues, pairs, profiles and tasks come from. Importing an id of the same "
        "source again updates its record.",
    )
    study: str = Field(
        "",
        max_length=120,
        title="Study",
        description="For labels: the study’s name. A new name makes a study of the items that the file names.",
    )
    judge: str = Field(
        "", max_length=120, title="Judge", description="For a judge's labels: the name under which they are compared."
    )
    on_error: Annotated[str, Choices(ON_ERROR)] = Field("stop", title="If a row cannot be used")
