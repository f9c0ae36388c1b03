"""`verify_certificate`: who signed a certificate, was it changed or revoked, and does it still apply?"""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import CommandError, CommandParser

from annotation.management.base import BAD_INPUT, ConcordCommand
from core.errors import InputError
from judging.assessment import signing
from judging.assessment.result_types import CertificateStatusDocument
from judging.assessment.services import certificate_checks


class Command(ConcordCommand[CertificateStatusDocument]):
    help = (
        "Check a certificate's signature, by this site's keys or by the one given, without asking any other machine; "
        "and that it was not revoked, and judge, prompt and items are those it speaks of. Exits 2 unless it holds."
    )
    example = (
        "verify_certificate certificate.json\n"
        "  python manage.py verify_certificate certificate.json --public-key lab.pub"
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, metavar="CERTIFICATE.json")
        parser.add_argument(
            "--public-key",
            metavar="FILE|HEX",
            help="of the issuer, as its page of keys shows it; no other is believed",
        )

    def run(self, *, file: Path, public_key: str | None, **_: object) -> CertificateStatusDocument:
        key = read_public_key(public_key) if public_key is not None else None
        return certificate_checks.check(read(file), key).to_json()

    def write_document(self, document: CertificateStatusDocument, **options: object) -> None:
        super().write_document(document, **options)
        if not document["holds"]:  # bad input, and not the failure that `describe_failure` would say
            raise CommandError("the certificate does not hold", returncode=BAD_INPUT)

    def write_text(self, document: CertificateStatusDocument) -> None:
        self.stdout.write(document["state"])
        for line in (*document["problems"], *document["notes"]):
            self.stdout.write(f"  {line}")
        for name, decision in document["decisions"].items():
            self.stdout.write(f"  {name}: {decision}")


def read(path: Path) -> object:
    """The file's document. Raises InputError where it is none."""
    try:
        with path.open("rb") as file:
            return certificate_checks.read_file(file.read(certificate_checks.LARGEST_FILE + 1))
    except OSError as error:
        raise InputError(error.strerror or str(error), file=str(path)) from error
    except InputError as error:
        raise InputError(error.message, file=str(path)) from error


def read_public_key(given: str) -> bytes:
    """The key itself, or the one in a file. Raises InputError where neither is one."""
    path = Path(given)
    try:
        text = path.read_bytes()[:1000].decode("ascii") if path.is_file() else given
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("{given} cannot be read as a public key", field="public-key", given=given) from error
    try:
        return signing.read_public_key(text, given)
    except InputError as error:
        raise InputError(error.message, field="public-key") from error
