"""What the verbs of an assessment take: probes, cascades, plans of labels, held-out parts, versions of judges."""

from __future__ import annotations

from typing import Annotated, get_args

from pydantic import AfterValidator, Field, StringConstraints

from annotation.agreement.options import AgreementOptions
from annotation.studies.queries.items import GROUPINGS
from core.options.model import LARGEST, Choices, Hint, Options
from judging.judges.prompts.alterations import ALTERATIONS
from judging.judges.services.examples import MOST
from judging.runs.options import Key, StudyRunOptions
from judging.stats.calibrate import TARGETS
from judging.stats.calibration import MapName
from judging.stats.multiplicity import Method

LEAST_ITEMS, USUAL_ITEMS, MOST_ITEMS = 10, 60, 100_000
"""Of a probe. Fewer items answer none."""

MOST_JUDGES = 5
LAST_VERSION = 32_767
VERDICTS, SCORES = "verdict", "score"
BETWEEN = "must be between 0 and 1, for example 0.95"


def check_share(value: float) -> float:
    if not 0 < value < 1:
        raise ValueError("must be between 0 and 1, for example 0.9 or 0.05")
    return value


def check_targets(values: tuple[float, ...]) -> tuple[float, ...]:
    if not values or not all(0 < value < 1 for value in values):
        raise ValueError("must be numbers between 0 and 1, for example 0.9")
    return values


Share = Annotated[float, AfterValidator(check_share)]
Overlap = Annotated[int, Field(ge=1, le=1000, title="People per item")]
Seed = Annotated[
    int,
    Field(ge=0, le=LARGEST, title="Seed", description="The same seed draws the same."),
    Hint(wrong=f"must be between 0 and {LARGEST}"),
]
WholeText = Annotated[str, StringConstraints(strip_whitespace=False)]


class ProbeOptions(StudyRunOptions):
    """What a run on altered copies of items is to be."""

    alterations: Annotated[list[str], Hint(metavar="NAME")] = Field(
        [],
        title="Alterations",
        description=f"Names or families; by default all that fit the items: {', '.join(ALTERATIONS)}.",
    )
    n: Annotated[int, Hint(wrong=f"A probe needs {LEAST_ITEMS} to {MOST_ITEMS} items.")] = Field(
        USUAL_ITEMS,
        ge=LEAST_ITEMS,
        le=MOST_ITEMS,
        title="Items",
        description="Randomised; all of them where there are no more. More items detect smaller effects.",
    )


class NewProbe(ProbeOptions):
    """A judge on altered copies of items, for audits."""

    judge: Key = Field(description="Its id.")


class CascadeOptions(Options):
    """The agreement with people that a cascade promises, and the probability with which that may fail."""

    target: Share = Field(default=0.9, description="Agreement to be guaranteed.")
    delta: Share = Field(default=0.05, description="Probability that the guarantee fails.")


class CascadeQuery(CascadeOptions):
    """The same, and which judges."""

    judges: str = Field(description="Ids of two to five judges in their order, separated by commas.")


class NewCascade(CascadeOptions):
    """A study of what a cascade leaves to people."""

    judges: list[Key] = Field(
        min_length=2, max_length=MOST_JUDGES, description="Ids, in the order in which they are asked."
    )
    name: str = Field("", max_length=120, description="Name of the new study.")
    overlap: Overlap = 3


class NewEscalation(Options):
    """A study of what a judge is unsure of."""

    name: str = Field("", max_length=120, title="Name of the new study")
    target: float = Field(0.9, title="Target agreement", description="Agreement to be guaranteed.")
    overlap: Overlap = 3


class NewHoldOut(Options):
    """A part of the items that is kept from the development of judges."""

    share: Share = Field(0.5, title="Share to hold out", description="Of the clusters; between 0 and 1.")
    seed: Seed = 0


class PlanOptions(Options):
    """How narrow the mean of which criterion has to be."""

    criterion: Annotated[str, Hint(metavar="KEY")] = Field(min_length=1, title="Criterion")
    width: Annotated[float, Hint(wrong="must be between 0.0001 and 1e18")] = Field(
        ge=0.0001,
        le=1e18,
        title="Width of the interval",
        description="From end to end, in units of the scale; of a rate, 0.1 is ten points.",
    )
    by: str = Field("", title="Allocate by", description="Groups in which the judge errs more get more labels.")
    confidence: Annotated[float, Hint(wrong=BETWEEN)] = Field(0.95, ge=0.5, le=0.999, title="Confidence")
    seed: Seed = 0


class NewPlanned(PlanOptions):
    """A study of the items that a plan draws."""

    name: str = Field(min_length=1, max_length=120, title="Name of the new study")
    overlap: Overlap = 3


class NewVersion(Options):
    """The next version of a judge."""

    examples: Annotated[int, Hint(metavar="N")] = Field(
        0,
        ge=0,
        le=MOST,
        title="Examples for each criterion",
        description="Adjudicated items of the development part, values of the scale in turn. 0 takes them away.",
    )
    criteria: Annotated[list[Annotated[str, Field(max_length=60)]], Hint(metavar="KEY")] = Field(
        [], title="On", description="Criteria to show examples of; all, if none is named."
    )
    seed: Seed = 0
    template: Annotated[WholeText | None, Hint(null=True, rows=14)] = Field(
        None,
        max_length=100_000,
        title="Prompt",
        description="Empty for Concord’s own, one for each criterion; not given: as it is. $examples stands for the "
        "examples; the item goes first and what is asked last, so that what an item’s requests share is read once.",
    )
    templates: dict[str, Annotated[WholeText, Field(max_length=50_000)]] | None = Field(
        None, description="The prompt of one criterion, each by its key; others stay as they are."
    )


class JudgedOptions(AgreementOptions):
    """How judges are compared, besides how intervals are made."""

    unscored_as: Annotated[str | None, Hint(metavar="VALUE")] = Field(
        default=None, description="Count a judge's replies without a verdict as this value; else they are left out."
    )
    epsilon: Annotated[float, Hint(wrong="must be between 0 and 1, for example 0.15")] = Field(
        default=0.15, ge=0, le=1, description="Discount of a judge in the alternative-annotator test."
    )
    by: Annotated[str, Hint(metavar="FIELD")] = Field(
        default="",
        description=f"Figures per group; of a study: tier, {', '.join(GROUPINGS)}, or annotator:KEY for annotators by "
        "what they answered to that question about themselves.",
    )
    reads: Annotated[
        str, Choices({VERDICTS: "", SCORES: ""}), Hint(option="read", wrong=f"must be {VERDICTS} or {SCORES}")
    ] = Field(
        default=VERDICTS,
        description="What correlations and errors read of a study's judges on a scale with an order: the verdict, or "
        "the score as a mean over the scale, weighted by probabilities or repeats.",
    )
    guideline_version: Annotated[int | None, Hint(metavar="N", wrong="is the number of a version, from 1")] = Field(
        default=None, ge=1, le=LAST_VERSION, description="Only labels given under this version of a study’s guideline."
    )

    @property
    def with_scores(self) -> bool:
        """Whether judges' weighted scores have to be read."""
        return self.reads == SCORES


class CalibrationOptions(AgreementOptions):
    """How a judge is calibrated, besides how intervals are made."""

    positive: str | None = Field(
        default=None, description="The category of a two-category scale whose rate is estimated."
    )
    method: Annotated[MapName, Hint(wrong=f"must be one of {', '.join(get_args(MapName))}")] = Field(
        default="isotonic", description="Method of recalibration."
    )
    targets: Annotated[tuple[float, ...], AfterValidator(check_targets)] = Field(
        default=TARGETS, description="Agreements to be guaranteed."
    )
    delta: Share = Field(default=0.05, description="A guarantee fails with this probability.")


class AssessmentOptions(CalibrationOptions):
    """How a judge is calibrated beside the people of a study."""

    epsilon: Annotated[float, Hint(wrong="must be between 0 and 1, for example 0.15")] = Field(
        default=0.15, ge=0, le=1, description="Discount in the alternative-annotator test."
    )

    def to_json(self) -> dict[str, object]:
        """All that decides on the result besides the labels and the seed."""
        return {**super().to_json(), "targets": list(self.targets)}


class AuditOptions(Options):
    """Of audits: the level of all probes of a judge together, and how they are corrected."""

    level: Share = Field(default=0.05, description="Significance level of all probes of the judge together.")
    method: Annotated[Method, Hint(option="correction", wrong=f"must be one of {', '.join(get_args(Method))}")] = Field(
        default="holm", description="Correction of the p-values."
    )

    def to_json(self) -> dict[str, object]:
        """All that decides on the result besides the labels."""
        return self.model_dump()
