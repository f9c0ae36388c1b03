"""`manage.py sample`: draw items of the corpus into a study."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from annotation.management.lists import listed
from annotation.models import Sample
from annotation.queries.frame import FILTERS
from annotation.queries.studies import strata_of, study_called
from annotation.services import samples

FIELDS = tuple(dict.fromkeys(field for fields in FILTERS.values() for field in fields))


class Command(ConcordCommand):
    help = "Draw items of the corpus into a study: all that match, a simple or a stratified random sample."
    example = "sample pilot --method stratified --size 100 --strata domain condition --source personalens --seed 1"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="name or address of the study")
        parser.add_argument("--method", choices=samples.METHODS, help="default: simple with --size, all without")
        parser.add_argument("--size", type=int, help="how many items")
        parser.add_argument("--strata", nargs="+", help=f"fields among {', '.join(FIELDS)}")
        parser.add_argument("--allocation", choices=("proportional", "equal"), default="proportional")
        parser.add_argument("--seed", type=int, default=0)
        for field in FIELDS:
            parser.add_argument(f"--{field.replace('_', '-')}", nargs="+", help="only items with one of these")

    def run(self, **options: Any) -> dict[str, Any]:
        sample = samples.draw(
            by=None,
            study=study_called(options["study"]),
            method=options["method"] or default_method(options),
            size=options["size"],
            strata=listed(options["strata"]),
            filters={field: listed(options[field]) for field in FIELDS if options[field]},
            seed=options["seed"],
            allocation=options["allocation"],
        )
        return document(sample)

    def say(self, document: dict[str, Any]) -> None:
        self.stdout.write(f"Drew {document['size']} of {document['frame_size']} eligible items ({document['method']}).")
        if document["strata"]:
            for stratum in document["drawn"]:
                self.stdout.write(f"  {stratum['stratum']}: {stratum['size']} (chance {stratum['probability']:.3f})")


def default_method(options: dict[str, Any]) -> str:
    if options["strata"]:
        return "stratified"
    return "all" if options["size"] is None else "simple"


def document(sample: Sample) -> dict[str, Any]:
    return {
        "study": sample.study.name,
        "method": sample.method,
        "frame_size": sample.frame_size,
        "size": sample.size,
        "strata": sample.strata,
        "filters": sample.filters,
        "seed": sample.seed,
        "input_hash": sample.input_hash,
        "drawn": [
            {"stratum": stratum, "size": size, "probability": probability}
            for stratum, size, probability in strata_of(sample)
        ],
    }
