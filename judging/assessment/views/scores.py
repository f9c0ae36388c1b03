"""What a run found: means and distributions, by group and by turn or response, with downloads."""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_noop
from django.views.decorators.http import require_safe

from annotation.studies.models.studies import Criterion
from annotation.studies.queries.items import GROUPINGS
from annotation.studies.steps import study_steps
from core.accounts.access import researcher_required
from core.csv_files import csv_text
from core.downloads import attach_file
from core.errors import InputError
from judging.assessment import agreement_figures, charts
from judging.assessment.options import VERDICTS
from judging.assessment.queries.scores import DOMAIN
from judging.assessment.score_types import CriterionScoresDocument, ScoreCountsDocument, ScoresDocument
from judging.assessment.services import scores as service
from judging.assessment.views.large import build_wait_context
from judging.assessment.wording import name_grouping, name_groupings
from judging.runs.models.runs import JudgeRun
from judging.runs.queries import runs as queries
from judging.runs.queries.judgments import reason_in_words
from judging.runs.views.runs import find_run, stale_in_words

CAPTIONS = {
    "item": gettext_noop("{criterion} by item"),
    "user": gettext_noop("{criterion} by turn of the user"),
    "assistant": gettext_noop("{criterion} by turn of the assistant"),
    "response": gettext_noop("{criterion} by response"),
}
"""Of the table of parts, by what a run is on or whose turns these are."""


@researcher_required
@require_safe
def run_scores(request: HttpRequest, pk: int) -> HttpResponse:
    """Every criterion of a run, over all and by the grouping that the address names."""
    run, asked = find_run(pk), _parse_query(request)
    context: dict[str, object] = {
        "run": run,
        "asked": asked,
        "groupings": name_groupings(GROUPINGS),
        "steps": study_steps(run.study, "judges"),
    }
    if large := build_wait_context(request, run, f"scores {run.pk} --by {asked['by']} --read {asked['reads']}"):
        return render(request, "judging/run_scores.html", {**context, "large": large})
    try:
        document = service.compute_run(run, by=asked["by"], reads=asked["reads"])
    except InputError as error:
        return render(request, "judging/run_scores.html", {**context, "error": error}, status=400)
    if not any(one["n_judgments"] for one in document["criteria"].values()):
        return render(request, "judging/run_scores.html", context)
    return render(request, "judging/run_scores.html", {**context, **_context(run, document)})


@researcher_required
@require_safe
def run_scores_download(request: HttpRequest, pk: int, format: str) -> HttpResponse:
    """The same as json or csv (every figure a row); for a run on turns the curve as svg or png."""
    run = find_run(pk)
    if format not in _formats(run):
        raise Http404(f"the scores of this run are not given as {format}")
    asked = _parse_query(request)
    try:
        document = service.compute_run(run, by=asked["by"], reads=asked["reads"])
    except InputError as error:
        raise Http404(error.message) from error
    return attach_file(DOWNLOADS[format](document), name=f"run-{run.pk}-scores.{format}")


def _parse_query(request: HttpRequest) -> dict[str, str]:
    """By what the address groups items, and what it takes the means of."""
    return {"by": request.GET.get("by", DOMAIN), "reads": request.GET.get("read") or VERDICTS}


def _json(document: ScoresDocument) -> str:
    return json.dumps(document, ensure_ascii=False, indent=1)


def _csv(document: ScoresDocument) -> str:
    return csv_text(agreement_figures.scores_rows(document))


def _figure(ending: str) -> Callable[[ScoresDocument], str | bytes]:
    """What writes the plot by turn as a file of this ending."""
    return lambda document: charts.FIGURES[ending](charts.curves, _drawable(document), charts.FILE)


DOWNLOADS: dict[str, Callable[[ScoresDocument], str | bytes]] = {
    "json": _json,
    "csv": _csv,
    **{ending: _figure(ending) for ending in ("svg", "png", "pdf")},
}


def _formats(run: JudgeRun) -> list[str]:
    return list(DOWNLOADS) if run.every_turn else ["json", "csv"]


def _drawable(document: ScoresDocument) -> list[charts.Curve]:
    """What the plot by turn shows. Raises Http404 where nothing can be drawn."""
    parts = _list_drawn(document)
    if not parts:
        raise Http404("no turn has a verdict with a number")
    return parts


def _list_drawn(document: ScoresDocument) -> list[charts.Curve]:
    """What is drawn of each criterion of which some turn has a mean. Numbers of responses have no order to draw."""
    if not document["every_turn"]:
        return []
    drawn = []
    for one in document["criteria"].values():
        means = [(str(turn["turn"]), turn["estimate"]) for turn in one["turns"]]
        marks = [charts.Mark.from_estimate(turn, "judge", mean) for turn, mean in means if mean]
        least, most = one["least"], one["most"]
        if least is not None and most is not None and any(mark.value is not None for mark in marks):
            drawn.append(charts.Curve(f"{one['name']}, {one['measure']}", marks, (least, most), find_side(one)))
    return drawn


def find_side(one: CriterionScoresDocument) -> str:
    """Whose turns a criterion's means are of, where the run is on turns."""
    return "user" if one["unit"] == Criterion.Unit.USER_TURN else "assistant"


def _context(run: JudgeRun, document: ScoresDocument) -> dict[str, object]:
    grouping = name_grouping(document["by"])
    query = urlencode({"by": document["by"], "read": document["reads"]})
    links = [(name.upper(), f"{reverse('run_scores_download', args=[run.pk, name])}?{query}") for name in _formats(run)]
    parts = _list_drawn(document)
    n = sum(one["n_judgments"] for one in document["criteria"].values())
    return {
        "document": document,
        "sections": [_section(key, one, grouping, document["unit"]) for key, one in document["criteria"].items()],
        "averaged": any(one["measure"] for one in document["criteria"].values()),
        "weighted": any(one["weighted"] for one in document["criteria"].values()),
        "curve": charts.draw_on_page(charts.curves, parts) if parts else "",
        "whose_turns": charts.describe_turns(parts),
        "downloads": links,
        "stale": stale_in_words(queries.stale(run, n)),
        "grouping": grouping,
    }


def _section(key: str, one: CriterionScoresDocument, grouping: str, unit: str) -> dict[str, object]:
    unscored = ", ".join(f"{n} {reason_in_words(reason)}" for reason, n in one["unscored"].items())
    n_unscored = sum(one["unscored"].values())
    return {
        "key": key,
        "one": one,
        "unscored": unscored,
        "n_unscored": n_unscored,
        "captions": {
            "distribution": _("Verdicts on {criterion}").format(criterion=one["name"]),
            "groups": _("{criterion} by {grouping}").format(criterion=one["name"], grouping=grouping),
            "turns": _(CAPTIONS[find_side(one) if unit == "turn" else unit]).format(criterion=one["name"]),
        },
        "values": [category["label"] for category in one["distribution"]],
        "groups": [_build_row(part) for part in one["groups"]],
        "turns": [_build_row(part) for part in one["turns"]],
    }


def _build_row(part: ScoreCountsDocument) -> dict[str, object]:
    """A group, a turn or a response as a row of a table."""
    return {**part, "n_of_values": list(part["counts"].values()), "n_unscored": sum(part["unscored"].values())}
