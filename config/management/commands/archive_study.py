"""`archive_study`: one study with all that it rests on, as one file."""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from annotation.studies.queries.studies import study_called
from config.archives import writing
from core.errors import InputError
from core.files.writing import output_path, refuse_stdout


class Command(ConcordCommand):
    help = "Write one study with its material, labels, judgments and results to one file, which restores elsewhere."
    example = 'archive_study --study "My study" -o my-study.zip'
    exports = "archive"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, help="its name or slug")
        parser.add_argument("-o", "--output", required=True, type=output_path, metavar="FILE")

    def run(self, *, study: str, output: Path, **_: object) -> dict[str, object]:
        refuse_stdout(output, "file")
        try:
            self.manifest = writing.write(study_called(study), output)
        except OSError as error:
            raise InputError(
                "cannot be written: {strerror}", file=str(output), strerror=error.strerror or error
            ) from error
        self.size = output.stat().st_size
        return {"path": str(output), "bytes": self.size, **self.manifest}

    def say(self, document: dict[str, object]) -> None:
        rows, size = sum(table["rows"] for table in self.manifest["tables"].values()), self.size / 1e6
        self.stdout.write(f"{document['study']}: {rows:,} rows in {document['path']}, {size:.1f} MB")
