"""python manage.py import_personalens DIR"""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from pathlib import Path

from django.core.management.base import CommandParser
from tqdm import tqdm

from annotation.management.imports import ImportCommand
from core.accounts.models.projects import Project
from core.files.input_files import OnError
from core.files.outcome import ImportDocument
from judging.runs.imports import personalens

USERS = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6}))?")


def user_numbers(text: str) -> set[int]:
    """`0-3,66` -> {0, 1, 2, 3, 66}."""
    numbers: set[int] = set()
    for part in text.split(","):
        found = USERS.fullmatch(part.strip())
        chosen = range(int(found[1]), int(found[2] or found[1]) + 1) if found else ()
        if not chosen:
            raise ArgumentTypeError(f"{part!r} is neither a number nor a range such as 0-49")
        numbers.update(chosen)
    return numbers


class Command(ImportCommand):
    makes_roots = True
    help = "Import profiles, tasks and scenarios of PersonaLens."
    example = "import_personalens ../PersonaLens/data --users 0-49,66"
    path_help = "the folder that holds profile/ and task/"

    def arguments(self, parser: CommandParser) -> None:
        super().arguments(parser)
        parser.add_argument("--output", type=Path, help="the folder with generated dialogues and judges' replies")
        parser.add_argument("--users", type=user_numbers, metavar="0-49,66", help="only these users (default: all)")

    def run(
        self, *, path: Path, users: set[int] | None, output: Path | None, on_error: OnError, project: Project | None,
        **_: object,
    ) -> ImportDocument:  # fmt: skip
        with tqdm(desc="users", disable=not self.on_terminal) as bar:

            def progress(done: int, total: int) -> None:
                bar.total = total
                bar.update(done - bar.n)

            outcome = personalens.load(
                by=None,
                folder=path,
                users=users,
                output=output,
                on_error=on_error,
                progress=progress,
                project=project,
            )
        return outcome.to_document()
