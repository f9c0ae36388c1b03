"""From the verdict and comparison pages: escalated items become a study, and fitted maps a judge."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotation.studies.models.studies import Study
from core.accounts.access import researcher_required
from core.errors import InputError
from judging.assessment.forms import EscalationForm, HoldOutForm
from judging.assessment.options import CascadeOptions
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import assessment, cascades, hold_out, recalibration
from judging.assessment.services.assessment import AssessmentRequest
from judging.assessment.views.verdict import reader, render_verdict
from judging.judges.models import Judge
from judging.judges.queries.study_items import HELD_OUT


@researcher_required
@require_POST
def judge_escalate(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Make the study and go there; where that cannot be, the verdict's page says why at the field."""
    study, judge = get_object_or_404(Study, slug=slug), get_object_or_404(Judge, pk=pk)
    try:
        mine = StudyData.load(study).load_judge(judge)
        found = assessment.assess_judge(by=reader(request), evidence=mine, asked=AssessmentRequest())
    except InputError as error:
        messages.error(request, error.message)
        return redirect("judge_verdict", slug=study.slug, pk=judge.pk)
    form = EscalationForm(request.POST, found=found)
    if form.is_valid() and (made := form.make(reader(request), found)):
        return redirect("study_detail", slug=made.target.slug)
    return render_verdict(request, study, judge, escalating=form)


@researcher_required
@require_POST
def cascade_escalate(request: HttpRequest, slug: str) -> HttpResponse:
    """Make a study of what a cascade leaves, and go there; back to the comparison with the reason where not."""
    study = get_object_or_404(Study, slug=slug)
    asked = {name: request.POST.getlist(name) for name in ("judge", "target", "delta")}
    try:
        usual = CascadeOptions()
        typed = {name: _parse_number(request, name, getattr(usual, name)) for name in ("target", "delta")}
        options = CascadeOptions(**typed)
        evidence = StudyData.load(study)
        each = evidence.load_judges(cascades.check_judges(_judges(evidence, asked["judge"])))
        made = cascades.escalate(
            by=reader(request),
            each=each,
            found=cascades.compute_cascade(each, options),
            options=options,
            name=request.POST.get("name", ""),
            overlap=int(_parse_number(request, "overlap", study.overlap)),
        )
    except InputError as error:
        messages.error(request, error.message)
        return redirect(f"{reverse('calibration', args=[study.slug])}?{urlencode(asked, doseq=True)}#cascade")
    return redirect("study_detail", slug=made.target.slug)


def _judges(evidence: StudyData, pks: Sequence[str]) -> list[Judge]:
    there = {str(judge.pk): judge for judge in evidence.judges()}
    return [there[pk] for pk in pks if pk in there]


@researcher_required
@require_POST
def judge_recalibrate(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Apply the fitted maps, and go to the verdict on the recalibrated judge."""
    study, judge = get_object_or_404(Study, slug=slug), get_object_or_404(Judge, pk=pk)
    try:
        mine = StudyData.load(study).load_judge(judge)
        found = assessment.assess_judge(by=reader(request), evidence=mine, asked=AssessmentRequest())
        run = recalibration.apply(by=reader(request), found=found, anyway="anyway" in request.POST)
    except InputError as error:
        messages.error(request, error.message)
        return redirect("judge_verdict", slug=study.slug, pk=judge.pk)
    return redirect("judge_verdict", slug=study.slug, pk=run.judge_id)


@researcher_required
@require_POST
def study_hold_out(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Hold a part of the study's items out, and go on with the development part."""
    study, judge = get_object_or_404(Study, slug=slug), get_object_or_404(Judge, pk=pk)
    form, by = HoldOutForm(request.POST), reader(request)
    if not form.is_valid():
        return render_verdict(request, study, judge, holding_out=form)
    if form.done(lambda: hold_out.hold_out(by=by, study=study, seed=study.seed, **form.arguments())) is None:
        return render_verdict(request, study, judge, holding_out=form)
    return redirect("judge_verdict", slug=study.slug, pk=judge.pk)


@researcher_required
@require_POST
def record_held_out_access(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Look at the held-out part, on record."""
    study, judge = get_object_or_404(Study, slug=slug), get_object_or_404(Judge, pk=pk)
    try:
        hold_out.record_access(by=reader(request), study=study, judge=judge, asked=AssessmentRequest())
    except InputError as error:
        messages.error(request, error.message)
        return redirect("judge_verdict", slug=study.slug, pk=judge.pk)
    return redirect(f"{reverse('judge_verdict', args=[study.slug, judge.pk])}?part={HELD_OUT}")


def _parse_number(request: HttpRequest, name: str, usual: float) -> float:
    typed = request.POST.get(name, "")
    try:
        return float(typed) if typed else usual
    except ValueError as error:
        raise InputError("{typed!r} is not a number", field=name, typed=typed) from error
