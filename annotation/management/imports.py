"""What the import commands share: `--on-error`, counts in words, records from JSONL, and texts that an option names."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from django.core.management.base import CommandParser

from annotation.corpus.imports import records
from annotation.management.base import ConcordCommand
from core.errors import InputError
from core.files.input_files import InputFile, OnError
from core.files.outcome import ImportDocument


class ImportCommand(ConcordCommand[ImportDocument]):
    """A command that imports what lies at `path`."""

    path_help = "the file"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, help=self.path_help)
        parser.add_argument(
            "--on-error",
            choices=["stop", "skip"],
            default="stop",
            help="stop: a bad record ends the import and nothing is kept (default); "
            "skip: the good records are kept, the bad ones are written to PATH.errors.jsonl",
        )

    def write_text(self, document: ImportDocument) -> None:
        created, updated, unchanged = document["created"], document["updated"], document["unchanged"]
        for name, kinds in (("created", created), ("updated", updated), ("unchanged", unchanged)):
            if counts := ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count):
                self.stdout.write(f"{name}: {counts}")
        if study := document.get("study"):
            self.stdout.write(f"study: {study}")
        for warning in document["warnings"]:
            self.stdout.write(f"note: {warning}")
        if skipped := document["skipped"]:
            self.stdout.write(f"skipped: {len(skipped)} records, written to {document.get('errors_file', '')}")


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

    def run(
        self, *, path: Path, source: str, on_error: OnError, attachments: Path | None = None, **_: object
    ) -> ImportDocument:
        file = InputFile.from_path(path)
        return records.load(
            by=None, kind=self.kind, file=file, source=source, on_error=on_error, attachments=attachments
        ).to_document()


def read_text(path: Path, *, field: str | None = None) -> str:
    """What is in the file. InputError where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError("cannot be read: {strerror}", file=str(path), field=field, strerror=error.strerror) from error
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8", file=str(path), field=field) from error


def read_named_texts(given: Iterable[str], *, field: str) -> dict[str, str]:
    """The texts in files that are given as NAME=FILE, by name."""
    pairs = [part.partition("=") for part in given]
    if wrong := [name for name, _, path in pairs if not path]:
        raise InputError("{wrong!r}: say NAME=FILE.", field=field, wrong=wrong[0])
    return {name.strip(): read_text(Path(path), field=field) for name, _, path in pairs}
