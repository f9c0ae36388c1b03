"""What the verbs of a study take: made, drawn into, given people, clustered, and its guidelines edited."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

from django.utils.translation import gettext_noop
from pydantic import Field, model_validator

from annotation.studies.criteria import TEMPLATES, default_keys
from annotation.studies.models.studies import Study
from annotation.studies.queries.context import PARTS
from annotation.studies.queries.dependence import LONGEST, NAMED
from annotation.studies.queries.sampling_frame import STRATA
from core.errors import InputError
from core.options.model import LARGEST, Choices, Hint, Options

LARGEST_OVERLAP = 1000
LONGEST_TEXT = 50_000
"""Characters of a guideline, and of the reason for its edit."""

METHODS = {
    "all": "All eligible items",
    "simple": "Simple random sample",
    "stratified": "Stratified random sample",
}
ALLOCATIONS = {"proportional": "in proportion to their sizes", "equal": "evenly"}
CLUSTERING = gettext_noop(
    "Items of a cluster depend on each other. Empty: by profile, else by question. Or one of none, {names}, or a key "
    "of the items' source."
)
STRATIFIED = gettext_noop("Only for a stratified sample: fields among {fields}.")
ClusteringName = Annotated[str, Field(title="Cluster items by", max_length=LONGEST)]


class NewStudy(Options):
    """A kind of item, the criteria asked of each, and how many people rate it."""

    makes_root: ClassVar[bool] = True

    name: Annotated[str, Hint(positional=True)] = Field(min_length=1, max_length=120)
    kind: Annotated[str, Choices(dict(Study.Kind.choices))]
    criteria: list[str] | None = Field(
        None, min_length=1, description=f"Among {', '.join(TEMPLATES)}. If not given: the published ones of the kind."
    )
    rubric: dict[str, object] | None = Field(
        None,
        title="Rubric",
        description="Criteria of your own, in place of those named: name, kind and a list of criteria.",
    )
    overlap: int = Field(
        3,
        ge=1,
        le=LARGEST_OVERLAP,
        title="Annotators per item",
        description="Agreement needs at least 2; three is usual.",
    )
    most_overlap: Annotated[int | None, Hint(metavar="N", null=True)] = Field(
        None,
        ge=2,
        le=LARGEST_OVERLAP,
        title="Annotators per item at most",
        description="Adaptive overlap: items whose tier is unclear are asked about again, up to this number. It needs "
        "20 items or more and scales of at most 20 categories. Empty: every item gets the same number.",
    )
    shown: list[str] | None = Field(
        None,
        title="Context that annotators see",
        description=f"Among {', '.join(PARTS['dialogue'])}. Never shown: models, condition, labels, judges.",
    )
    each_turn: Annotated[list[str], Hint(metavar="KEY")] = Field(
        [], title="Rated turn by turn", description="The other criteria are asked of the whole dialogue."
    )
    allow_tie: bool = Field(False, title="Allow a tie")
    asks_strength: bool = Field(False, title="Ask whether a response is much or slightly better")
    content_form: Annotated[str, Choices(dict(Study.ContentForm.choices)), Hint(radio=True)] = Field(
        Study.ContentForm.RENDERED.value, title="How texts are shown", description="Exported with the labels."
    )
    seed: int = Field(
        0,
        ge=0,
        le=LARGEST,
        title="Seed of the study",
        description="Draws the order of items, and which response is A.",
    )
    clustering: Annotated[ClusteringName, Hint(option="cluster", metavar="NAME")] = Field(
        "",
        description="Items of a cluster depend on each other. Empty: by profile, else by question. Or none, a grouping "
        "such as domain, or a key of the items' source.",
    )
    description: str = ""
    instructions: Annotated[str, Hint(rows=3)] = Field("", description="Shown to annotators beside the guidelines.")

    @model_validator(mode="after")
    def fill_criteria(self) -> Self:
        if self.rubric is None:
            self.criteria = self.criteria or default_keys(self.kind)
        elif self.criteria:
            raise InputError("Name criteria or give a rubric, not both.", field="criteria")
        return self


class Clustering(Options):
    """What dependent items of a study share."""

    clustering: Annotated[ClusteringName, Hint(positional=True, metavar="name")] = Field(
        description=CLUSTERING.format(names=", ".join(NAMED)),
    )


class NewSample(Options):
    """How items are drawn from the corpus into a study."""

    method: Annotated[str | None, Choices(METHODS), Hint(radio=True)] = Field(
        None, title="Which items", description="Stratified where strata are named, simple with a size, else all."
    )
    size: Annotated[int | None, Hint(null=True)] = Field(
        None, ge=1, le=LARGEST, title="How many items", description="Not needed when all are taken."
    )
    strata: list[str] = Field(
        [],
        description=STRATIFIED.format(fields=", ".join(dict.fromkeys(sum(STRATA.values(), ())))),
    )
    filters: dict[str, list[str]] = Field({}, description="Field to its values.")
    allocation: Annotated[str, Choices(ALLOCATIONS)] = "proportional"
    seed: int = Field(
        0, ge=0, le=LARGEST, title="Seed of the draw", description="The same seed draws the same items again."
    )
    predicted_from: Annotated[str | None, Hint(metavar="STUDY")] = Field(
        None, description="Study whose labels the stratum predicted_tier is predicted from."
    )
    predicted_criterion: Annotated[str | None, Hint(metavar="KEY")] = Field(
        None, description="Its criterion; the first by default."
    )

    @model_validator(mode="after")
    def fill_method(self) -> Self:
        self.method = self.method or ("stratified" if self.strata else "simple" if self.size is not None else "all")
        return self


class People(Options):
    """People to add to a study."""

    annotators: list[str] = Field(min_length=1, title="People", description="Usernames.")


class RubricDraft(Options):
    """A rubric that is only looked at."""

    rubric: dict[str, object] = Field(description="As a rubric file in JSON: name, kind and a list of criteria.")


class RubricChange(RubricDraft):
    """All criteria of a study, as a rubric says them, in place of those that it asks now."""

    reason: Annotated[str, Hint(rows=2)] = Field(
        "",
        max_length=LONGEST_TEXT,
        title="Why",
        description="Needed once labels rest on the rubric; annotators read it beside what changed.",
    )


class Edit(Options):
    """A new text of a criterion. What is not given stays as it is; categories are all of the scale, in its order."""

    question: Annotated[str | None, Hint(rows=2)] = Field(None, min_length=1, max_length=LONGEST_TEXT)
    guideline: Annotated[str | None, Hint(rows=6)] = Field(None, max_length=LONGEST_TEXT)
    categories: list[dict[str, str]] | None = None
    reason: Annotated[str, Hint(rows=2)] = Field(
        min_length=1, max_length=LONGEST_TEXT, title="Why", description="Annotators read it beside what changed."
    )
