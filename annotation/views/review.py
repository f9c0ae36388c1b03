"""What asks for a researcher's eye: annotators that stand out, disputed items, and answers that came too late."""

import json
from math import ceil, isnan
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotation.access import researcher_required
from annotation.errors import InputError
from annotation.models import Criterion, Draft, Study, User
from annotation.queries import adjudication as queries
from annotation.queries import quality as instruments
from annotation.queries import ratings
from annotation.queries.context import panels
from annotation.services import adjudications, drafts, exclusions
from annotation.steps import study_steps
from annotation.views.studies import researcher

SHOWN = 200

SHADES = 5
ALMOST = 0.02
"""Of a shade: a probability that is shown as 0 has none."""


@researcher_required
def quality(request: HttpRequest, slug: str) -> HttpResponse:
    """Each annotator as an instrument."""
    study = get_object_or_404(Study, slug=slug)
    rows = instruments.of_study(study)
    named = [row.annotator for row in rows if row.signs]
    rated = [one for one in ratings.of_study(study) if one.table.n_ratings]
    chosen = next(
        (one for one in rated if one.criterion.key == request.GET.get("criterion")), rated[0] if rated else None
    )
    context = {
        "study": study,
        "steps": study_steps(study),
        "rows": rows,
        "named": named,
        "people": study.annotators.exclude(pk__in=study.exclusions.filter(ended_at=None).values("annotator")).order_by(
            "username"
        ),
        "excluded": study.exclusions.select_related("annotator", "decided_by", "ended_by").order_by(
            "ended_at", "-created_at"
        ),
        "criteria": [one.criterion for one in rated],
        "chosen": chosen.criterion if chosen else None,
        "errors": [shaded(one, chosen.criterion) for one in instruments.errors(chosen)] if chosen else [],
        "downloads": [("JSON", reverse("quality_download", args=[slug]))],
    }
    return render(request, "annotation/quality.html", context)


def shaded(one: instruments.Errors, criterion: Criterion) -> dict[str, Any]:
    """An annotator's errors as the page shows them: each probability with its shade, 0 to `SHADES`."""
    return {
        "caption": f"{one.annotator} on {criterion.name}",
        "note": f"{one.n_ratings:,} answers; says what is true with probability {one.accuracy:.2f}",
        "rows": [
            (label, [(cell, 0 if isnan(cell) else ceil(SHADES * cell - ALMOST)) for cell in cells])
            for label, cells in one.rows
        ],
    }


@researcher_required
@require_POST
def exclusion(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Leave an annotator's labels out, or take them in again."""
    study = get_object_or_404(Study, slug=slug)
    annotator, reason = get_object_or_404(User, pk=pk), request.POST.get("reason", "")
    act = exclusions.readmit if request.POST.get("decision") == "readmit" else exclusions.exclude
    try:
        made = act(by=researcher(request), study=study, annotator=annotator, reason=reason)
    except InputError as error:
        messages.error(request, error.message)
    else:
        told = "count again" if made.ended_at else "are left out of everything that is computed"
        messages.success(request, f"The labels of {annotator} {told}.")
    return redirect("quality", slug=slug)


@researcher_required
def quality_download(request: HttpRequest, slug: str) -> HttpResponse:  # noqa: ARG001
    """Everything that is known of the annotators, as JSON."""
    study = get_object_or_404(Study, slug=slug)
    text = json.dumps(instruments.document(study), ensure_ascii=False, indent=1)
    response = HttpResponse(text, content_type="application/json; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-annotators.json"'
    return response


@researcher_required
def adjudication(request: HttpRequest, slug: str) -> HttpResponse:
    """What people disagree on, on one criterion, and what came too late."""
    study = get_object_or_404(Study, slug=slug)
    criteria = list(study.criteria.all())
    asked = request.GET.get("criterion")
    criterion = next((one for one in criteria if one.key == asked), criteria[0] if criteria else None)
    disputes = queries.disputes(criterion) if criterion else []
    context = {
        "study": study,
        "steps": study_steps(study),
        "criteria": criteria,
        "criterion": criterion,
        "disputes": disputes[:SHOWN],
        "total": len(disputes),
        "open": sum(not one.decision for one in disputes),
        "late": queries.late(study),
    }
    return render(request, "annotation/adjudication.html", context)


@researcher_required
def adjudicate(request: HttpRequest, slug: str, key: str, position: int) -> HttpResponse:
    """Read an item with what people said of it, without their names, and decide."""
    study = get_object_or_404(Study, slug=slug)
    criterion = get_object_or_404(study.criteria, key=key)
    subject = ("dialogue__scenario__profile", "dialogue__scenario__task", "pair__profile")
    item = get_object_or_404(study.items.select_related("study", *subject), position=position)
    error: InputError | None = None
    if request.method == "POST":
        given = {name: request.POST.get(name, "") for name in ("value", "reason")}
        try:
            adjudications.decide(by=researcher(request), item=item, criterion=criterion, **given)
        except InputError as refused:
            error = refused
        else:
            messages.success(request, f"Item {position} is decided: {criterion.label_of(given['value'])}.")
            return redirect(after(study, criterion, position))
    context: dict[str, Any] = {
        "study": study,
        "criterion": criterion,
        "item": item,
        "dialogue": item.dialogue,
        "pair": item.pair,
        "panels": panels(item, study.shown),
        "voices": queries.voices(item, criterion),
        "earlier": item.adjudications.filter(criterion=criterion).select_related("decided_by").order_by("-created_at"),
        "error": error,
        "value": request.POST.get("value", ""),
        "reason": request.POST.get("reason", ""),
        "back": f"{reverse('adjudication', args=[slug])}?criterion={key}",
    }
    context["earlier"] = [(one, criterion.label_of(one.value)) for one in context["earlier"]]
    return render(request, "annotation/adjudicate.html", context)


def after(study: Study, criterion: Criterion, position: int) -> str:
    """The next item to be decided, or else the list."""
    waiting = [one.position for one in queries.disputes(criterion) if not one.decision and one.position != position]
    if waiting:
        return reverse("adjudicate", args=[study.slug, criterion.key, waiting[0]])
    return f"{reverse('adjudication', args=[study.slug])}?criterion={criterion.key}"


@researcher_required
@require_POST
def late_answers(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Use answers that came too late, or leave them out."""
    draft = get_object_or_404(
        Draft.objects.select_related("assignment__study", "assignment__item", "annotator"),
        pk=pk,
        assignment__study__slug=slug,
    )
    try:
        if request.POST.get("decision") == "use":
            drafts.use_late(by=researcher(request), draft=draft)
            messages.success(request, f"The answers of {draft.annotator} are labels now.")
        else:
            drafts.dismiss(by=researcher(request), draft=draft)
            messages.success(request, f"The answers of {draft.annotator} are left out, and kept on record.")
    except InputError as error:
        messages.error(request, error.message)
    return redirect("adjudication", slug=slug)
