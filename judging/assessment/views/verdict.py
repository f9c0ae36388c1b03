"""The page of a judge on a study: its verdict on each criterion, and what is done with the judge as a whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TypedDict
from urllib.parse import parse_qsl, urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_noop
from django.views.decorators.http import require_safe

from annotation.studies.models.studies import Study
from annotation.studies.queries.ratings import load_annotators
from annotation.studies.steps import study_steps
from core.accounts.access import researcher_required
from core.accounts.models.users import User
from core.csv_files import csv_text
from core.downloads import attach_file
from core.errors import InputError
from judging.assessment import calibration_figures
from judging.assessment.forms import EscalationForm, HoldOutForm
from judging.assessment.models.assessment import Certificate
from judging.assessment.queries import certificates as certificate_queries
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import (
    assessment,
    certificate_checks,
    certificates,
    escalation,
    hold_out,
    rules,
    verdicts,
)
from judging.assessment.services.assessment import Assessment, AssessmentRequest, NothingToAssessError
from judging.assessment.services.certificate_checks import CertificateStatus
from judging.assessment.services.verdicts import CriterionVerdict
from judging.assessment.views.large import reads_judge
from judging.judges.models import HoldOut, Judge
from judging.judges.queries.study_items import leaks
from judging.stats.verdict import Rules

MOST_REASONS = 3


@researcher_required
@require_safe
@reads_judge(gettext_noop("What may be done with {judge}"), "audit")
def judge_verdict(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """May this judge replace people, assist them, or not be used: a line for each criterion, whose page says why."""
    return render_verdict(request, get_object_or_404(Study, slug=slug), get_object_or_404(Judge, pk=pk))


def render_verdict(
    request: HttpRequest,
    study: Study,
    judge: Judge,
    *,
    holding_out: HoldOutForm | None = None,
    escalating: EscalationForm | None = None,
) -> HttpResponse:
    """Render the page. A form that was refused says at its fields what is wrong."""
    context = {"study": study, "judge": judge, "steps": study_steps(study, "results")}
    try:
        found = load_assessment(request, study, judge)
    except NothingToAssessError as none:
        return render(request, "judging/verdict.html", {**context, "none": none.evidence.left_out})
    except InputError as error:
        return render(request, "judging/verdict.html", {**context, "error": error}, status=400)
    context |= _context(request, found) | {
        "holding_out": holding_out or HoldOutForm(),
        "escalating": escalating or EscalationForm(found=found),
    }
    status = 400 if holding_out or escalating else 200
    return render(request, "judging/verdict.html", context, status=status)


@researcher_required
@require_safe
def judge_verdict_download(request: HttpRequest, slug: str, pk: int, part: str, format: str) -> HttpResponse:
    """What `calibrate` and `audit` print, as json; every figure a row, as csv."""
    if (part, format) not in DOWNLOADS:
        raise Http404(f"{part} is not given as {format}")
    study, judge = get_object_or_404(Study, slug=slug), get_object_or_404(Judge, pk=pk)
    try:
        found = load_assessment(request, study, judge)
    except InputError as error:
        raise Http404(str(error)) from error
    return attach_file(DOWNLOADS[part, format](found), name=f"{study.slug}-{part}.{format}")


def load_assessment(request: HttpRequest, study: Study, judge: Judge) -> Assessment:
    """The judge on the study, by the study's rules."""
    rules.refuse_others(study, request.GET.dict())
    mine = StudyData.load(study, request.GET.get("part", "")).load_judge(judge)
    found = assessment.assess_judge(by=reader(request), evidence=mine, asked=AssessmentRequest())
    return hold_out.check_seen(found)


def reader(request: HttpRequest) -> User | None:
    """Who asks, for what is kept."""
    return request.user if request.user.is_authenticated else None


def _json(document: object) -> str:
    return json.dumps(document, ensure_ascii=False, indent=1)


DOWNLOADS: dict[tuple[str, str], Callable[[Assessment], str]] = {
    ("calibration", "json"): lambda found: _json(assessment.select_criterion(found.calibration.document, None)),
    ("calibration", "csv"): lambda found: csv_text(calibration_figures.calibration_rows(found.calibration.document)),
    ("audit", "json"): lambda found: _json(assessment.list_criteria(hold_out.audit_document(found), None)),
    ("audit", "csv"): lambda found: csv_text(calibration_figures.audit_rows(found.audit.document)),
}


def _context(request: HttpRequest, found: Assessment) -> dict[str, object]:
    documents = found.calibration.document["criteria"].values()
    return {
        "found": found,
        "decision": found.decision,
        "left_out": found.evidence.left_out,
        "rows": [_row(request, found, verdict) for verdict in found.verdicts],
        "simulated": _name_simulated(found),
        "rules": translate_rules(found.rules.to_json()),
        "changed_rules": found.rules != Rules(),
        "on_record": (on_record := found.rules_on_record()),
        "changes": [change["sentence"] for change in on_record["changes"]],
        "success": found.held_to.success.in_words,
        **_back(found),
        **_split(found.study),
        "looks": hold_out.list_accesses(found.study, found.judge),
        "has_maps": any(one["scores"] and one["scores"]["map"] and one["scores"]["improves"] for one in documents),
        **build_certificate_context(request, found),
        "downloads": list_downloads(found),
    }


def _name_simulated(found: Assessment) -> list[str]:
    """Names of those whose labels the judge is held to and who are no people."""
    raters = {username for one in found.evidence.evidence.values() for username in one.people.table.raters}
    annotators = load_annotators(found.study)
    return [one.name for username, one in annotators.items() if one.is_simulated and username in raters]


def translate_rules(rules: Mapping[str, object]) -> list[tuple[str, str]]:
    """Rules as they are kept, each with what it asks for, in the language of the page."""
    return [(_(label), _(value)) for label, value in verdicts.describe_rules(rules)]


def list_downloads(found: Assessment) -> dict[str, list[tuple[str, str]]]:
    """The files of the judge's calibration and audit."""
    here = [found.study.slug, found.judge.pk]
    return {
        part: [(f.upper(), reverse("judge_verdict_download", args=[*here, part, f])) for f in ("json", "csv")]
        for part in (gettext_noop("calibration"), gettext_noop("audit"))
    }


def _row(request: HttpRequest, found: Assessment, verdict: CriterionVerdict) -> dict[str, object]:
    """The verdict on one criterion, with its page."""
    href = reverse("criterion_verdict", args=[found.study.slug, found.judge.pk, verdict.key])
    query = build_part_query(request)
    return {"verdict": verdict, "href": f"{href}?{query}" if query else href, "strongest": find_strongest(verdict)}


def build_part_query(request: HttpRequest) -> str:
    """The part of the items that is shown, for an address."""
    return urlencode({name: value for name, value in request.GET.items() if name == "part"})


class CertificateContext(TypedDict):
    """The newest certificate with its state, and the part of the items that a new one is to be of."""

    query: str
    typed: list[tuple[str, str]]
    certificate: Certificate | None
    certificate_state: CertificateStatus | None


def build_certificate_context(request: HttpRequest, found: Assessment) -> CertificateContext:
    """The newest certificate of the judge with its state, and what a new one is to be of."""
    newest = certificate_queries.find_newest(found.study, found.judge)
    query = build_part_query(request)
    return {
        "query": query,
        "typed": parse_qsl(query),
        "certificate": newest,
        "certificate_state": certificate_checks.check(certificates.document(newest)) if newest else None,
    }


def _split(study: Study) -> dict[str, object]:
    """How the study is split, and the held-out items whose content is also in the development part."""
    split = HoldOut.objects.filter(study=study).first()
    return {"hold_out": split, "leaks": leaks(study, split) if split else []}


def _back(found: Assessment) -> dict[str, object]:
    """What came back from the newest study of what was escalated to people."""
    newest = escalation.newest(found.study, found.judge)
    back = escalation.summarise_return(newest, found.evidence) if newest else None
    names = {criterion.key: criterion.name for criterion in found.evidence.criteria}
    return {
        "escalation": newest,
        "back": back,
        "back_rows": [(names[key], one) for key, one in back["criteria"].items()] if back else [],
    }


def find_strongest(verdict: CriterionVerdict) -> list[str]:
    """The three strongest reasons: the rules that were not met, those that decide first; if all were, what was met."""
    against = [one for one in verdict.whole.against if one.allows == verdict.whole.decision] or list(
        verdict.whole.against
    )
    reasons = against or [one for one in verdict.whole.reasons if one.allows == "assist and escalate"]
    return [one.message for one in reasons[:MOST_REASONS]]
