"""`export`: the labels of a study as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from annotation.queries.studies import study_called
from annotation.services import exports as files
from judging.services import exports


class Command(ConcordCommand):
    help = "Write all labels of a study, of people and of judges, one row each. Whole file or none."
    example = "export --study PandaLM --format csv -o pandalm.csv"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, help="name or slug")
        parser.add_argument("--format", default="csv", help=f"one of {', '.join(files.FORMATS)}")
        parser.add_argument("-o", "--output", required=True, type=Path, metavar="PATH")

    def run(self, **options: Any) -> dict[str, Any]:
        fmt = files.format_named(options["format"])
        study = study_called(options["study"])
        labels = exports.labels_of(study)
        files.write(labels, fmt, options["output"])
        return {
            "study": study.name,
            "format": fmt.name,
            "path": str(options["output"]),
            "people": len(labels.people),
            "judges": len(labels.judges),
        }

    def say(self, document: Any) -> None:
        self.stdout.write(
            f"{document['people']} labels of people and {document['judges']} of judges written to {document['path']}"
        )
