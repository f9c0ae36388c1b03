"""`verify_certificate`: is a certificate unaltered, and does it still hold?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.errors import InputError
from annotation.management.base import BAD_INPUT, ConcordCommand
from annotation.parsing.json_text import parse_json
from judging.services.trust import certificates


class Command(ConcordCommand):
    help = "Check the seal of a certificate, and that judge, prompt and items are those it speaks of. Exits 2 if not."
    example = "verify_certificate certificate.json"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, metavar="CERTIFICATE.json")

    def handle(self, *args: Any, **options: Any) -> None:
        self.holds = False
        super().handle(*args, **options)
        if not self.holds:
            raise CommandError("the certificate does not hold", returncode=BAD_INPUT)

    def run(self, **options: Any) -> dict[str, Any]:
        checked = certificates.check(read(options["file"]))
        self.holds = checked.state == certificates.HOLDS
        return checked.as_json()

    def say(self, document: Any) -> None:
        self.stdout.write(document["state"])
        for problem in document["problems"]:
            self.stdout.write(f"  {problem}")


def read(path: Path) -> dict[str, Any]:
    """The file's document. Raises InputError where it is none."""
    try:
        found = parse_json(path.read_bytes())
    except OSError as error:
        raise InputError(error.strerror or str(error), file=str(path)) from error
    except InputError as error:
        raise InputError(error.message, file=str(path)) from error
    if not isinstance(found, dict):
        raise InputError("this is no certificate", file=str(path))
    return found
