"""Certificates: issued from the verdict page, shown with whether they hold, given as files."""

from __future__ import annotations

import json

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotation.access import researcher_required
from annotation.errors import InputError
from annotation.models import Study
from annotation.steps import study_steps
from judging.models import Certificate, Judge
from judging.queries.evidence import StudyEvidence
from judging.services.trust import certificates, holding_out, trusting, verdicts
from judging.services.trust.trusting import Asked
from judging.views.trust import JSON, as_file, reader


@researcher_required
@require_POST
def certificate_issue(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Seal what the verdict page shows, by the rules that it was asked for."""
    study, judge = get_object_or_404(Study, slug=slug), get_object_or_404(Judge, pk=pk)
    try:
        asked = Asked(rules=verdicts.rules_from(request.POST.dict()))
        mine = StudyEvidence.read(study, request.POST.get("part", "")).of(judge)
        found = holding_out.check_seen(trusting.of_judge(by=reader(request), evidence=mine, asked=asked))
    except InputError as error:
        messages.error(request, str(error))
        return redirect("judge_verdict", slug=study.slug, pk=judge.pk)
    issued = certificates.issue(by=reader(request), found=found)
    return redirect("certificate_detail", sha256=issued.sha256)


@researcher_required
@require_safe
def certificate_detail(request: HttpRequest, sha256: str) -> HttpResponse:
    """What it says, and whether it still holds."""
    certificate = get_object_or_404(Certificate.objects.select_related("study", "judge", "created_by"), sha256=sha256)
    context = {
        "certificate": certificate,
        "study": certificate.study,
        "steps": study_steps(certificate.study, "calibration"),
        "content": certificate.content,
        "rules": verdicts.in_words(certificate.content["rules"]),
        "checked": certificates.check(certificates.document(certificate)),
    }
    return render(request, "judging/certificate.html", context)


@researcher_required
@require_safe
def certificate_download(_: HttpRequest, sha256: str) -> HttpResponse:
    """The file that `verify_certificate` takes."""
    certificate = get_object_or_404(Certificate, sha256=sha256)
    document = json.dumps(certificates.document(certificate), ensure_ascii=False, indent=1)
    return as_file(document, JSON, f"certificate-{sha256[:12]}.json")
