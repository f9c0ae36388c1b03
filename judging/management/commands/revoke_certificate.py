"""`revoke_certificate`: say that a certificate does not hold any more."""

from __future__ import annotations

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from core.errors import InputError
from judging.assessment.queries.certificates import find_issued
from judging.assessment.result_types import CertificateStatusDocument
from judging.assessment.services import certificate_checks, certificates


class Command(ConcordCommand[CertificateStatusDocument]):
    help = "Revoke a certificate, for good. Whoever checks it at this site reads the reason."
    example = 'revoke_certificate 5f0c… --reason "two annotators shared an account"'

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("sha256", metavar="SHA256", help="of the certificate, as its file and its page show it")
        parser.add_argument("--reason", required=True, metavar="TEXT", help="why it does not hold any more")

    def run(self, *, sha256: str, reason: str, **_: object) -> CertificateStatusDocument:
        certificate = find_issued(sha256)
        if certificate is None:
            raise InputError("no certificate of this hash was issued here", field="sha256")
        certificates.revoke(by=None, certificate=certificate, reason=reason)
        return certificate_checks.find_issued(certificate.sha256).to_json()

    def write_text(self, document: CertificateStatusDocument) -> None:
        self.stdout.write(f"{document['sha256']}: {document['state']}. {' '.join(document['problems'])}")
