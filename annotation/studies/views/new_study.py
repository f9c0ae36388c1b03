"""A new study in four steps, with what annotators will see beside the form.

What was entered is kept in the session until the study is made, so that going back, or leaving, loses nothing. Each
step is a page of its own; nothing here needs a script.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.contrib import messages
from django.forms import Field
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _

from annotation.studies.criteria import RUBRICS, default_keys
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Criterion, Item, Study
from annotation.studies.new_study_forms import (
    ACCESS,
    CHOSEN,
    OF_THE_KIND,
    OWN,
    PUBLISHED,
    STEPS,
    Entered,
    FormStep,
    StudyForm,
    iterate_posted,
    read_entered,
    write_rubric,
)
from annotation.studies.queries import sampling_frame
from annotation.studies.queries.context import panels
from annotation.studies.queries.sample_items import build_criteria, build_free_assignment, invent_item
from annotation.studies.queries.sampling_frame import Record
from annotation.studies.rubric_forms import Files
from annotation.studies.services.rubrics import read_rubric_for
from annotation.studies.services.studies import list_template_fields
from annotation.workbench.forms import RatingForm
from core.accounts.access import get_account, researcher_required
from core.errors import InputError

KEPT = "new_study"
BY_KEY = {step.key: step for step in STEPS}


@researcher_required
def study_create(request: HttpRequest) -> HttpResponse:
    """One step of a new study."""
    kind, entered = load_entered(request)
    step = BY_KEY.get(request.GET.get("step", ""), STEPS[0])
    if request.method == "POST":
        return answer(request, kind, entered)
    return page(request, build_form(kind, entered, has_errors=False), entered, step)


def load_entered(request: HttpRequest) -> tuple[str, Entered]:
    """The kind of item and what is in the fields: what was kept, or what they begin with."""
    kept = request.session.get(KEPT, {})
    kind = request.GET.get("kind", kept.get("kind", ""))
    if kind not in Study.Kind.values:
        kind = choose_kind()
    entered = read_entered(StudyForm(kind=kind))
    if kept:
        entered |= {name: texts for name, texts in kept["entered"].items() if fits(name, kind, kept["kind"])}
    if source := request.GET.get("source"):
        entered["filter_source"] = [source]
    return kind, entered


def fits(name: str, kind: str, before: str) -> bool:
    """Whether what is in a field means the same for this kind of item."""
    return kind == before or not (name in OF_THE_KIND or name.startswith("filter_"))


def choose_kind() -> str:
    """Dialogues, unless there are none but pairs."""
    has = {kind: sampling_frame.list_records(kind).exists() for kind in (Study.Kind.DIALOGUE, Study.Kind.PAIR)}
    return Study.Kind.PAIR if has[Study.Kind.PAIR] and not has[Study.Kind.DIALOGUE] else Study.Kind.DIALOGUE


def build_form(kind: str, entered: Entered, *, has_errors: bool = True, files: Files | None = None) -> StudyForm:
    """The form with what was entered: checked, or as it is."""
    if has_errors:
        return StudyForm(MultiValueDict(entered), files=files, kind=kind)
    form = StudyForm(kind=kind)
    listed = {name for name, field in form.fields.items() if isinstance(field.initial or [], list) and is_list(field)}
    form.initial = {name: texts if name in listed else "".join(texts[:1]) for name, texts in entered.items()}
    return form


def is_list(field: Field) -> bool:
    return bool(getattr(field.widget, "allow_multiple_selected", False))


def answer(request: HttpRequest, kind: str, entered: Entered) -> HttpResponse:
    """Take what a step sent, and go where its button leads."""
    go = request.POST.get("go", "next")
    if go == "restart":
        request.session.pop(KEPT, None)
        return redirect("study_create")
    step = BY_KEY.get(request.POST.get("step", ""))
    entered |= dict(iterate_posted(StudyForm(kind=kind), request.POST, step))
    form = build_form(kind, entered, files=request.FILES)
    if request.FILES and form.is_valid() is not None and form.cleaned_data.get("rubric_file"):
        entered |= {"rubric": write_rubric(form.cleaned_data["rubric"]), "template": [OWN]}
        form = build_form(kind, entered)
    here = step or STEPS[-1]
    if go == "show":
        return page(request, build_form(kind, entered, has_errors=False), entered, here)
    request.session[KEPT] = {"kind": kind, "entered": entered}
    if new := request.POST.get("set_kind"):
        return redirect(f"{reverse('study_create')}?kind={new}")
    if go == "create":
        return create(request, form, entered)
    if go == "next" and form.find_wrong(here):
        return page(request, form, entered, here)
    there = BY_KEY.get(go) or STEPS[min(STEPS.index(here) + 1, len(STEPS) - 1)]
    return redirect(f"{reverse('study_create')}?step={there.key}")


def create(request: HttpRequest, form: StudyForm, entered: Entered) -> HttpResponse:
    """Make the study, or show the first step with something wrong in it."""
    if form.is_valid() and (study := form.create(get_account(request))):
        request.session.pop(KEPT, None)
        messages.success(request, _("{study} is ready. Annotators see it once it is open.").format(study=study))
        return redirect("study_detail", slug=study.slug)
    wrong = next((step for step in STEPS if form.find_wrong(step)), STEPS[-1])
    return page(request, form, entered, wrong)


def page(request: HttpRequest, form: StudyForm, entered: Entered, step: FormStep) -> HttpResponse:
    checked = build_form(form.kind, entered)
    place = STEPS.index(step)
    folded = form.list_folded(step)
    shown = [name for name in form.list_fields(step) if name not in folded]
    context = {
        "form": form,
        "kind": form.kind,
        "kinds": [(value, _(label), sampling_frame.list_records(value).count()) for value, label in Study.Kind.choices],
        "step": step,
        "steps": [(one, number < place and not checked.find_wrong(one)) for number, one in enumerate(STEPS)],
        "number": place + 1,
        "before": STEPS[place - 1] if place else None,
        "shown": [form[name] for name in shown],
        "folded": [form[name] for name in folded],
        "is_fold_open": any(name in form.errors for name in folded) if form.is_bound else False,
        "is_kept": KEPT in request.session,
        "access": _(ACCESS.get(checked["access"].value(), "")),
        "wrong": [one for one in STEPS if checked.find_wrong(one)],
        **build_preview(checked, step.key),
    }
    return render(request, "annotation/study_create.html", context)


def build_preview(form: StudyForm, step: str) -> dict[str, object]:
    """What the template shows beside a step: the first item, the questions, and how many ratings it will take."""
    form.is_valid()
    given = form.cleaned_data
    study = Study(kind=form.kind, name=given.get("name", ""), shown=given.get("shown") or [])
    study.instructions, study.asks_strength = given.get("instructions", ""), given.get("asks_strength", False)
    study.content_form = given.get("content_form") or Study.ContentForm.RENDERED
    matching, record = form.matching
    drawn = min(given.get("size") or 0, matching) if given.get("method") != "all" else matching
    overlap = given.get("overlap") or 0
    found: dict[str, object] = {"matching": matching, "drawn": drawn, "ratings": drawn * overlap, "given": given}
    if step != "people":
        found |= build_item_context(study, record)
    problem, criteria = list_criteria(form, study)
    slot = build_first_assignment(study, record, criteria)
    rows = RatingForm(slot=slot, criteria=criteria, entered={}).rows() if criteria else []
    return found | {"study": study, "rows": rows, "criteria": criteria, "problem": problem}


def build_item_context(study: Study, record: Record | None) -> dict[str, object]:
    slot = build_first_assignment(study, record, [])
    item = slot.item
    return {
        "is_invented": record is None,
        "dialogue": item.dialogue,
        "pair": item.pair,
        "sides": slot.build_shown_responses() if item.pair else {},
        "panels": panels(item, study.shown),
    }


def build_first_assignment(study: Study, record: Record | None, criteria: list[Criterion]) -> Assignment:
    """A slot that nobody holds, on the first item or, where there is none, on an invented one."""
    study.asked = criteria
    item = Item(study=study, position=1, **{study.kind: record}) if record else invent_item(study)
    return build_free_assignment(study, item)


def list_criteria(form: StudyForm, study: Study) -> tuple[str, list[Criterion]]:
    """What is asked as it stands in the form, or why that cannot be asked; nothing while nothing is chosen."""
    given = form.cleaned_data
    template = given.get("template", PUBLISHED)
    keys = default_keys(form.kind) if template == PUBLISHED else given.get("criteria") or []
    try:
        if template not in (PUBLISHED, CHOSEN):
            return "", list_of_rubric(study, template, given.get("rubric"))
        if not keys:
            return "", []
        each_turn, allow_tie = given.get("each_turn") or [], given.get("allow_tie", False)
        fields = list_template_fields(form.kind, keys, allow_tie=allow_tie, each_turn=each_turn)
    except InputError as error:
        return error.message, []
    return "", [Criterion(pk=-place, study=study, position=place, **one) for place, one in enumerate(fields, start=1)]


def list_of_rubric(study: Study, template: str, own: Mapping[str, object] | None) -> list[Criterion]:
    if template == OWN:
        return build_criteria(study, read_rubric_for(study.kind, own)) if own else []
    return build_criteria(study, RUBRICS[template])
