"""`manage.py sample`: draw items of the corpus into a study."""

from __future__ import annotations

from typing import Any, TypedDict

from django.core.management.base import CommandParser

from annotation.agreement.services.predicted_difficulty import load_predicted_tiers
from annotation.management.base import ConcordCommand, Listing
from annotation.studies.models.studies import Criterion, Sample
from annotation.studies.options import NewSample
from annotation.studies.queries.context import find_missing_context
from annotation.studies.queries.sampling_frame import FILTERS
from annotation.studies.queries.studies import criterion_called, load_strata, study_called
from annotation.studies.services import samples
from core.options.fields import add_arguments, read_arguments, split_names

FIELDS = tuple(dict.fromkeys(field for fields in FILTERS.values() for field in fields))


class SampleDocument(TypedDict):
    study: str
    warnings: list[str]
    method: str
    frame_size: int
    size: int
    strata: list[str]
    filters: object
    seed: int
    input_hash: str
    drawn: Listing


class Command(ConcordCommand[SampleDocument]):
    help = "Draw items of the corpus into a study: all that match, a simple or a stratified random sample."
    example = "sample pilot --method stratified --size 100 --strata domain condition --source personalens --seed 1"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="name or address of the study")
        add_arguments(parser, NewSample, but=("filters",))
        for field in FIELDS:
            parser.add_argument(f"--{field.replace('_', '-')}", nargs="+", help="only items with one of these")

    def run(
        self, *, study: str, predicted_from: str | None, predicted_criterion: str | None, **options: Any
    ) -> SampleDocument:
        given = read_arguments(NewSample, options, but=("filters", "predicted_from", "predicted_criterion"))
        criterion = criterion_to_predict(predicted_from, predicted_criterion)
        sample = samples.draw(
            by=None,
            study=study_called(study),
            filters={field: split_names(options[field]) for field in FIELDS if options[field]},
            predicted_from=criterion,
            tiers=load_predicted_tiers(criterion) if criterion else None,
            **given,
        )
        return document(sample)

    def write_text(self, document: SampleDocument) -> None:
        for warning in document["warnings"]:
            self.stdout.write(f"! {warning}")
        size, frame_size = document["size"], document["frame_size"]
        self.stdout.write(f"Drew {size} of {frame_size} eligible items ({document['method']}).")
        if document["strata"]:
            for stratum in document["drawn"]:
                self.stdout.write(f"  {stratum['stratum']}: {stratum['size']} (chance {stratum['probability']:.3f})")


def criterion_to_predict(study: str | None, key: str | None) -> Criterion | None:
    """The criterion that tiers are predicted from; None where no study is named."""
    return None if study is None else criterion_called(study_called(study), key or "")


def document(sample: Sample) -> SampleDocument:
    return {
        "study": sample.study.name,
        "warnings": find_missing_context(sample.study),
        "method": sample.method,
        "frame_size": sample.frame_size,
        "size": sample.size,
        "strata": sample.strata,
        "filters": sample.filters,
        "seed": sample.seed,
        "input_hash": sample.input_hash,
        "drawn": [
            {"stratum": stratum, "size": size, "probability": probability}
            for stratum, size, probability in load_strata(sample)
        ],
    }
