"""Which items to label next: how many, where, which; and a study of them."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext
from django.views.decorators.http import require_POST, require_safe

from annotation.studies.models.studies import Study
from annotation.studies.steps import study_steps
from core.accounts.access import researcher_required
from core.errors import InputError
from judging.assessment.forms import PlanForm, PlanStudyForm
from judging.assessment.queries.assessment_data import JudgeData, StudyData
from judging.assessment.services import labelling_plans, rules
from judging.assessment.views.large import reads_judge
from judging.assessment.views.verdict import reader
from judging.judges.models import Judge


@researcher_required
@require_safe
@reads_judge(gettext_noop("What to label next for {judge}"), "plan_labels --criterion KEY --width 0.1")
def judge_plan(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The form; with an answer in the address, the plan."""
    study, judge = get_object_or_404(Study, slug=slug), get_object_or_404(Judge, pk=pk)
    head: dict[str, object] = {"study": study, "judge": judge, "steps": study_steps(study, "results")}
    try:
        evidence = _load_data(request, study, judge)
    except InputError as error:
        return render(request, "judging/plan.html", {**head, "error": error}, status=400)
    form = PlanForm(request.GET if request.GET.keys() & {"criterion", "width"} else None, evidence=evidence)
    found = _planned(form, evidence) if form.is_bound else {}
    status = 400 if form.errors else 200
    return render(
        request,
        "judging/plan.html",
        {**head, "form": form, "part": evidence.part, "left_out": evidence.left_out, **found},
        status=status,
    )


def _load_data(request: HttpRequest, study: Study, judge: Judge) -> JudgeData:
    """The judge beside people, for a plan that rests on how it agrees. InputError where it has said nothing."""
    found = StudyData.load(study).load_judge(judge)
    found.check_judged()
    rules.lock_rules(by=reader(request), study=study)
    return found


def _given(request: HttpRequest, evidence: JudgeData) -> tuple[dict[str, Any], PlanForm]:
    """What was sent. Raises InputError with all that is wrong with it."""
    form = PlanStudyForm(request.POST, evidence=evidence)
    if not form.is_valid():
        raise InputError(
            " ".join(f"{_(str(form[name].label))}: {one}" for name, found in form.errors.items() for one in found)
        )
    return form.cleaned_data, form


def _planned(form: PlanForm, evidence: JudgeData) -> dict[str, object]:
    """The plan that the form asks for; nothing where it is wrong, which is said at its field."""
    if not form.is_valid():
        return {}
    key = form.cleaned_data["criterion"]
    try:
        document = labelling_plans.plan(evidence, form.plan_options())
    except InputError as error:
        form.refuse(error)
        return {}
    given = {name: form.cleaned_data[name] for name in ("criterion", "width", "by", "confidence", "seed")}
    criterion = next(c for c in evidence.criteria if c.key == key)
    return {
        "plan": document,
        "given": list(given.items()),
        "criterion": criterion,
        "noun": criterion.part_noun,
        "items_noun": ngettext("item", "items", len(document["items"])),
        "default_name": f"{evidence.study.name}, to label next"[:120],
    }


@researcher_required
@require_POST
def judge_plan_study(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Make a study of the drawn items and go there; back to the plan with the reason where that cannot be."""
    study, judge = get_object_or_404(Study, slug=slug), get_object_or_404(Judge, pk=pk)
    try:
        evidence = _load_data(request, study, judge)
        given, form = _given(request, evidence)
        found = labelling_plans.build_plan(evidence, form.plan_options())
        made = labelling_plans.make_study(
            by=reader(request), evidence=evidence, found=found, name=given["name"], overlap=given["overlap"]
        )
    except InputError as error:
        messages.error(request, error.message)
        asked = {name: request.POST.get(name, "") for name in ("criterion", "width", "by", "confidence", "seed")}
        return redirect(f"{reverse('judge_plan', args=[study.slug, judge.pk])}?{urlencode(asked)}")
    return redirect("study_detail", slug=made.target.slug)
