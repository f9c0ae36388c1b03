"""What an experiment found: tables, charts and downloads."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from annotation.access import researcher_required
from annotation.later import Later
from annotation.markup import drawing
from annotation.services.exports import without_formula
from judging.models import Judge
from simulation import charts
from simulation.models import Experiment
from simulation.queries.evidence import judges_of
from simulation.services import results

vl_convert = Later("vl_convert")

PNG_SCALE = 2.0
CAPTIONS = {
    "assistants": "Means by assistant and condition, for tasks of one and of several domains.",
    "ablation": "Means by what the assistant was told of the user.",
    "differences": "Change against the first condition, within the same scenario. The line is no change.",
    "domains": "Means by domain. The dashed line is the mean of all.",
    "history": "Personalization against how far the history was damaged.",
    "turns": "Personalization turn by turn.",
    "drift": "How often the user names a value that its profile does not hold, turn by turn.",
    "user_agent": "How natural and coherent the user agent is. The dashed line is the mean of all.",
}
Document = Mapping[str, Any]


@researcher_required
@require_safe
def experiment_results(request: HttpRequest, pk: int) -> HttpResponse:
    """All tables of an experiment, by one judge."""
    experiment = get_object_or_404(Experiment, pk=pk)
    judges = judges_of(experiment)
    judge = chosen(judges, request)
    found = results.document(experiment, judge)
    context = {
        "experiment": experiment,
        "judges": judges,
        "judge": judge,
        "result": found,
        "tables": [shown(experiment, judge, table) for table in found["tables"].values()],
        "downloads": links(experiment, judge),
        "interval": f"{100 * found['confidence']:g} % intervals",
    }
    return render(request, "simulation/results.html", context)


@researcher_required
@require_safe
def results_download(request: HttpRequest, pk: int, format: str) -> HttpResponse:
    """The same as json or csv; with `table`, the chart of one as svg or png."""
    experiment = get_object_or_404(Experiment, pk=pk)
    found = results.document(experiment, chosen(judges_of(experiment), request))
    name = f"experiment-{pk}"
    if format in FILES:
        content_type, write = FILES[format]
        response = HttpResponse(write(found), content_type=content_type)
    elif format in CHARTS and (table := found["tables"].get(request.GET.get("table", ""))):
        content_type, draw = CHARTS[format]
        response = HttpResponse(draw(charts.drawn(table)), content_type=content_type)
        name = f"{name}-{table['key']}"
    else:
        raise Http404(f"there is no such file of the results as {format}")
    response["Content-Disposition"] = f'attachment; filename="{name}.{format}"'
    return response


def shown(experiment: Experiment, judge: Judge | None, table: Mapping[str, Any]) -> dict[str, Any]:
    """A table with its chart, where one shows more than the numbers."""
    caption = CAPTIONS.get(table["key"], "")
    rows = [{**row, "figures": [figure(row, column) for column in table["columns"]]} for row in table["rows"]]
    return {
        **table,
        "rows": rows,
        "caption": caption,
        "chart": drawing(charts.drawn(table, charts.PAGE)) if caption else "",
        "files": links(experiment, judge, table["key"]) if caption else [],
    }


def figure(row: Mapping[str, Any], column: Mapping[str, Any]) -> dict[str, Any]:
    cell = row["cells"][column["key"]]
    return {"estimate": cell, "n": cell["n_items"], "digits": 1 if column["low"] is None else 2}


def links(experiment: Experiment, judge: Judge | None, table: str = "") -> list[tuple[str, str]]:
    query = {**({"judge": str(judge.pk)} if judge else {}), **({"table": table} if table else {})}
    formats = CHARTS if table else FILES
    return [
        (f.upper(), reverse("results_download", args=[experiment.pk, f]) + (f"?{urlencode(query)}" if query else ""))
        for f in formats
    ]


def chosen(judges: list[tuple[Judge, int]], request: HttpRequest) -> Judge | None:
    """The judge that the address names, else the one that said most."""
    wanted = request.GET.get("judge", "")
    named = next((judge for judge, _ in judges if str(judge.pk) == wanted), None)
    return named or (judges[0][0] if judges else None)


def as_json(found: Document) -> str:
    return json.dumps(found, ensure_ascii=False, indent=1)


def as_csv(found: Document) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    for row in results.csv_rows(found):
        writer.writerow(without_formula(cell) if isinstance(cell, str) else cell for cell in row)
    return text.getvalue()


def as_png(drawing: str) -> bytes:
    drawn: bytes = vl_convert.svg_to_png(drawing, scale=PNG_SCALE)
    return drawn


FILES: dict[str, tuple[str, Callable[[Document], str]]] = {
    "csv": ("text/csv; charset=utf-8", as_csv),
    "json": ("application/json; charset=utf-8", as_json),
}
CHARTS: dict[str, tuple[str, Callable[[str], str | bytes]]] = {
    "svg": ("image/svg+xml; charset=utf-8", str),
    "png": ("image/png", as_png),
}
