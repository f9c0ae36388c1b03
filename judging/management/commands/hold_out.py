"""`hold_out`: keep a part of a study's items from the development of judges."""

from __future__ import annotations

from typing import TypedDict

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from annotation.studies.queries.studies import study_called
from core.options.fields import add_arguments, read_arguments
from judging.assessment.options import NewHoldOut
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import hold_out
from judging.judges.queries.study_items import DEVELOPMENT, HELD_OUT


class SplitDocument(TypedDict):
    """How a study is split, and the number of items by part."""

    study: str
    share: float
    seed: int
    items: dict[str, int]


class Command(ConcordCommand[SplitDocument]):
    help = "Split a study's items by profile, question or dialogue; the held-out part is then only seen on record."
    example = 'hold_out --study "My study" --share 0.5 --seed 7'

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, help="name or slug")
        add_arguments(parser, NewHoldOut)

    def run(self, *, study: str, **options: object) -> SplitDocument:
        made = hold_out.hold_out(by=None, study=study_called(study), **read_arguments(NewHoldOut, options))
        sizes = {part: StudyData.load(made.study, part).material.n for part in (DEVELOPMENT, HELD_OUT)}
        return {"study": made.study.name, "share": made.share, "seed": made.seed, "items": sizes}

    def write_text(self, document: SplitDocument) -> None:
        parts = ", ".join(f"{n} {part}" for part, n in document["items"].items())
        self.stdout.write(f"{document['study']}: {parts} items")
