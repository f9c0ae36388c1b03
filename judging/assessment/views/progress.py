"""The researcher's page of a study under way, and its downloads."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Literal

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from annotation.stats.result_types import EstimateDocument
from annotation.studies.models.studies import Study
from annotation.studies.steps import study_steps
from annotation.workbench.queries.progress import MOST_ITEMS
from core.accounts.access import researcher_required
from core.csv_files import csv_text
from core.downloads import attach_file
from judging.assessment import charts
from judging.assessment.progress_charts import PLOTS, SHOWN, ProgressPlot
from judging.assessment.progress_types import AdaptiveDocument, ProgressDocument
from judging.assessment.services import progress as service

FORMATS = (*charts.FIGURES, "json")


@researcher_required
@require_safe
def progress(request: HttpRequest, slug: str) -> HttpResponse:
    """Coverage, pace, when it will be done, agreement as it grows, and who needs help."""
    study = get_object_or_404(Study, slug=slug)
    document = service.compute_study(study)
    context = {
        "study": study,
        "steps": study_steps(study, "progress"),
        "found": document,
        "plots": {key: build_plot_context(study, plot, document) for key, plot in PLOTS.items()},
        "columns": range(len(document["all"])),
        "end": {name: _parse_time(at) for name, at in document["forecast"]["end"].items()},
        "annotators": [
            {**one, "first": _parse_time(one["first"]), "last": _parse_time(one["last"])}
            for one in document["annotators"]
        ],
        "latest": latest(document),
        "adaptive_rows": adaptive_rows(document["adaptive"]),
        "most_items": MOST_ITEMS,
        "downloads": [("JSON", reverse("progress_download", args=[study.slug]))],
    }
    return render(request, "judging/progress.html", context)


@researcher_required
@require_safe
def progress_download(request: HttpRequest, slug: str) -> HttpResponse:  # noqa: ARG001
    """All of it as JSON."""
    study = get_object_or_404(Study, slug=slug)
    return send_file(json.dumps(service.compute_study(study), ensure_ascii=False, indent=1), study, "progress", "json")


@researcher_required
@require_safe
def progress_plot(request: HttpRequest, slug: str, plot: str, format: str) -> HttpResponse:  # noqa: ARG001
    """A plot by itself, or the rows that it shows."""
    if plot not in PLOTS or format not in FORMATS:
        raise Http404(f"there is no {plot} as {format}")
    study = get_object_or_404(Study, slug=slug)
    rows = PLOTS[plot].rows(service.compute_study(study))
    if format == "json":
        return send_file(json.dumps(list(rows), ensure_ascii=False, indent=1), study, plot, format)
    if format == "csv":
        return send_file(csv_text([*rows[:1], *(row.values() for row in rows)]), study, plot, format)
    return send_file(charts.FIGURES[format](PLOTS[plot].spec, rows, charts.FILE), study, plot, format)


def _parse_time(text: str | None) -> datetime | None:
    return parse_datetime(text) if text else None


def build_plot_context(study: Study, plot: ProgressPlot, document: ProgressDocument) -> dict[str, object] | None:
    """The plot as the page shows it; None where there is nothing to draw."""
    rows = plot.rows(document)
    if not rows:
        return None
    links = [(name.upper(), reverse("progress_plot", args=[study.slug, plot.key, name])) for name in FORMATS]
    return {"svg": charts.draw_on_page(plot.spec, rows), "caption": _(plot.caption), "downloads": links}


Counted = Literal["n_asked", "n_clear", "n_enough", "n_full", "n_short", "n_waiting"]


def adaptive_rows(found: AdaptiveDocument | None) -> list[tuple[str, str]]:
    """What the last round of an adaptive study found, in words and numbers; empty before the first."""
    if not found or not found["last"]:
        return []
    figures: dict[str, Counted] = {
        _("Asked about again"): "n_asked",
        _("Settled: clear tier"): "n_clear",
        _("Settled: another rating is not worth it"): "n_enough",
        _("Unclear with {n} ratings").format(n=found["most_overlap"]): "n_full",
        _("Unclear, and rated by every annotator"): "n_short",
        _("Waiting for ratings at that time"): "n_waiting",
    }
    return [(label, f"{found['last'][key]:,}") for label, key in figures.items()]


def latest(document: ProgressDocument) -> list[tuple[str, list[tuple[str, EstimateDocument]], int]]:
    """Each criterion with its coefficients on all the ratings read, and how many those are."""
    return [
        (
            one["name"],
            [(label, one["points"][-1]["coefficients"][key]) for key, label in SHOWN.items()],
            one["points"][-1]["n_ratings"],
        )
        for one in document["growth"]["criteria"]
        if one["points"]
    ]


def send_file(content: str | bytes, study: Study, name: str, format: str) -> HttpResponse:
    return attach_file(content, name=f"{study.slug}-{name}.{format}")
