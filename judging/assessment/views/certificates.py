"""Certificates: issued from the verdict page, shown with whether they hold, given as files, checked and revoked."""

from __future__ import annotations

import json

from allauth.core import ratelimit
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from annotation.studies.models.studies import Study
from annotation.studies.steps import study_steps
from core.accounts.access import may_research, public, researcher_required
from core.accounts.permissions import sees
from core.downloads import attach_file
from core.errors import InputError
from core.messages import show_errors
from judging.assessment import signing
from judging.assessment.models.assessment import Certificate
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.queries.certificates import find_issued
from judging.assessment.services import assessment, certificate_checks, certificates, hold_out, rules
from judging.assessment.services.assessment import Assessment, AssessmentRequest
from judging.assessment.services.certificate_checks import CertificateStatus
from judging.assessment.views.verdict import reader, translate_rules
from judging.judges.models import Judge
from judging.judges.queries.study_items import HELD_OUT

BAD, TOO_MANY = 400, 429


@researcher_required
@require_POST
def certificate_issue(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Sign what the verdict page showed, by the study's rules; what has changed since is to be read first."""
    study, judge = get_object_or_404(Study, slug=slug), get_object_or_404(Judge, pk=pk)
    there = {}
    try:
        mine = StudyData.load(study, request.POST.get("part", "")).load_judge(judge)
        rules.refuse_others(study, request.POST.dict())
        found = hold_out.check_seen(
            assessment.assess_judge(by=reader(request), evidence=mine, asked=AssessmentRequest())
        )
        there = {"part": found.part} if found.part == HELD_OUT else {}
        _check_shown(request, found)
        issued = certificates.issue(by=reader(request), found=found)
    except InputError as error:
        messages.error(request, str(error))
        return redirect(reverse("judge_verdict", args=[study.slug, judge.pk], query=there))
    return redirect("certificate_detail", sha256=issued.sha256)


def _check_shown(request: HttpRequest, found: Assessment) -> None:
    """Raise InputError where the page showed other results or rules than those of now."""
    if request.POST.get("shown", found.identity) != found.identity:
        raise InputError("Labels, judgments or rules have changed since. Read the results of now, then issue it.")


@researcher_required
@require_safe
def certificate_detail(request: HttpRequest, sha256: str) -> HttpResponse:
    """What it says, and whether it still holds."""
    rows = Certificate.objects.select_related("study", "judge", "created_by", "revocation__created_by")
    certificate = get_object_or_404(rows, sha256=sha256)
    content = certificate.content
    context = {
        "certificate": certificate,
        "study": certificate.study,
        "steps": study_steps(certificate.study, "results"),
        "content": content,
        "rules": translate_rules(content["rules"]),
        "changes": _changes_then(certificate),
        "document": certificates.document(certificate),
        "checked": certificate_checks.check(certificates.document(certificate)),
    }
    return render(request, "judging/certificate.html", context)


def _changes_then(certificate: Certificate) -> list[str]:
    """The changes of the rules before it was issued, with the names that the signed content leaves out."""
    n = len(certificate.content.get("rules_on_record", {}).get("changes", ()))
    there = rules.load(certificate.study)
    names = rules.load_names(there.rows)
    return [rules.sentence(before, after, names) for before, after in there.changes[:n]]


@researcher_required
@require_safe
def certificate_download(_request: HttpRequest, sha256: str) -> HttpResponse:
    """The file that `verify_certificate` takes."""
    certificate = get_object_or_404(Certificate, sha256=sha256)
    document = json.dumps(certificates.document(certificate), ensure_ascii=False, indent=1)
    return attach_file(document, name=f"certificate-{sha256[:12]}.json")


@researcher_required
@require_POST
def certificate_revoke(request: HttpRequest, sha256: str) -> HttpResponse:
    """Say, for good, that it does not hold."""
    certificate = get_object_or_404(Certificate, sha256=sha256)
    with show_errors(request):
        certificates.revoke(by=reader(request), certificate=certificate, reason=request.POST.get("reason", ""))
    return redirect("certificate_detail", sha256=sha256)


@public
def certificate_verify(request: HttpRequest) -> HttpResponse:
    """Whether a certificate holds: of a file, of pasted text, or of a hash. Also for who has no account."""
    if request.method != "POST":
        return render(request, "judging/certificate_verify.html", {})
    if not ratelimit.consume(request, action="verify"):
        return _refused(
            request, _("Too many certificates were checked from your network. Try again in a minute."), TOO_MANY
        )
    try:
        checked = _checked(request)
    except InputError as error:
        return _refused(request, error.message, BAD)
    is_issued = checked.state in (certificate_checks.HOLDS, certificate_checks.EXPIRED, certificate_checks.REVOKED)
    certificate = find_issued(checked.sha256) if is_issued else None
    is_open = may_research(request.user) and sees(request.user, certificate)
    context: dict[str, object] = {"checked": checked, "certificate": certificate, "is_open": is_open}
    status = 200
    if checked.state == certificate_checks.MALFORMED:
        context["given"], status = request.POST, BAD
    return render(request, "judging/certificate_verify.html", context, status=status)


def _refused(request: HttpRequest, why: str, status: int) -> HttpResponse:
    return render(request, "judging/certificate_verify.html", {"error": why, "given": request.POST}, status=status)


def _checked(request: HttpRequest) -> CertificateStatus:
    """What the form was given, checked. Raises InputError where that is nothing, or no file of JSON."""
    file, pasted = request.FILES.get("file"), request.POST.get("text", "").strip()
    sha256 = request.POST.get("sha256", "").strip().lower()
    if file:
        return certificate_checks.check(certificate_checks.read_file(file.read(certificate_checks.LARGEST_FILE + 1)))
    if pasted:
        return certificate_checks.check(certificate_checks.read_file(pasted.encode("utf-8", "surrogatepass")))
    if sha256:
        return certificate_checks.find_issued(sha256)
    raise InputError("Choose a file, paste its text, or give its hash.")


@public
@require_safe
def list_signing_keys(request: HttpRequest) -> HttpResponse:
    """The public keys that check this site's certificates."""
    context = {"keys": certificates.list_keys(), "algorithm": signing.ALGORITHM}
    return render(request, "judging/signing_keys.html", context)
