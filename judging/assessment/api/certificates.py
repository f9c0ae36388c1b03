"""Rules of verdicts, certificates issued by them, checked and revoked, and the keys that check them."""

from __future__ import annotations

from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.base import AnyAccount, Given, PageQuery, build_page_schema
from core.api.requests import JsonBody
from core.api.schema import says
from core.errors import InputError
from judging.assessment import signing
from judging.assessment.api.documents import StudyRulesSerializer
from judging.assessment.api.results import OfJudge, ResultsApi
from judging.assessment.models.assessment import Certificate
from judging.assessment.services import certificate_checks, certificates, rules, verdicts
from judging.assessment.services.rules import SUCCESSES


class ByRules(Given):
    """What names rules, and why they change."""

    rules = serializers.DictField(
        child=serializers.CharField(allow_blank=True, max_length=2000),
        default=dict,
        help_text=f"As typed: {', '.join(verdicts.NAMES)}.",
    )
    reason = serializers.CharField(
        default="", allow_blank=True, help_text="Needed where rules change after the first look."
    )


class NewRules(ByRules):
    success = serializers.ChoiceField(SUCCESSES, required=False, help_text="The decision that counts as one.")
    criteria = serializers.ListField(
        child=serializers.CharField(max_length=60), required=False, help_text="That the success takes; all if empty."
    )


class StudyRules(ResultsApi):
    @says(
        "rules",
        "The rules of a study's verdicts, its criterion of success, and how they came about",
        StudyRulesSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        return Response(rules.document(self.study(slug)))

    @says(
        "set_rules",
        "Set the rules before the first look, or change them on record",
        StudyRulesSerializer,
        body=NewRules,
        status=201,
    )
    def post(self, request: Request, slug: str) -> Response:
        study, given = self.study(slug), self.parse_body(NewRules)
        there = rules.load(study)
        wanted = verdicts.parse_rules(rules.check_names(given["rules"]), there.rules)
        criteria = tuple(given["criteria"]) if "criteria" in given else there.success.criteria
        success = rules.Success(given.get("success", there.success.decision), criteria)
        rules.set_rules(by=self.me, study=study, rules=wanted, success=success, reason=given["reason"])
        return Response(rules.document(study), status=201)


class NewCertificate(ByRules):
    part = serializers.CharField(default="", allow_blank=True)


class CheckedSerializer(serializers.Serializer[object]):
    """Whether a certificate holds, and why not."""

    sha256 = serializers.CharField(help_text="Empty where the document has none.")
    state = serializers.CharField()
    holds = serializers.BooleanField()
    problems = serializers.ListField(child=serializers.CharField())
    notes = serializers.ListField(child=serializers.CharField())
    decisions = serializers.DictField(
        child=serializers.CharField(),
        help_text="The verdict by the criterion's name, where it holds; none by the hash alone.",
    )


class CertificateSerializer(CheckedSerializer):
    """A certificate as `verify_certificate` takes it, and whether it holds now."""

    document = serializers.DictField()


def render_certificate(certificate: Certificate) -> dict[str, object]:
    document = certificates.document(certificate)
    return {**certificate_checks.check(document).to_json(), "sha256": certificate.sha256, "document": document}


class IssuedSerializer(serializers.ModelSerializer[Certificate]):
    """A certificate on a list; its own address says whether it holds."""

    created_by = serializers.CharField(source="created_by.username", default=None, allow_null=True)
    revoked_at = serializers.DateTimeField(source="revocation.created_at", default=None, allow_null=True)

    class Meta:
        model = Certificate
        fields = ["sha256", "created_by", "created_at", "revoked_at"]


class JudgeCertificates(OfJudge):
    @says(
        "certificates",
        "Certificates issued of a judge on a study",
        build_page_schema(IssuedSerializer),
        query=PageQuery,
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        rows = Certificate.objects.filter(study__slug=slug, judge=pk).select_related("created_by", "revocation")
        return self.page(rows, IssuedSerializer)

    @says("certify", "Sign what was found of a judge", CertificateSerializer, body=NewCertificate, status=201)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        given = self.parse_body(NewCertificate)
        wanted, evidence = rules.check_names(given["rules"]), self.load_data(slug, pk, given["part"])
        if evidence.criteria:  # a judge that said nothing must not change the rules
            rules.resolve(by=self.me, study=evidence.study, given=wanted, reason=given["reason"])
        issued = certificates.issue(by=self.me, found=self.build_assessment(evidence, given["part"]))
        return Response(render_certificate(issued), status=201)


class CertificateDetail(ResultsApi):
    @says("certificate", "A certificate, and whether it holds", CertificateSerializer)
    def get(self, request: Request, sha256: str) -> Response:
        rows = Certificate.objects.select_related("study", "judge", "created_by")
        return Response(render_certificate(get_object_or_404(rows, sha256=sha256)))


class NewRevocation(Given):
    reason = serializers.CharField(max_length=certificates.LONGEST_REASON)


class RevocationCreate(ResultsApi):
    @says("revoke_certificate", "Revoke a certificate, for good", CertificateSerializer, body=NewRevocation, status=201)
    def post(self, request: Request, sha256: str) -> Response:
        certificate = get_object_or_404(Certificate, sha256=sha256)
        certificates.revoke(by=self.me, certificate=certificate, **self.parse_body(NewRevocation))
        return Response(render_certificate(certificate), status=201)


class CertificateQuestion(Given):
    document = serializers.DictField(required=False, help_text="What stands in the certificate's file.")
    sha256 = serializers.CharField(required=False, help_text="Or the certificate's hash alone.")


class CertificateBody(JsonBody):
    """JSON as in a certificate's file: a name that stands twice is refused."""

    def read(self, content: bytes) -> object:
        return certificate_checks.read_file(content)


class CertificateCheck(AnyAccount):
    tag = "results"
    is_a_write = False
    parser_classes = [CertificateBody]

    @says(
        "check_certificate",
        "Whether a certificate holds: signed by this site, issued here, not revoked, not expired",
        CheckedSerializer,
        body=CertificateQuestion,
    )
    def post(self, request: Request) -> Response:
        given = self.parse_body(CertificateQuestion)
        if len(given) != 1:
            raise InputError("Give the document, or its hash.", field="document")
        if "sha256" in given:
            return Response(certificate_checks.find_issued(given["sha256"]).to_json())
        checked = certificate_checks.check(given["document"])
        if checked.state == certificate_checks.MALFORMED:
            raise InputError(" ".join(checked.problems), field="document")
        return Response(checked.to_json())


class PublicKeySerializer(serializers.Serializer[object]):
    """A public key of the site, in hexadecimal."""

    key_id = serializers.CharField()
    public_key = serializers.CharField()
    signs = serializers.BooleanField(help_text="Whether new certificates are signed with it.")


class SigningKeysSerializer(serializers.Serializer[object]):
    """The keys that check this site's certificates, the one that signs first."""

    algorithm = serializers.CharField()
    keys = PublicKeySerializer(many=True)


class SigningKeys(AnyAccount):
    tag = "results"

    @says("signing_keys", "The public keys that check this site's certificates", SigningKeysSerializer)
    def get(self, request: Request) -> Response:
        return Response({"algorithm": signing.ALGORITHM, "keys": certificates.list_keys()})
