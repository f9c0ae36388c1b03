"""Each annotator of a study as an instrument, and leaving somebody out."""

import json
from collections.abc import Mapping
from math import ceil, isnan

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_noop, ngettext
from django.views.decorators.http import require_POST

from annotation.quality.queries import course, quality as instruments
from annotation.stats.sides import SideBias, SideUse
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries.preferences import load_side_bias
from annotation.studies.steps import study_steps
from annotation.studies.views.large import reads_all
from annotation.workbench.services import exclusions
from core.accounts.access import get_account, researcher_required
from core.accounts.models.users import User
from core.charts import FIGURES
from core.downloads import attach_file, audit_export
from core.messages import show_errors

SHADES = 5
ALMOST = 0.02
"""Least probability with a shade; what is shown as 0 has none."""


@researcher_required
@reads_all(gettext_noop("Quality"), "quality", "quality")
def quality(request: HttpRequest, slug: str) -> HttpResponse:
    """Each annotator as an instrument."""
    study = get_object_or_404(Study, slug=slug)
    compared = instruments.load_compared(study)
    rows = instruments.load_study(study, compared=compared)
    people = User.objects.in_bulk([row.annotator for row in rows], field_name="username")
    named = [people[row.annotator] for row in rows if row.signs]
    rated = [one for one in compared if one.table.n_ratings and one.table.has_scale]
    chosen = next(
        (one for one in rated if one.criterion.key == request.GET.get("criterion")), rated[0] if rated else None
    )
    context = {
        "study": study,
        "steps": study_steps(study, "quality"),
        "left_out": instruments.list_left_out(study),
        "rows": [(row, people[row.annotator]) for row in rows],
        "named": named,
        "sides": [
            (one.criterion.name, bias, [f"#{place} ^" for place in bias.excess], sides_of(bias, people))
            for one in rated
            if (bias := load_side_bias(one))
        ],
        "course": course.plot_course(rows),
        "course_downloads": [
            (name.upper(), reverse("checks_download", args=[slug, name])) for name in ("csv", "svg", "png")
        ],
        "people": study.annotators.exclude(pk__in=study.exclusions.filter(ended_at=None).values("annotator")).order_by(
            "username"
        ),
        "excluded": study.exclusions.select_related("annotator", "decided_by", "ended_by").order_by(
            "ended_at", "-created_at"
        ),
        "criteria": [one.criterion for one in rated],
        "chosen": chosen.criterion if chosen else None,
        "errors": [add_shades(one, chosen.criterion, people) for one in instruments.errors(chosen)] if chosen else [],
        "downloads": [("JSON", reverse("quality_download", args=[slug]))],
    }
    return render(request, "annotation/quality.html", context)


def sides_of(bias: SideBias, people: Mapping[str, User]) -> list[tuple[SideUse, User, str]]:
    """Each annotator's choices of sides, with how probable these are."""
    return [(use, people[use.annotator], instruments.format_probability(use.probability)) for use in bias.annotators]


@researcher_required
@audit_export("annotators")
def checks_download(request: HttpRequest, slug: str, format: str) -> HttpResponse:  # noqa: ARG001
    """Gold accuracy and self-consistency over time, as csv (a stretch a row), svg, png or pdf."""
    study = get_object_or_404(Study, slug=slug)
    if format not in FIGURES:
        raise Http404(f"checks and repeats are not given as {format}")
    figure = course.checks_figure(study, format)
    if figure is None:
        raise Http404("no checks and no repeats have been answered")
    return attach_file(figure, name=f"{study.slug}-checks.{format}")


def add_shades(one: instruments.Errors, criterion: Criterion, people: Mapping[str, User]) -> dict[str, object]:
    """An annotator's errors as the page shows them: each probability with its shade, 0 to `SHADES`."""
    annotator = people[one.annotator]
    says = _("{annotator} (simulated) on {criterion}") if annotator.is_simulated else _("{annotator} on {criterion}")
    return {
        "caption": says.format(annotator=annotator, criterion=criterion.name),
        "note": ngettext(
            "{n:,} answer; accuracy {accuracy:.2f}", "{n:,} answers; accuracy {accuracy:.2f}", one.n_ratings
        ).format(n=one.n_ratings, accuracy=one.accuracy),
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
    with show_errors(request):
        made = act(by=get_account(request), study=study, annotator=annotator, reason=reason)
        says = _("The labels of {annotator} are left out of everything that is computed.")
        if made.ended_at:
            says = _("The labels of {annotator} count again.")
        messages.success(request, says.format(annotator=annotator))
    return redirect("quality", slug=slug)


@researcher_required
@audit_export("annotators")
def quality_download(request: HttpRequest, slug: str) -> HttpResponse:  # noqa: ARG001
    """Everything that is known of the annotators, as JSON."""
    study = get_object_or_404(Study, slug=slug)
    text = json.dumps(instruments.document(study), ensure_ascii=False, indent=1)
    return attach_file(text, name=f"{study.slug}-annotators.json")
