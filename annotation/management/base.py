"""What all of Concord's commands share: `--json`, exit codes, where messages go, and results as text on a terminal."""

from __future__ import annotations

import os
import sys
from argparse import RawDescriptionHelpFormatter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Generic, NoReturn, TypeVar

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError, ProgrammingError

from annotation.studies.queries.studies import study_called
from core.accounts.queries import find_project
from core.audit.log import audit_through, record
from core.audit.models import Act
from core.documents import pieces
from core.errors import InputError
from core.faults import fault_in_full
from core.files.writing import STDOUT, ReaderGoneError
from core.schema_state import describe_gap

BAD_INPUT = 2
CLOSED_PIPE = 128 + 13
"""As of a program that the signal of a closed pipe ends."""

NOT_RESAMPLED = "No intervals by resampling: none was asked for (0 resamples)."

SETTINGS = "settings"
"""Tag of the system checks that find a bad setting."""

Listing = Sequence[Mapping[str, object]]
"""Rows in a document."""

Document = TypeVar("Document")
"""What a command's `run` returns, `--json` prints, and `write_text` writes for a person."""


@contextmanager
def report_errors() -> Iterator[None]:
    """Turn bad input and faults of the machine into a sentence and an exit code. `--traceback` shows the rest."""
    try:
        yield
    except InputError as error:
        raise CommandError(str(error), returncode=BAD_INPUT) from error
    except Exception as error:
        if fault := fault_in_full(error):
            raise CommandError(fault) from error
        if isinstance(error, OperationalError | ProgrammingError) and (gap := describe_gap()):
            raise CommandError(gap) from error
        raise


class PlainCommand(BaseCommand):
    """A command that says in a sentence what a person can do something about."""

    def execute(self, *args: object, **options: object) -> str | None:
        with report_errors():
            return super().execute(*args, **options)


class ConcordCommand(PlainCommand, Generic[Document]):
    """A command of CLI.md: exits 0 on success, 2 on bad usage or input, 1 on an unexpected failure.

    Subclasses set `help` and `example`, add arguments in `arguments`, and return from `run` the document that
    `--json` prints; `write_text` writes it for a person. Progress and logs go to stderr.
    """

    example = ""
    makes_roots = False
    """Whether it makes something that has nothing above it but a project: `run` is given that of `--project`."""

    exports = ""
    """What it gives out of people, such as labels: then each run is on record as `export.<what>`."""

    # Django's checks of the code import every page to find nothing; `check`, `migrate`, `demo` and `serve` make them.
    requires_system_checks: tuple[str, ...] | list[str] = (SETTINGS,)

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: object) -> CommandParser:
        epilog = f"Example:\n  python manage.py {self.example}" if self.example else None
        return super().create_parser(
            prog_name, subcommand, epilog=epilog, formatter_class=RawDescriptionHelpFormatter, **kwargs
        )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON document on stdout, nothing else")
        if self.makes_roots:
            parser.add_argument("--project", metavar="SLUG", help="where new things go; not needed where there is one")
        self.arguments(parser)

    def arguments(self, parser: CommandParser) -> None:
        """Add the command's own arguments."""

    def handle(self, *args: object, **options: Any) -> None:  # noqa: ARG002
        if self.makes_roots:
            options["project"] = find_project(options["project"]) if options.get("project") else None
        if options.get("output") == STDOUT:
            self.stdout = self.stderr  # for what it says: the file is alone on standard output
        with audit_through(Act.Through.COMMAND):
            try:
                document = self.run(**options)
            except ReaderGoneError:
                self.record_export(**options)
                sys.exit(CLOSED_PIPE)
            self.record_export(**options)
        try:
            self.write_document(document, **options)
        except (BrokenPipeError, ReaderGoneError):
            self.stop_writing()
        if failure := self.describe_failure(document):
            raise CommandError(failure)

    def describe_failure(self, document: Document) -> str:  # noqa: ARG002
        """Say what of the work could not be done, for an exit with 1 after the document; empty where all was."""
        return ""

    def write_document(self, document: Document, **options: object) -> None:
        if options["json"]:
            self.write_json(document)
        else:
            self.write_text(document)
            if options.get("bootstrap") == 0:
                self.stdout.write(NOT_RESAMPLED)
        self.stdout.flush()  # else a full disk or a closed pipe is noticed only after the command

    def stop_writing(self) -> NoReturn:
        """End where the reader of a pipe went away, such as `head`: nobody is there to be told."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.stdout.fileno())  # what is still buffered goes there
        os.close(nowhere)
        sys.exit(CLOSED_PIPE)

    def is_export(self, **options: object) -> bool:  # noqa: ARG002
        """Whether it writes what `exports` names with these options."""
        return True

    def record_export(self, *, study: str | None = None, **options: object) -> None:
        """With the study, and how it was asked for; of a path the name of the file. Nothing where it is no export."""
        if not (self.exports and self.is_export(study=study, **options)):
            return
        says = {name: options[name] for name in ("format", "demographics", "output") if name in options}
        record(f"export.{self.exports}", by=None, on=study_called(study) if study else None, **says)

    def run(self, *args: Any, **options: Any) -> Document:  # noqa: ARG002
        """Do the work and return the document. A command names the options that it reads, each with its type."""
        raise CommandError(f"{type(self).__name__} has no run method")

    def write_text(self, document: Document) -> None:
        """Write the document for a person."""
        self.write_json(document)

    def write_json(self, document: object) -> None:
        """Piece by piece: a document has a row for each of a million items."""
        for piece in pieces(document):
            self.stdout.write(piece, ending="")  # else Django's stdout would end each with a line break
        self.stdout.write("")

    @property
    def on_terminal(self) -> bool:
        return sys.stderr.isatty()


def format_estimate(found: Mapping[str, object] | None, digits: int = 3) -> str:
    """`0.864 [0.843, 0.884]`; without an interval its reason, unless none was asked for; a dash where undefined."""
    from annotation.stats.intervals import NOT_ASKED  # loads numpy and scipy, which most commands do without

    if found is None:
        return "-"
    if found["value"] is None:
        return f"- ({found['reason']})"
    value = f"{found['value']:.{digits}f}"
    if found["low"] is None or found["high"] is None:
        return f"{value} ({why})" if (why := found.get("reason")) and why != NOT_ASKED else value
    return f"{value} [{found['low']:.{digits}f}, {found['high']:.{digits}f}]"


def format_columns(rows: Sequence[Sequence[str]], *, indent: str = "  ") -> str:
    """Rows whose cells stand under each other."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))] if rows else []
    padded = ([cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows)
    return "\n".join((indent + "  ".join(cells)).rstrip() for cells in padded)


def to_words(value: object) -> str:
    """Say a value of a document: a list by its items, types by their criteria, and what was renamed to what."""
    if isinstance(value, dict):
        return ", ".join(f"{name} ({one})" for name, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(" as ".join(one) if isinstance(one, tuple) else str(one) for one in value)
    return str(value)
