"""Measures of the datasets: profiles and dialogues, source by source."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import groupby
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotation.studies.models.studies import Study
from annotation.studies.steps import study_steps
from core.accounts.access import get_account, researcher_required
from core.csv_files import csv_text
from core.documents import Row
from core.downloads import attach_file
from core.errors import NotComputedError
from core.messages import show_errors
from simulation.results import charts
from simulation.results.measure_types import MeasuresDocument, ProfileMeasuresDocument
from simulation.results.services import measures
from simulation.results.services.measure_tables import KINDS, table, table_5

MOST_VALUES = 10
"""Of a field of the demographics. Free texts have as many as there are profiles."""

FORMATS = ("csv", "json", "svg", "png", "pdf")


@researcher_required
@require_safe
def dataset_measures(request: HttpRequest) -> HttpResponse:
    """Show tables 1 and 6 to 9 and Figure 3 of one source's profiles, and Table 10 of one source's dialogues."""
    built = {kind: build_kind_context(kind, request.GET.get(name, "")) for kind, name in PARAMETERS.items()}
    parts = {kind: one for kind, (one, _) in built.items()}
    query = {PARAMETERS[kind]: one["source"] for kind, one in parts.items()}
    is_published = "published" in request.GET
    tables = {
        f"t{number}": table(number, found, with_published=is_published)
        for number, kind in KINDS.items()
        if (found := built[kind][1])
    }
    context = {
        **parts,
        **tables,
        "published": is_published,
        "here": "?" + urlencode(query | ({"published": 1} if is_published else {})),
        "other": "?" + urlencode(query | ({} if is_published else {"published": 1})),
        "downloads": [(f.upper(), f"{reverse('measures_download', args=[f])}?{urlencode(query)}") for f in FORMATS],
    }
    if (profiles := built["profiles"][1]) and "demographics" in profiles:
        context["demographics"] = fold_rows([*tables["t6"]["rows"], *tables["t7"]["rows"]])
        context["evenness"] = evenness = [*tables["t8"]["rows"], *tables["t9"]["rows"]]
        known = [one for one in evenness if one["occurring"]["value"] is not None]
        context["least"] = min(known, key=lambda one: one["occurring"]["value"], default=None)
        context["figure"] = measures.draw_figure_3(profiles)
    return render(request, "simulation/measures.html", context)


PARAMETERS = {"profiles": "source", "dialogues": "dialogues"}
"""How the address names the source of each kind."""


def build_kind_context(kind: str, wanted: str) -> tuple[dict[str, object], MeasuresDocument | None]:
    """Return the sources of a kind, the chosen one, and its measures; without them what stands of them."""
    sources = measures.KINDS[kind].sources()
    source = measures.choose_source(sources, wanted)
    context: dict[str, object] = {"kind": kind, "sources": sources, "source": source}
    found = None
    if source:
        try:
            found = measures.measures(kind, source)
        except NotComputedError as error:
            context |= {"left": error.message, "waiting": measures.find_request(kind, source)}
    return {**context, "found": found}, found


def fold_rows(rows: Sequence[Row]) -> list[Row]:
    """Keep the rows of the values that most profiles have, and one for the others of a field; files have all."""
    found: list[Row] = []
    for field, of_field in groupby(rows, lambda row: row["field"]):
        values = list(of_field)
        kept = values if len(values) <= MOST_VALUES + 1 else values[:MOST_VALUES]
        found += kept
        if others := values[len(kept) :]:
            sums = {name: sum(row[name] for row in others) for name in ("n", "percent")}
            found.append({"field": field, "others": len(others), **sums})
    return found


@researcher_required
@require_safe
def measures_download(request: HttpRequest, format: str) -> HttpResponse:
    """Send measures of one source's profiles: csv (a row a preference type), json (all), Figure 3 as svg, png, pdf."""
    source = request.GET.get("source", "")
    if format not in FORMATS or source not in dict(measures.KINDS["profiles"].sources()):
        raise Http404("there is no such file of measures")
    try:
        found = measures.measures("profiles", source)
    except NotComputedError as error:
        return HttpResponse(error.message, status=409, content_type="text/plain; charset=utf-8")
    if format in ("svg", "png", "pdf") and not charts.figure_3(found["demographics"]):
        raise Http404("these profiles have no demographics to draw")
    return attach_file(WRITERS[format](found), name=f"measures.{format}")


@researcher_required
@require_POST
def measures_compute(request: HttpRequest) -> HttpResponse:
    """Leave the measures of a source to a worker."""
    kind, source = request.POST.get("kind", ""), request.POST.get("source", "")
    if kind not in measures.KINDS or source not in dict(measures.KINDS[kind].sources()):
        raise Http404("there is nothing of this source")
    with show_errors(request):
        measures.ask(by=get_account(request), kind=kind, source=source)
    return redirect(f"{reverse('material_measures')}?{request.GET.urlencode()}")


@researcher_required
@require_safe
def human_check(request: HttpRequest, slug: str) -> HttpResponse:
    """Show how far people agree, and judges with them, beside the printed Table 5."""
    study = get_object_or_404(Study, slug=slug)
    found = table_5(by=get_account(request), study=study, with_published=True)
    names = dict(study.criteria.values_list("key", "name"))
    rows = [{**one, "name": names.get(one["criterion"], one["criterion"])} for one in found["rows"]]
    context = {"study": study, "steps": study_steps(study, "results"), "found": found, "rows": rows}
    context["is_rated"] = any(one["items"] for one in rows)
    return render(request, "simulation/human_check.html", context)


def to_csv(found: ProfileMeasuresDocument) -> str:
    return csv_text(measures.csv_rows(found))


def to_figure(ending: str) -> Callable[[ProfileMeasuresDocument], str | bytes]:
    """Return what writes the figure as a file of this ending."""
    draw = charts.FIGURES[ending]
    return lambda found: draw(charts.bars, charts.figure_3(found["demographics"]), charts.FILE)


WRITERS: dict[str, Callable[[ProfileMeasuresDocument], str | bytes]] = {
    "csv": to_csv,
    "json": lambda found: json.dumps(found, ensure_ascii=False, indent=1),
    **{ending: to_figure(ending) for ending in ("svg", "png", "pdf")},
}
