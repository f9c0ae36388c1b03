"""The builder of a study's rubric: its criteria, one of them as a form, all as annotators see them, and a try-out.

Beside it, the page of a criterion's guideline: its text to be edited, and its versions.
"""

from __future__ import annotations

from functools import partial

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _

from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.parsing.criterion_specs import CriterionSpec
from annotation.studies.parsing.rubric_files import (
    FORMATS,
    spell_type,
    to_criterion_document,
    to_document,
    write_rubric,
)
from annotation.studies.parsing.rubrics import Rubric
from annotation.studies.queries.context import panels
from annotation.studies.queries.criteria import load_rubric
from annotation.studies.queries.given_answers import check_answers
from annotation.studies.queries.guidelines import history
from annotation.studies.queries.sample_items import build_sample_assignment
from annotation.studies.rubric_forms import TYPES, CriterionForm, GuidelineForm, RubricFileForm, to_initial
from annotation.studies.services import rubrics
from annotation.studies.services.guidelines import has_values
from annotation.studies.services.rubrics import RubricChanges, read_rubric_for
from annotation.studies.steps import study_steps
from annotation.workbench.forms import RatingForm
from core.accounts.access import get_account, researcher_required
from core.downloads import attach_file
from core.errors import InputError


@researcher_required
def rubric(request: HttpRequest, slug: str) -> HttpResponse:
    """Add, edit, move and remove criteria."""
    study = get_object_or_404(Study, slug=slug)
    now = load_rubric(study)
    action = request.POST.get("action", "")
    if action in MOVES:
        return apply(request, study, MOVES[action](now, request.POST.get("key", "")))
    if action == "replace":
        return replace(request, study, now)
    form = find_form(request, study, now)
    if action == "save" and form is not None and form.is_valid():
        keep = not form.cleaned_data.get("no_pictures")
        document = put(now, request.POST.get("old", ""), form, keep=keep)
        try:
            return tell(request, study, change(request, study, document))
        except InputError as error:
            form.refuse(error) if error.field != "reason" else form.add_error(None, error.message)
    return page(request, study, now, form=form)


def page(
    request: HttpRequest,
    study: Study,
    now: Rubric,
    *,
    form: CriterionForm | None = None,
    whole: RubricFileForm | None = None,
) -> HttpResponse:
    shown = preview_of(request, now, form)
    slot = build_sample_assignment(study, shown)
    context = {
        "study": study,
        "steps": study_steps(study),
        "criteria": [(one, _(TYPES[spell_type(one)]).lower()) for one in now.criteria],
        "form": form,
        "old": request.POST.get("old") or request.GET.get("edit", ""),
        "whole": whole or RubricFileForm(kind=study.kind),
        "rows": RatingForm(slot=slot, criteria=study.asked, entered={}).rows(),
        "has_labels": any(has_values(one) for one in study.criteria.all()),
        "retired": study.criteria.filter(is_asked=False),
        "formats": FORMATS,
    }
    return render(request, "annotation/rubric.html", context)


def find_form(request: HttpRequest, study: Study, now: Rubric) -> CriterionForm | None:
    """The form of the criterion that is edited or added; None while none is."""
    edited = request.POST.get("old") if request.method == "POST" else request.GET.get("edit")
    place = next((place for place, one in enumerate(now.criteria) if one.key == edited), None)
    if edited and place is None:
        raise Http404
    own = None if place is None else now.criteria[place]
    form = partial(
        CriterionForm,
        kind=study.kind,
        earlier=now.criteria[:place],
        has_pictures=own is not None and any(one.image for one in own.examples),
    )
    if request.method == "POST":
        is_save = request.POST.get("action") == "save"
        return form(request.POST, files=request.FILES) if is_save else form(initial=read_entered(request))
    if own is not None:
        return form(initial=to_initial(own))
    if "add" in request.GET:
        return form(initial={"type": request.GET["add"], "required": True})
    return None


def read_entered(request: HttpRequest) -> dict[str, object]:
    """What is in the form, right or wrong, to be shown with the fields of another type."""
    entered: dict[str, object] = dict(request.POST.items())
    return {**entered, "required": "required" in entered}


def preview_of(request: HttpRequest, now: Rubric, form: CriterionForm | None) -> Rubric:
    """The rubric with what is in the form, where that is right by now; else as it is."""
    if form is None or request.method != "POST":
        return now
    bound = CriterionForm(request.POST, kind=now.kind or "", earlier=now.criteria)
    if not bound.is_valid():
        return now
    try:
        return read_rubric_for(now.kind or "", put(now, request.POST.get("old", ""), bound))
    except InputError:
        return now


def put(now: Rubric, old: str, form: CriterionForm, *, keep: bool = True) -> dict[str, object]:
    """The rubric with the form's criterion in place of the one called `old`, or behind all others.

    With `keep`, the pictures of its examples stay.
    """
    place = next((place for place, one in enumerate(now.criteria) if one.key == old), len(now.criteria))
    criterion = form.to_document()
    if place < len(now.criteria) and keep:
        criterion["example"] = keep_pictures(now.criteria[place], form.list_examples())
    criteria = [to_criterion_document(one) for one in now.criteria]
    return {**to_document(now), "criterion": [*criteria[:place], criterion, *criteria[place + 1 :]]}


def keep_pictures(before: CriterionSpec, examples: list[dict[str, object]]) -> list[dict[str, object]]:
    """Pictures of examples, which the form does not show, stay with the texts that they stand beside."""
    pictures = {" ".join(one.text.split()): {"image": one.image} for one in before.examples if one.image}
    return [{**pictures.get(str(one["text"]), {}), **one} for one in examples]


def move(now: Rubric, key: str, by: int) -> dict[str, object]:
    criteria = [to_criterion_document(one) for one in now.criteria]
    place = next((place for place, one in enumerate(criteria) if one["key"] == key), 0)
    criteria.insert(max(0, place + by), criteria.pop(place))
    return {**to_document(now), "criterion": criteria}


def remove(now: Rubric, key: str) -> dict[str, object]:
    return {**to_document(now), "criterion": [to_criterion_document(one) for one in now.criteria if one.key != key]}


MOVES = {
    "up": lambda now, key: move(now, key, -1),
    "down": lambda now, key: move(now, key, 1),
    "remove": remove,
}


def apply(request: HttpRequest, study: Study, document: dict[str, object]) -> HttpResponse:
    """Change the rubric and say what that did, or why it cannot be."""
    try:
        return tell(request, study, change(request, study, document))
    except InputError as error:
        messages.error(request, str(error))
        return redirect("rubric", slug=study.slug)


def replace(request: HttpRequest, study: Study, now: Rubric) -> HttpResponse:
    """Another rubric in place of the whole."""
    whole = RubricFileForm(request.POST, request.FILES, kind=study.kind)
    if not whole.is_valid():
        return page(request, study, now, whole=whole)
    return apply(request, study, whole.to_document())


def change(request: HttpRequest, study: Study, document: dict[str, object]) -> RubricChanges:
    reason = request.POST.get("reason", "").strip()
    return rubrics.change(by=get_account(request), study=study, rubric=document, reason=reason)


def tell(request: HttpRequest, study: Study, done: RubricChanges) -> HttpResponse:
    messages.success(request, describe(done))
    return redirect("rubric", slug=study.slug)


def describe(done: RubricChanges) -> str:
    """What a change did, in a sentence for each part."""
    parts = {
        _("Added: {keys}."): done.added,
        _("Changed: {keys}."): done.edited,
        _("Removed: {keys}."): done.removed,
        _("No longer asked: {keys}."): done.retired,
    }
    said = [what.format(keys=", ".join(keys)) for what, keys in parts.items() if keys]
    renamed = _("{new} is asked in place of {old}, whose labels stay.")
    said += [renamed.format(new=new, old=old) for old, new in done.renamed]
    return " ".join(said) or _("Saved.")


@researcher_required
def rubric_try(request: HttpRequest, slug: str) -> HttpResponse:
    """Answer the rubric as annotators do; nothing is stored."""
    study = get_object_or_404(Study, slug=slug)
    slot = build_sample_assignment(study, load_rubric(study))
    form = RatingForm(request.POST or None, slot=slot, criteria=study.asked, entered={})
    answers = list_answers(slot, form) if request.method == "POST" and form.is_valid() else None
    rows = form.rows()
    context = {
        "study": study,
        "steps": study_steps(study),
        "dialogue": slot.item.dialogue,
        "pair": slot.item.pair,
        "sides": slot.build_shown_responses() if slot.item.pair else {},
        "panels": panels(slot.item, study.shown),
        "rows": rows,
        "types": {row.criterion["type"]: True for row in rows},
        "answers": answers,
        "is_invented": slot.item.pk is None,
    }
    return render(request, "annotation/rubric_try.html", context)


def list_answers(slot: Assignment, form: RatingForm) -> list[dict[str, object]]:
    """What would be stored, by ask."""
    given = form.given
    found = check_answers(slot, form.asks, given["values"], given["unscored"], given["notes"])
    titles = {ask.name: ask.title for ask in form.asks}
    return [
        {"title": titles[name], "value": one.value or one.unscored_reason, "content": one.content}
        for name, one in found.items()
    ]


@researcher_required
def rubric_download(request: HttpRequest, slug: str, format: str) -> HttpResponseBase:  # noqa: ARG001
    """The rubric as a file."""
    if format not in FORMATS:
        raise Http404
    study = get_object_or_404(Study, slug=slug)
    return attach_file(
        write_rubric(load_rubric(study), format),
        name=f"{study.slug}.{format}",
    )


@researcher_required
def guideline(request: HttpRequest, slug: str, key: str) -> HttpResponse:
    """Edit what is asked and how it is to be judged; every edit is a version."""
    criterion = get_object_or_404(Criterion.objects.select_related("study__created_by"), study__slug=slug, key=key)
    form = GuidelineForm(request.POST or None, criterion=criterion)
    if form.is_valid() and (made := form.save(get_account(request))):
        says = _("{name} has version {version} now. Labels keep theirs.")
        messages.success(request, says.format(name=criterion.name, version=made.version))
        return redirect("guideline", slug=slug, key=key)
    study = criterion.study
    context = {"study": study, "steps": study_steps(study), "criterion": criterion, "form": form}
    return render(request, "annotation/guideline.html", {**context, "versions": history(criterion)})
