"""`archive_study`: one study with all that it rests on, as one file."""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from annotation.studies.queries.studies import study_called
from config.archives import writing
from config.archives.writing import StudyManifest
from core.errors import InputError
from core.files.writing import output_path, refuse_stdout


class ArchiveDocument(StudyManifest):
    path: str
    bytes: int


class Command(ConcordCommand[ArchiveDocument]):
    help = "Write one study with its material, labels, judgments and results to one file, which restores elsewhere."
    example = 'archive_study --study "My study" -o my-study.zip'
    exports = "archive"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, help="its name or slug")
        parser.add_argument("-o", "--output", required=True, type=output_path, metavar="FILE")

    def run(self, *, study: str, output: Path, **_: object) -> ArchiveDocument:
        refuse_stdout(output, "file")
        try:
            manifest = writing.write(study_called(study), output)
        except OSError as error:
            raise InputError(
                "cannot be written: {strerror}", file=str(output), strerror=error.strerror or error
            ) from error
        return {"path": str(output), "bytes": output.stat().st_size, **manifest}

    def write_text(self, document: ArchiveDocument) -> None:
        rows, size = sum(table["rows"] for table in document["tables"].values()), document["bytes"] / 1e6
        self.stdout.write(f"{document['study']}: {rows:,} rows in {document['path']}, {size:.1f} MB")
