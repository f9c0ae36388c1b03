"""`signing_keys`: the public keys that check this site's certificates, and a new key to sign with."""

from __future__ import annotations

from typing import TypedDict

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from judging.assessment import signing
from judging.assessment.services import certificates


class SigningKeysDocument(TypedDict, total=False):
    """The public keys and what they are for, or only a new private ``key``."""

    key: str
    algorithm: str
    keys: list[dict[str, str | bool]]


class Command(ConcordCommand[SigningKeysDocument]):
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

    def run(self, **options: object) -> SigningKeysDocument:
        if options["new_key"]:
            return {"key": signing.new_key()}
        if options["rotate"]:
            certificates.rotate_key(by=None)
        return {"algorithm": signing.ALGORITHM, "keys": certificates.list_keys()}

    def write_text(self, document: SigningKeysDocument) -> None:
        if "key" in document:
            self.stdout.write(document["key"])
            return
        for one in document["keys"]:
            self.stdout.write(f"{one['public_key']}  {one['key_id']}  {'signs' if one['signs'] else 'checks only'}")
