"""What the commands share that import one kind of record from JSONL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotation.corpus.imports import records
from annotation.management.imports import ImportCommand
from core.files.input_files import InputFile

WITH_ATTACHMENTS = ("dialogues", "pairs")


class RecordsCommand(ImportCommand):
    """Imports a JSONL file of one `kind` of annotation.corpus.imports.records."""

    kind = ""
    path_help = "the JSONL file, one record on each line; or a ZIP file of it with the files that it names"

    def arguments(self, parser: CommandParser) -> None:
        super().arguments(parser)
        if self.kind in WITH_ATTACHMENTS:
            parser.add_argument("--attachments", type=Path, metavar="FOLDER", help="where the pictures and sounds lie")
        parser.add_argument("--source", default=records.SOURCE, help="whose ids these are (default: %(default)s)")

    def run(self, **options: Any) -> Any:
        outcome = records.load(
            by=None,
            kind=self.kind,
            file=InputFile.from_path(options["path"]),
            source=options["source"],
            on_error=options["on_error"],
            attachments=options.get("attachments"),
        )
        return outcome.to_document()
