"""`manage.py graded`: have the responses of a study graded one by one, and see what the choice hides."""

from __future__ import annotations

from typing import Literal, TypedDict, final

from django.core.management.base import CommandParser

from annotation.agreement.options import ResamplingOptions
from annotation.benchmarks.result_types import GradedDocument
from annotation.benchmarks.services import grading
from annotation.management.base import ConcordCommand, format_columns, format_estimate
from annotation.studies.queries.studies import study_called
from annotation.studies.services import studies
from core.errors import InputError
from core.options.fields import add_arguments, read_arguments

Hidden = Literal["no_difference", "same_sign", "opposite", "both_high", "both_low", "difference", "correlation"]
TOLD: dict[Hidden, str] = {
    "no_difference": "preferences whose two grades are equal",
    "same_sign": "of the others, the chosen one has the higher grade",
    "opposite": "preferences whose chosen response has the lower grade",
    "both_high": "preferences of two good responses",
    "both_low": "preferences of two poor responses",
    "difference": "mean difference in favour of the chosen response",
    "correlation": "rank correlation of choice and difference",
}


@final
class GradesDocument(TypedDict):
    study: str
    graded: str
    state: str
    items: int


class Command(ConcordCommand[GradedDocument | GradesDocument]):
    help = (
        "With --make: a study in which the annotators of a study of pairs grade each response alone (1 to 4). Without: "
        "what their choices hide that their grades show."
    )
    example = "graded pilot --make --open\n  python manage.py graded pilot --json"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="name or address of the study of pairs")
        parser.add_argument("--make", action="store_true", help="make the study of grades")
        parser.add_argument("--name", default="", help="of the study of grades")
        parser.add_argument("--open", action="store_true", help="open it at once")
        parser.add_argument("--graded", default="", help="the study of grades; the newest one by default")
        add_arguments(parser, ResamplingOptions)

    def run(
        self, *, study: str, make: bool, name: str, open: bool, graded: str, **options: object
    ) -> GradedDocument | GradesDocument:
        found, asked = study_called(study), ResamplingOptions(**read_arguments(ResamplingOptions, options))
        if make:
            made = grading.make_study(by=None, study=found, name=name, seed=asked.seed)
            if open:
                studies.open(by=None, study=made)
            return {"study": found.slug, "graded": made.slug, "state": made.state, "items": made.items.count()}
        there = [study_called(graded)] if graded else grading.list_graded_studies(found)
        if not there:
            raise InputError(
                "The responses of {study} are graded nowhere: use --make first.", field="graded", study=found
            )
        return grading.compare(study=found, graded=there[0], bootstrap=asked.bootstrap, seed=asked.seed)

    def write_text(self, document: GradedDocument | GradesDocument) -> None:
        if "cases" not in document:
            self.stdout.write(f"Made {document['graded']} ({document['state']}) with {document['items']} responses.")
            return
        self.stdout.write(f"{document['n']} choices with both grades, on {document['cases']} cases.")
        rows = [[words, format_estimate(document[key]), f"n {document[key]['n_items']}"] for key, words in TOLD.items()]
        self.stdout.write(format_columns(rows))
