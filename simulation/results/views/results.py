"""What an experiment found: tables, charts, downloads, and whether its ranks depend on the judge or the user agent."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_noop
from django.views.decorators.http import require_POST, require_safe

from annotation.agreement.options import IntervalOptions
from core.accounts.access import get_account, researcher_required
from core.accounts.permissions import filter_visible
from core.csv_files import csv_text
from core.downloads import attach_file
from core.errors import InputError
from judging.judges.models import Judge
from simulation.experiments.models import Experiment
from simulation.results import charts
from simulation.results.queries.judgments import list_experiment_judges
from simulation.results.result_types import (
    ColumnDocument,
    ExperimentDocument,
    RanksDocument,
    RowDocument,
    TableDocument,
)
from simulation.results.services import results
from simulation.results.services.data import Filters
from simulation.results.services.differences import list_shared_models
from simulation.results.services.published_rows import KEY, add_published
from simulation.results.services.ranks import ranks_on_request

CAPTIONS = {
    "assistants": gettext_noop("Means by assistant, for tasks of one and of several domains."),
    "ablation": gettext_noop("Means by what the assistant was told of the user."),
    "differences": gettext_noop("Change against the first, within the same scenario. The line is no change."),
    "domains": gettext_noop("Means by domain. The dashed line is the mean of the domains."),
    "history": gettext_noop("Personalization against how far the history was damaged."),
    "turns": gettext_noop("Personalization turn by turn."),
    "drift": gettext_noop("How often the user names a value that its profile does not hold, turn by turn."),
    "user_agent": gettext_noop("How natural and coherent the user agent is."),
}
LABELS = [gettext_noop("Assistant"), gettext_noop("Condition"), gettext_noop("Tasks"), gettext_noop("Domain")]
"""What the results can be narrowed by."""


@dataclass(frozen=True)
class ResultsRequest:
    """Whose verdicts on which dialogues somebody wants to see, and whether beside the printed numbers."""

    experiment: Experiment
    judges: list[tuple[Judge, int]]
    judge: Judge | None
    filters: Filters
    published: bool

    @classmethod
    def from_request(cls, request: HttpRequest, pk: int) -> ResultsRequest:
        """Read the address. Raises InputError where it names what is not there."""
        experiment, query = get_object_or_404(Experiment, pk=pk), request.GET
        judges = list_experiment_judges(experiment)
        judge = results.judge_called(judges, query.get("judge", ""))
        return cls(experiment, judges, judge, Filters.parse(query), bool(query.get("published")))

    @property
    def chosen(self) -> tuple[Experiment, Judge | None, IntervalOptions, Filters]:
        """What `results` is asked."""
        return self.experiment, self.judge, IntervalOptions(), self.filters

    def select_tables(self, found: ExperimentDocument) -> ExperimentDocument:
        return add_published(found) if self.published else found

    def address(self, name: str, *args: object, **more: str) -> str:
        """Return an address with the same judge, filters and numbers."""
        filters = {field: value for field, value in asdict(self.filters).items() if value}
        judge = {"judge": self.judge.pk} if self.judge else {}
        query = urlencode({**judge, **filters, **({"published": 1} if self.published else {}), **more})
        return reverse(name, args=[self.experiment.pk, *args]) + (f"?{query}" if query else "")


@researcher_required
@require_safe
def experiment_results(request: HttpRequest, pk: int) -> HttpResponse:
    """Show all tables of an experiment, by one judge: kept, computed now, or as a worker computed them last."""
    try:
        asked = ResultsRequest.from_request(request, pk)
        found = results.load_or_compute(*asked.chosen, patient=False)
    except InputError as error:
        experiment = get_object_or_404(Experiment, pk=pk)
        return render(request, "simulation/results.html", {"experiment": experiment, "error": error}, status=400)
    warnings = list_shared_models(asked.experiment, [judge for judge, _ in asked.judges])
    context = {"experiment": asked.experiment, "asked": asked, "judges": asked.judges, "judge": asked.judge}
    context |= {"same_models": warnings}
    if found is None:
        found = results.find_last(*asked.chosen)
        context |= {
            "left": results.describe_left(),
            "waiting": results.find_request(*asked.chosen),
            "compute": asked.address("experiment_results_compute"),
            "here": asked.address("experiment_results"),
        }
    if found is not None:
        context |= build_context(asked, asked.select_tables(found))
    return render(request, "simulation/results.html", context)


def build_context(asked: ResultsRequest, found: ExperimentDocument) -> dict[str, object]:
    """Return what the page shows of a document."""
    return {
        "result": found,
        "filters": fields(found, asked.filters),
        "tables": [build_table_context(asked, table) for table in found["tables"].values()],
        "downloads": links(asked),
        "interval": _("{confidence:g} % intervals").format(confidence=100 * found["confidence"]),
    }


@researcher_required
@require_POST
def experiment_results_compute(request: HttpRequest, pk: int) -> HttpResponse:
    """Leave the results to a worker."""
    try:
        asked = ResultsRequest.from_request(request, pk)
        results.ask(*asked.chosen, by=get_account(request))
    except InputError as error:
        messages.error(request, error.message)
        return redirect("experiment_results", pk)
    return redirect(asked.address("experiment_results"))


@researcher_required
@require_safe
def results_download(request: HttpRequest, pk: int, format: str) -> HttpResponse:
    """Send the same as json or csv; with `table`, the chart of one as svg, png, pdf, or csv of what it shows."""
    try:
        asked = ResultsRequest.from_request(request, pk)
        found = results.load_or_compute(*asked.chosen, patient=False) or results.find_last(*asked.chosen)
    except InputError as error:
        return HttpResponse(error.message, status=400, content_type="text/plain; charset=utf-8")
    if found is None:
        return HttpResponse(
            _("Not computed yet: {left}.").format(left=results.describe_left()),
            status=409,
            content_type="text/plain; charset=utf-8",
        )
    result, name = asked.select_tables(found), f"experiment-{pk}"
    if format in FILES and "table" not in request.GET:
        content: str | bytes = FILES[format](result)
    elif format in charts.FIGURES and (table := result["tables"].get(request.GET.get("table", ""))):
        draw = charts.FIGURES[format]
        content = draw(charts.table_chart, table, charts.FILE)
        name = f"{name}-{table['key']}"
    else:
        raise Http404(f"there is no such file of the results as {format}")
    return attach_file(content, name=f"{name}.{format}")


def build_table_context(asked: ResultsRequest, table: TableDocument) -> dict[str, object]:
    """Return a table with its chart, where one shows more than the numbers."""
    caption = _(CAPTIONS[table["key"]]) if table["key"] in CAPTIONS else ""
    rows = [
        {**row, "is_published": row["key"] == KEY, "figures": [figure(row, column) for column in table["columns"]]}
        for row in table["rows"]
    ]
    return {
        **table,
        "rows": rows,
        "caption": caption,
        "chart": charts.draw_on_page(charts.table_chart, table) if caption else "",
        "files": links(asked, table["key"]) if caption else [],
    }


def figure(row: RowDocument, column: ColumnDocument) -> dict[str, object]:
    cell = row["cells"][column["key"]]
    return {"estimate": cell, "n": cell["n_items"], "digits": column["digits"]}


def fields(found: ExperimentDocument, filters: Filters) -> list[dict[str, object]]:
    """Return the lists to choose from, where there is a choice."""
    chosen = asdict(filters)
    return [
        {"name": name, "label": _(name.capitalize()), "chosen": chosen[name], "choices": known}
        for name, known in found["choices"].items()
        if len(known) > 1
    ]


def links(asked: ResultsRequest, table: str = "") -> list[tuple[str, str]]:
    more = {"table": table} if table else {}
    return [(f.upper(), asked.address("results_download", f, **more)) for f in (charts.FIGURES if table else FILES)]


def to_json(found: ExperimentDocument) -> str:
    return json.dumps(found, ensure_ascii=False, indent=1)


def to_csv(found: ExperimentDocument) -> str:
    return csv_text(results.csv_rows(found))


FILES: dict[str, Callable[[ExperimentDocument], str]] = {
    "csv": to_csv,
    "json": to_json,
}


MOST_OFFERED = 50


@researcher_required
@require_safe
def experiment_ranks(request: HttpRequest, pk: int) -> HttpResponse:
    """Show changes of rank between two judges of an experiment, or between two experiments."""
    experiment, query = get_object_or_404(Experiment, pk=pk), request.GET
    others = filter_visible(get_account(request), Experiment.objects.exclude(pk=pk)).order_by("-pk")
    against = query.get("against", "")
    second = get_object_or_404(others, pk=against) if against.isascii() and against.isdigit() else experiment
    judge, rival_judge = query.get("judge", ""), query.get("against_judge", "")
    context: dict[str, object] = {
        "experiment": experiment,
        "second": second,
        "others": others[:MOST_OFFERED],
        "judges": [judge for judge, _ in list_experiment_judges(experiment)],
        "rivals": [judge for judge, _ in list_experiment_judges(second)],
        "judge": judge,
        "against_judge": rival_judge,
    }
    try:
        first = experiment, results.judge_called(list_experiment_judges(experiment), judge)
        rival = second, results.judge_called(list_experiment_judges(second), rival_judge)
        found = ranks_on_request(first, rival, Filters.parse(query)) if "against" in query else None
    except InputError as error:
        return render(request, "simulation/ranks.html", {**context, "error": error}, status=400)
    return render(request, "simulation/ranks.html", {**context, "found": found, "tables": tables(found)})


def tables(found: RanksDocument | None) -> list[dict[str, object]]:
    return [
        {
            **table,
            "rows": [{**row, "figures": [figure(row, at) for at in table["columns"]]} for row in table["rows"]],
        }
        for table in (found["tables"].values() if found else ())
    ]
