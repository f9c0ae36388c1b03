"""Measures of the datasets: profiles and dialogues, source by source."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from annotation.access import researcher_required
from annotation.services.exports import without_formula
from simulation.queries import material as queries
from simulation.services import material

MOST_VALUES = 10
"""Of a field of the demographics. Free texts have as many as there are profiles."""

FORMATS = {"csv": "text/csv; charset=utf-8", "json": "application/json; charset=utf-8"}


@researcher_required
@require_safe
def material_measures(request: HttpRequest) -> HttpResponse:
    """Demographics and evenness of one source's profiles; turns, words and their variety of one source's dialogues."""
    sources, talks = queries.sources(), queries.dialogue_sources()
    source = chosen(sources, request.GET.get("source", ""))
    talked = chosen(talks, request.GET.get("dialogues", ""))
    profiles = material.of_profiles(source) if source else None
    context = {
        "sources": sources,
        "source": source,
        "profiles": profiles,
        "demographics": [folded(field) for field in profiles["demographics"]] if profiles else [],
        "dialogue_sources": talks,
        "talked": talked,
        "dialogues": material.of_dialogues(talked) if talked else None,
        "downloads": [(f.upper(), f"{reverse('measures_download', args=[f])}?source={source}") for f in FORMATS],
        "most": material.MOST_DIALOGUES,
    }
    return render(request, "simulation/measures.html", context)


def folded(field: dict[str, Any]) -> dict[str, Any]:
    """The values that most profiles have, and how many others there are; the files have all."""
    shares = field["shares"]
    kept = shares if len(shares) <= MOST_VALUES + 1 else shares[:MOST_VALUES]
    others = shares[len(kept) :]
    n = sum(one["n"] for one in others)
    return {**field, "shares": kept, "others": len(others), "n_others": n, "share_others": n / field["n"] if n else 0}


@researcher_required
@require_safe
def measures_download(request: HttpRequest, format: str) -> HttpResponse:
    """The measures of one source's profiles as csv (a row for each preference type) or json (all)."""
    source = request.GET.get("source", "")
    if format not in FORMATS or source not in dict(queries.sources()):
        raise Http404("there is no such file of measures")
    found = material.of_profiles(source)
    content = json.dumps(found, ensure_ascii=False, indent=1) if format == "json" else as_csv(found)
    response = HttpResponse(content, content_type=FORMATS[format])
    response["Content-Disposition"] = f'attachment; filename="measures.{format}"'
    return response


def as_csv(found: dict[str, Any]) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    for row in material.csv_rows(found):
        writer.writerow(without_formula(cell) if isinstance(cell, str) else cell for cell in row)
    return text.getvalue()


def chosen(known: list[tuple[str, int]], wanted: str) -> str:
    """The source that the address names, else the one with most."""
    if wanted in dict(known):
        return wanted
    return max(known, key=lambda pair: pair[1])[0] if known else ""
