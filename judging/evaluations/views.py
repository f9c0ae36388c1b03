"""Evaluations of a benchmark: begun, followed, read; and their wrong answers, tagged."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _, gettext_noop
from django.views.decorators.http import require_POST, require_safe

from annotation.benchmarks.models import Benchmark
from annotation.stats.bands import TIERS
from annotation.stats.result_types import EstimateDocument
from core.accounts.access import get_account, researcher_required
from core.accounts.permissions import filter_visible
from core.csv_files import csv_text
from core.downloads import attach_file
from core.errors import InputError
from judging.assessment import charts
from judging.evaluations import charts as evaluation_charts
from judging.evaluations.forms import AskForm, EvaluationForm, TagForm
from judging.evaluations.queries import evaluations as queries, failures as failure_queries
from judging.evaluations.queries.failures import FailureFilter
from judging.evaluations.result_types import Cells, EvaluationDocument, RunFacts
from judging.evaluations.services import failures, ranks, results
from judging.judges.evaluation_settings import SETTINGS, Setting
from judging.judges.queries import workers
from judging.runs.models.evaluations import Evaluation, FailureTag
from judging.runs.models.runs import JudgeRun, Judgment
from judging.runs.queries import runs as run_queries

PER_PAGE = 10
CHANCE = 0.5
DIFFERENCES = {
    "settings": (
        gettext_noop("Settings of one model"),
        gettext_noop("Difference between the first setting and the second, within the same case."),
    ),
    "models": (
        gettext_noop("Models in one setting"),
        gettext_noop("Difference between the first model and the second, within the same case."),
    ),
    "fields": (
        gettext_noop("Fields left out"),
        gettext_noop("Difference without the field and with it, within the same case. Below 0, the field helps."),
    ),
}


@researcher_required
@require_safe
def evaluation_index(request: HttpRequest) -> HttpResponse:
    """Show all evaluations, and the benchmarks that one can be begun on."""
    context = {
        "evaluations": queries.add_progress(filter_visible(request.user, Evaluation.objects.order_by("-created_at"))),
        "benchmarks": filter_visible(request.user, Benchmark.objects.order_by("name", "created_at")),
    }
    return render(request, "judging/evaluation_index.html", context)


@researcher_required
def evaluation_list(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the evaluations of a benchmark, and a new one."""
    benchmark = get_object_or_404(Benchmark, slug=slug)
    form = EvaluationForm(request.POST or None, benchmark=benchmark)
    if form.is_valid() and (begun := form.start(get_account(request))):
        return redirect("evaluation_detail", pk=begun.pk)
    context = {
        "benchmark": benchmark,
        "form": form,
        "n_cases": benchmark.cases.only_counting().count(),
        "evaluations": queries.add_progress(benchmark.evaluations.order_by("-number")),
    }
    return render(request, "judging/evaluation_list.html", context)


@researcher_required
def evaluation_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one evaluation: how its runs are doing, and more of them."""
    evaluation = find_evaluation(pk)
    form = AskForm(request.POST or None, benchmark=evaluation.benchmark, evaluation=evaluation)
    if form.is_valid() and form.start(get_account(request)):
        messages.success(request, _("Asked. What was asked already is not asked again."))
        return redirect("evaluation_detail", pk=pk)
    context = {"form": form, **build_progress(evaluation), "facts": facts(evaluation)}
    return render(request, "judging/evaluation_detail.html", context)


@researcher_required
@require_safe
def evaluation_progress(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the part of the page that moves."""
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect("evaluation_detail", pk=pk)
    context = build_progress(find_evaluation(pk))
    if not context["running"]:
        return HttpResponse(headers={"HX-Refresh": "true"})
    return render(request, "judging/_evaluation_runs.html", context)


@researcher_required
@require_safe
def evaluation_results(request: HttpRequest, pk: int) -> HttpResponse:
    """Show all figures of an evaluation; those of one model in one setting as the address says."""
    evaluation = find_evaluation(pk)
    document = results.load_or_compute(evaluation)
    context = {
        "evaluation": evaluation,
        "result": document,
        "interval": _("{percent} % intervals over personas").format(percent=f"{100 * document['confidence']:g}"),
        "downloads": [(f.upper(), reverse("evaluation_download", args=[pk, f])) for f in FILES],
        **build_tables(document, request.GET.get("of", "")),
        **compare_pasted_ranks(evaluation, request.GET.get("ranks", "")),
    }
    if document["runs"]:
        rows = evaluation_charts.accuracy_rows(document, list_cells(document))
        context["chart"] = charts.draw_on_page(evaluation_charts.accuracy, rows)
        context["chart_files"] = plot_links(pk, "accuracy")
        context |= describe_answers(pk, document, str(context["chosen"]))
    return render(request, "judging/evaluation_results.html", context)


@researcher_required
@require_safe
def evaluation_download(request: HttpRequest, pk: int, format: str) -> HttpResponse:
    """Send the same as json or csv; with `plot`, a chart as svg, png, pdf, or csv of what it shows."""
    evaluation = find_evaluation(pk)
    document = results.load_or_compute(evaluation)
    name = f"{evaluation.benchmark.slug}-evaluation-{evaluation.number}"
    if format in FILES and "plot" not in request.GET:
        return attach_file(FILES[format](document), name=f"{name}.{format}")
    if format not in charts.FIGURES:
        raise Http404(f"there is no such file of the results as {format}")
    plot, key = request.GET.get("plot", "accuracy"), request.GET.get("of", "")
    rows, draw = choose_plot(document, plot, key)
    if not rows:
        raise Http404("there is nothing to draw")
    drawn = charts.FIGURES[format]
    return attach_file(drawn(draw, rows, charts.FILE), name=f"{name}-{plot}.{format}")


@researcher_required
@require_safe
def evaluation_failures(request: HttpRequest, pk: int) -> HttpResponse:
    """Show wrong answers, narrowed as the address says, each with its tags."""
    evaluation = find_evaluation(pk)
    wanted = FailureFilter.from_query(request.GET.dict())
    page = Paginator(failure_queries.filter_failures(evaluation, wanted), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "evaluation": evaluation,
        "wanted": wanted,
        "page": page,
        "rows": failure_queries.build_shown(list(page), get_account(request).pk),
        "runs": queries.runs_that_speak(evaluation),
        "tiers": list(reversed(TIERS)),
        "kinds": sorted(set(queries.list_cases(evaluation).order_by().values_list("kind", flat=True)) - {""}),
        "tags": dict(FailureTag.Tag.choices),
        "here": f"{request.path}?{urlencode({**wanted.to_query(), 'page': page.number})}",
        "counts": failures.counts(evaluation),
    }
    return render(request, "judging/evaluation_failures.html", context)


@researcher_required
@require_POST
def failure_tag(request: HttpRequest, pk: int, judgment: int) -> HttpResponse:
    """Set what the reader sees in one wrong answer; back to where they were."""
    evaluation, answer = find_evaluation(pk), get_object_or_404(Judgment, pk=judgment, run__evaluation=pk)
    form, by = TagForm(request.POST), get_account(request)
    if form.is_valid():
        form.done(lambda: failures.tag(by=by, evaluation=evaluation, judgment=answer, **form.cleaned_data))
    if form.errors:
        messages.error(request, " ".join(str(one) for found in form.errors.values() for one in found))
    back = request.POST.get("next", "")
    safe = url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()})
    address = back if safe else reverse("evaluation_failures", args=[pk])
    return redirect(f"{address}#answer-{judgment}")


def find_evaluation(pk: int) -> Evaluation:
    return get_object_or_404(Evaluation.objects.select_related("benchmark", "study", "created_by"), pk=pk)


def build_progress(evaluation: Evaluation) -> dict[str, object]:
    """Return the runs with what is done of them."""
    n_cases = evaluation.study.items.count()
    listed = run_queries.list_runs(evaluation.runs.all(), n=200)
    rows = [
        {
            "run": run,
            "setting": setting,
            "expected": n_cases * (2 if run.order_policy == JudgeRun.OrderPolicy.BOTH else 1),
        }
        for run in listed
        if (setting := Setting.from_stored(run.setting))
    ]
    running = any(run.state == "running" for run in listed)
    return {
        "evaluation": evaluation,
        "rows": rows,
        "n_cases": n_cases,
        "running": running,
        "needs_worker": running and not workers.alive().exists(),
    }


def facts(evaluation: Evaluation) -> list[tuple[str, str]]:
    """Return which cases are asked about."""
    drawn = evaluation.drawn
    words = {
        "size": _("Drawn"),
        "longest": _("Longest in characters"),
        "seed": _("Seed"),
        "split": _("Split"),
    }
    lists = {"tiers": _("Tiers"), "kinds": _("Kinds")}
    return [
        *((label, str(drawn[name])) for name, label in words.items() if name in drawn),
        *((label, ", ".join(drawn[name])) for name, label in lists.items() if name in drawn),
        (_("Code"), evaluation.code_version),
        (_("Hash of the cases"), evaluation.input_hash[:16]),
    ]


def list_cells(document: EvaluationDocument) -> list[str]:
    """List all cases and each tier."""
    return ["all", *(cell for cell in document["cells"] if cell in TIERS)]


def name_cell(cell: str) -> str:
    """Name a column for a reader: `general, easy` of the key `general easy`."""
    kind, _space, tier = cell.rpartition(" ")
    return f"{kind}, {tier}" if kind and tier in TIERS else cell


def build_tables(document: EvaluationDocument, key: str) -> dict[str, object]:
    """Build the document's tables as the page walks them."""
    named = {run["key"]: run for run in document["runs"]}
    chosen = key if key in named else next(iter(named), "")
    cells = document["cells"]
    orders = {row["key"]: row for row in document["orders"]}
    return {
        "chosen": chosen,
        "heads": [name_cell(cell) for cell in cells],
        "chosen_run": named.get(chosen),
        "models": [
            {
                "run": named[row["key"]],
                "figures": [row["cells"][cell] for cell in cells],
                "orders": orders[row["key"]],
                "at_chance": is_at_chance(row["cells"]["all"]),
            }
            for row in document["accuracy"]
        ],
        "likely": likely_tiers(document, named),
        "lines": [
            {"name": line["name"], "figures": [line["cells"][cell] for cell in cells]} for line in document["lines"]
        ],
        "differences": list(iterate_differences(document, named)),
        "settings": SETTINGS,
    }


def likely_tiers(document: EvaluationDocument, named: Mapping[str, RunFacts]) -> dict[str, object]:
    """Return accuracy with each case in every tier by its probability; nothing where the tiers are counted."""
    rows = document.get("accuracy_by_likely_tier", [])
    if not rows:
        return {}
    tiers = [tier for tier in reversed(TIERS) if tier in rows[0]["tiers"]]
    return {
        "tiers": tiers,
        "rows": [{"run": named[row["key"]], "figures": [row["tiers"][tier] for tier in tiers]} for row in rows],
    }


def compare_pasted_ranks(evaluation: Evaluation, text: str) -> dict[str, object]:
    """Compare ranks that were pasted with those of the evaluation, or say what is wrong with them."""
    if not text.strip():
        return {}
    try:
        return {"pasted": text, "ranks": ranks.compare(evaluation, ranks.read_ranks(text))}
    except InputError as error:
        return {"pasted": text, "ranks_problem": str(error)}


def is_at_chance(estimate: EstimateDocument) -> bool:
    """Return whether the interval holds one half, so that the model is not told apart from a coin."""
    low, high = estimate["low"], estimate["high"]
    return low is not None and high is not None and low <= CHANCE <= high


def iterate_differences(document: EvaluationDocument, named: Mapping[str, RunFacts]) -> Iterator[dict[str, object]]:
    """Yield a table of differences for each thing that is compared."""
    cells = list_cells(document)
    for what, (title, note) in DIFFERENCES.items():
        rows = [
            {"a": named[row["a"]], "b": named[row["b"]], "figures": [row["cells"][cell] for cell in cells]}
            for row in document["differences"]
            if row["what"] == what
        ]
        if rows:
            yield {"key": what, "title": _(title), "note": _(note), "rows": rows, "cells": cells}


def describe_answers(pk: int, document: EvaluationDocument, key: str) -> dict[str, object]:
    """Describe one model in one setting: groups of personas, confidence, other cut-offs."""
    rows = evaluation_charts.reliability_rows(document, key)
    return {
        "groups": [
            {**group, "figure": group["figures"][key]} for group in document["groups"] if key in group["figures"]
        ],
        "sure": document["confidence_in_verdicts"][key],
        "reliability": charts.draw_on_page(evaluation_charts.reliability, rows) if rows else "",
        "reliability_files": plot_links(pk, "reliability", key),
        "cuts": [
            {
                "cuts": row["cuts"],
                "figures": [
                    {"tier": tier, "n": row["n_cases"][tier], "figure": row["figures"][key][tier]}
                    for tier in reversed(TIERS)  # a database may keep the keys of JSON in another order
                    if key in row["figures"]
                ],
            }
            for row in document["cuts"]
        ],
    }


def plot_links(pk: int, plot: str, key: str = "") -> list[tuple[str, str]]:
    query = urlencode({"plot": plot, **({"of": key} if key else {})})
    return [(f.upper(), f"{reverse('evaluation_download', args=[pk, f])}?{query}") for f in charts.FIGURES]


def choose_plot(
    document: EvaluationDocument, plot: str, key: str
) -> tuple[list[dict[str, object]], Callable[..., object]]:
    """Return the rows of a chart and how they are drawn; no rows for a chart that there is not."""
    if plot == "accuracy" and document["runs"]:
        return evaluation_charts.accuracy_rows(document, list_cells(document)), evaluation_charts.accuracy
    if plot == "reliability":
        return evaluation_charts.reliability_rows(document, key), evaluation_charts.reliability
    return [], evaluation_charts.accuracy


def sort_names(cells: Cells, document: EvaluationDocument) -> list[tuple[str, EstimateDocument]]:
    """Sort the figures in the order of the cases."""
    return [(cell, cells[cell]) for cell in document["cells"] if cell in cells]


def csv_rows(document: EvaluationDocument) -> Iterator[list[object]]:
    """Yield every accuracy and difference as one flat row, the first row their names."""
    parts = ("value", "low", "high", "n_items", "n_raters", "reason", "method")
    yield ["figure", "judge", "setting", "against", "cases", *parts]
    named = {run["key"]: run for run in document["runs"]}

    def row(figure: str, key: str, against: str, cases: str, estimate: Mapping[str, object]) -> list[object]:
        run = named.get(key)
        judge, setting = (run["judge"], run["setting_name"]) if run else (key, "")
        return [figure, judge, setting, against, cases, *(estimate[part] for part in parts)]

    for one in document["accuracy"]:
        yield from (row("accuracy", one["key"], "", cell, found) for cell, found in sort_names(one["cells"], document))
    for likely in document.get("accuracy_by_likely_tier", []):
        yield from (row("accuracy by likely tier", likely["key"], "", tier, of) for tier, of in likely["tiers"].items())
    for line in document["lines"]:
        yield from (row("line", line["name"], "", cell, found) for cell, found in sort_names(line["cells"], document))
    for orders in document["orders"]:
        yield row("consistency", orders["key"], "", "all", orders["consistency"])
        yield row("both_right", orders["key"], "", "all", orders["both_right"])
        yield row("first", orders["key"], "", "all", orders["first"])
    for pair in document["differences"]:
        other = named[pair["b"]]
        against = f"{other['judge']}, {other['setting_name']}"
        yield from (
            row("difference", pair["a"], against, cell, found) for cell, found in sort_names(pair["cells"], document)
        )
    for group in document["groups"]:
        cases = f"{group['field']}: {group['value']}"
        yield from (row("group", key, "", cases, found) for key, found in group["figures"].items())


FILES: dict[str, Callable[[EvaluationDocument], str]] = {
    "csv": lambda document: csv_text(csv_rows(document)),
    "json": lambda document: json.dumps(document, ensure_ascii=False, indent=1),
}
