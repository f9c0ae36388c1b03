"""Which items to label next: how many, where, which; and a study of them."""

from __future__ import annotations

from collections.abc import Mapping

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
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
    try:
        evidence = _load_data(request, study, judge)
    except InputError as error:
        return _render(request, study, judge, {"error": error}, status=400)
    form = PlanForm(request.GET if request.GET.keys() & {"criterion", "width"} else None, evidence=evidence)
    return _render_plan(request, evidence, form)


def _render(
    request: HttpRequest, study: Study, judge: Judge, context: Mapping[str, object], *, status: int
) -> HttpResponse:
    head = {"study": study, "judge": judge, "steps": study_steps(study, "results")}
    return render(request, "judging/plan.html", {**head, **context}, status=status)


def _render_plan(
    request: HttpRequest, evidence: JudgeData, form: PlanForm, making: PlanStudyForm | None = None
) -> HttpResponse:
    """Render the plan that the form asks for. A form that was refused, `making` too, says why at its fields."""
    found = _planned(form, evidence) if form.is_bound else {}
    context = {"form": form, "part": evidence.part, "left_out": evidence.left_out, "making": making, **found}
    if not making:
        study = evidence.study
        initial = {"name": f"{study.name}, to label next"[:120], "overlap": study.overlap}
        context["making"] = PlanStudyForm(evidence=evidence, initial=initial)
    return _render(request, evidence.study, evidence.judge, context, status=400 if form.errors or making else 200)


def _load_data(request: HttpRequest, study: Study, judge: Judge) -> JudgeData:
    """The judge beside people, for a plan that rests on how it agrees. InputError where it has said nothing."""
    found = StudyData.load(study).load_judge(judge)
    found.check_judged()
    rules.lock_rules(by=reader(request), study=study)
    return found


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
    }


@researcher_required
@require_POST
def judge_plan_study(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Make a study of the drawn items and go there; where that cannot be, the plan's page says why at the field."""
    study, judge = get_object_or_404(Study, slug=slug), get_object_or_404(Judge, pk=pk)
    try:
        evidence = _load_data(request, study, judge)
    except InputError as error:
        return _render(request, study, judge, {"error": error}, status=400)
    making = PlanStudyForm(request.POST, evidence=evidence)
    if making.is_valid() and (made := making.make(reader(request))):
        return redirect("study_detail", slug=made.target.slug)
    return _render_plan(request, evidence, PlanForm(request.POST, evidence=evidence), making)
