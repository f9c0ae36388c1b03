"""`signing_keys`: the public keys that check this site's certificates, and a new key to sign with."""

from __future__ import annotations

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from judging.assessment import signing
from judging.assessment.services import certificates


class Command(ConcordCommand):
    help = "List the public keys of this site's certificates, sign with a new key from now on, or only print one."
    example = "signing_keys --json\n  python manage.py signing_keys --rotate"

    def arguments(self, parser: CommandParser) -> None:
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--new-key", action="store_true", help=f"only print a new private key for {signing.VARIABLE}")
        what.add_argument(
            "--rotate",
            action="store_true",
            help="make a new key in the data folder; of the old one only the public half is kept, and stays listed",
        )

    def run(self, **options: object) -> dict[str, object]:
        if options["new_key"]:
            return {"key": signing.new_key()}
        if options["rotate"]:
            certificates.rotate_key(by=None)
        self.keys = certificates.list_keys()
        return {"algorithm": signing.ALGORITHM, "keys": self.keys}

    def say(self, document: dict[str, object]) -> None:
        if "key" in document:
            self.stdout.write(f"{document['key']}")
            return
        for one in self.keys:
            self.stdout.write(f"{one['public_key']}  {one['key_id']}  {'signs' if one['signs'] else 'checks only'}")
