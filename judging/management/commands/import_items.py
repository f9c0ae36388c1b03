"""python manage.py import_items FILE --mapping FILE.json | --format NAME | --guess"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotation.corpus.formats.registry import CHAT_FORMATS
from annotation.corpus.imports.surveys import look
from annotation.corpus.parsing.mappings import ColumnMapping, read_mapping
from annotation.corpus.queries import load_mapping
from annotation.management.base import ConcordCommand
from annotation.management.imports import ImportCommand, read_text
from core.accounts.models.projects import Project
from core.errors import InputError
from core.files.input_files import InputFile, OnError
from core.files.outcome import ImportDocument
from core.files.staging import unpack_staged
from core.files.tables.layout import Layout
from core.options.fields import add_arguments, read_arguments
from judging.runs.imports.mapped import load_mapped
from judging.runs.options import ImportItems


class GuessCommand(ConcordCommand[dict[str, object]]):
    """Print the mapping that fits the file best, and import nothing."""

    makes_roots = True

    def run(self, *, path: Path, **_: object) -> dict[str, object]:
        with unpack_staged(InputFile.from_path(path)) as file:
            return look(file, Layout()).guess.to_document()


class Command(ImportCommand):
    makes_roots = True
    help = (
        "Import any table or export (CSV, TSV, XLSX, JSON, JSON Lines, Parquet, a folder of Hugging Face datasets) by "
        "a mapping of its columns, or chats and traces in a format by name."
    )
    example = "import_items answers.csv --mapping answers.json --source lab"
    path_help = "the file, or the folder of a dataset"

    def arguments(self, parser: CommandParser) -> None:
        super().arguments(parser)
        ways = parser.add_mutually_exclusive_group(required=True)
        ways.add_argument(
            "--mapping",
            metavar="FILE",
            help="which column is what: a JSON or TOML file, or the name of a saved mapping",
        )
        ways.add_argument("--format", choices=list(CHAT_FORMATS), help="a format by name, which needs no mapping")
        ways.add_argument(
            "--guess", action="store_true", help="print the mapping that fits the file best, and import nothing"
        )
        add_arguments(parser, ImportItems, but=["on_error"])

    def handle(self, *args: object, **options: Any) -> None:
        if not options["guess"]:
            super().handle(*args, **options)
            return
        command = GuessCommand()
        command.stdout = self.stdout
        command.handle(*args, **options)

    def run(
        self, *, path: Path, format: str | None, mapping: str | None, on_error: OnError,
        project: Project | None, **options: object,
    ) -> ImportDocument:  # fmt: skip
        with unpack_staged(InputFile.from_path(path)) as file:
            outcome = load_mapped(
                by=None,
                file=file,
                mapping=self.find_mapping(format, mapping or "", project),
                on_error=on_error,
                project=project,
                **read_arguments(ImportItems, options, but=["on_error"]),
            )
            if outcome.errors_file and file.path != path:  # it lies where the archive was unpacked
                beside = path.with_name(f"{path.name}.errors.jsonl")
                outcome.errors_file = str(shutil.copy(outcome.errors_file, beside))
        return outcome.to_document()

    def find_mapping(self, format: str | None, mapping: str, project: Project | None) -> ColumnMapping:
        """The mapping of the file that is named, or saved under the name."""
        if format:
            return ColumnMapping(format=format)
        path = Path(mapping)
        if path.is_file():
            return read_mapping(read_text(path, field="mapping"), name=str(path))
        if path.suffix in (".json", ".toml"):
            raise InputError("does not exist", file=str(path))
        return load_mapping(None, mapping, project)
