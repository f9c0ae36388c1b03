"""How intervals are made, wherever a figure is shown."""

from __future__ import annotations

from typing import Annotated, get_args

from pydantic import AfterValidator, ConfigDict, Field

from annotation.stats.gold import GoldMethod
from annotation.studies.queries.dependence import NAMED
from annotation.studies.queries.items import STRATA
from core.options.model import LARGEST, Hint, Options

MOST_REPLICATES = 100_000
RESAMPLES = 2000
"""Of every interval, unless somebody asks for another number."""


def check_confidence(value: float) -> float:
    if not 0 < value < 1:
        raise ValueError("The confidence lies between 0 and 1.")
    return value


class ResamplingOptions(Options):
    """How often is resampled, and with which seed."""

    model_config = ConfigDict(frozen=True)

    bootstrap: Annotated[int, Hint(metavar="N", wrong=f"must be between 0 and {MOST_REPLICATES}")] = Field(
        default=RESAMPLES, ge=0, le=MOST_REPLICATES, description="Resamples; 0 for no intervals."
    )
    seed: Annotated[int, Hint(wrong=f"must be between 0 and {LARGEST}")] = Field(
        default=0, ge=0, le=LARGEST, description="Seed of the resampling."
    )

    def to_json(self) -> dict[str, object]:
        """All that decides on the result besides the labels and the seed."""
        return self.model_dump(exclude={"seed"})


class IntervalOptions(ResamplingOptions):
    """How intervals are made."""

    confidence: Annotated[float, AfterValidator(check_confidence)] = Field(
        default=0.95, description="Confidence level of the intervals, between 0 and 1."
    )


class AgreementOptions(IntervalOptions):
    """How intervals are made, and what items depend on each other by."""

    cluster: Annotated[str, Hint(metavar="COLUMN")] = Field(
        default="",
        description="What items are clustered by. Empty: as the study is set. Or one of none, "
        f"{', '.join(NAMED)}, or a key of the items' source.",
    )
    strata: Annotated[str, Hint(metavar="COLUMN")] = Field(
        default="", description=f"Resample within, each part keeping its size; of a study: {', '.join(STRATA)}."
    )


class GoldOptions(Options):
    """How gold is made. What a person adjudicated stands above all."""

    model_config = ConfigDict(frozen=True)

    method: Annotated[GoldMethod | None, Hint(wrong=f"{{input!r}} is not one of {', '.join(get_args(GoldMethod))}")] = (
        Field(
            default=None,
            description="By default the median on ordered scales, the majority of categories, else the consensus.",
        )
    )
    min_ratings: Annotated[int, Hint(metavar="N", wrong="must be between 1 and 1000")] = Field(
        default=2, ge=1, le=1000, description="Items with fewer have none."
    )
    min_posterior: Annotated[float, Hint(wrong="must be between 0 and 1")] = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Below this probability the answer of Dawid and Skene or of the difficulty model is too uncertain.",
    )


class GoldQuery(GoldOptions):
    """How gold is made, of which criterion."""

    criterion: str = Field(default="", description="The first if not given.")
