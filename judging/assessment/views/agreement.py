"""Agreement in detail, a tab of the results: every coefficient, pair, group and confusion matrix; and its downloads."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sized
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_noop
from django.views.decorators.http import require_POST, require_safe

from annotation.agreement.result_types import MajorityDocument
from annotation.recruitment import queries
from annotation.stats.result_types import HeadlineDocument
from annotation.stats.table import NO_SCORES
from annotation.studies.models.labels import AgreementRun
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries.dependence import NAMED, NONE
from annotation.studies.queries.guidelines import labels_by_version
from annotation.studies.queries.items import STRATA, list_own_groupings
from annotation.studies.queries.ratings import Annotator
from annotation.studies.queries.scales import name_label
from annotation.studies.queries.studies import is_large
from annotation.studies.steps import study_steps
from annotation.studies.views.large import WHOLE
from core import row_counts
from core.accounts.access import get_account, researcher_required
from core.csv_files import csv_text
from core.downloads import attach_file
from core.errors import InputError
from core.messages import show_errors
from judging.assessment import agreement_figures, agreement_rows, charts, wording
from judging.assessment.agreement_figures import find_each
from judging.assessment.agreement_types import AgreementDocument, CriterionAgreementDocument, JudgeDocument
from judging.assessment.options import SCORES, VERDICTS, JudgedOptions
from judging.assessment.services import agreement as service, deferred_agreement as later
from judging.assessment.services.agreement import StudyRatings
from judging.assessment.services.items import TIED, UNSCORED
from judging.assessment.services.stored_pages import is_refreshed
from judging.assessment.services.study_raters import RatedCriterion, StudyRaters
from judging.assessment.views.items import build_items_address, name_group, name_run
from judging.stats.result_types import ConfusionDocument

MOST_PAIRS, FEW_PAIRS = 30, 10
"""Pairs of people shown on the page; the downloads hold all."""

SHADES = 5

ASKED = ("by", "cluster", "strata")
"""What an address may ask for."""

RESULTS = {"alt_test": gettext_noop("Can it replace an annotator? Not told.")}

MOST_CATEGORIES = 12
"""Of an open scale (numbers, rankings, sets); with more, counts by category say nothing."""


@researcher_required
@require_safe
def agreement(request: HttpRequest, slug: str) -> HttpResponse:
    """Every figure on what people and judges agree on; computed now if it is not known yet.

    A large study's is computed by a worker, and shown as it was computed last.
    """
    study = get_object_or_404(Study, slug=slug)
    head: dict[str, object] = {"study": study, "steps": study_steps(study, "results"), "tab": "agreement"}
    try:
        options = _options(request)
        if (left := is_left(request, study)) or (WHOLE not in request.GET and is_refreshed(study)):
            stored = _load_stored(request, study, options)
            if left or stored["run"]:
                head["refreshed"] = not left
                return render(request, "judging/agreement.html", {**head, **stored})
        ratings = StudyRatings.from_options(study, options)
        run = None if ratings.is_empty else _run(request, study, ratings, options)
    except InputError as error:
        return render(request, "judging/agreement.html", {**head, "error": error}, status=400)
    if run is None:
        return render(request, "judging/agreement.html", {**head, "asked": options})
    return render(
        request, "judging/agreement.html", {**head, **_context(study, StudyRaters.from_ratings(ratings), run, options)}
    )


@researcher_required
@require_POST
def agreement_compute(request: HttpRequest, slug: str) -> HttpResponse:
    """Leave the agreement of a large study to a worker."""
    study = get_object_or_404(Study, slug=slug)
    here = reverse("agreement", args=[slug]) + (f"?{request.GET.urlencode()}" if request.GET else "")
    with show_errors(request):
        later.ask(by=get_account(request), study=study, options=_options(request))
    return redirect(here)


def is_left(request: HttpRequest, study: Study) -> bool:
    """Whether it is more than a page reads, and nobody insists."""
    return WHOLE not in request.GET and is_large(study)


def _load_stored(request: HttpRequest, study: Study, options: JudgedOptions) -> dict[str, object]:
    """What was computed last, and what stands of a new computation."""
    run = later.find_stored_run(study, options)
    known = {"asked": options} if run is None else _context(study, StudyRaters.from_run(study, run), run, options)
    return {**known, **build_later_context(request, study, options, run)}


def build_later_context(
    request: HttpRequest, study: Study, options: JudgedOptions, run: AgreementRun | None
) -> dict[str, object]:
    """What a page says of an agreement that is left to a worker."""
    query = request.GET.urlencode()
    return {
        "left": True,
        "run": run,
        "most": row_counts.LARGE,
        "waiting": later.find_request(study, options),
        "compute": reverse("agreement_compute", args=[study.slug]) + (f"?{query}" if query else ""),
        "here": f"?{query}",
        "command": f"manage.py agreement --study {study.slug}",
    }


def _options(request: HttpRequest) -> JudgedOptions:
    """What the address asks for. Raises InputError where it makes no sense."""
    by, cluster, strata = (request.GET.get(name, "") for name in ASKED)
    reads = request.GET.get("read") or VERDICTS
    return JudgedOptions(by=by, cluster=cluster, strata=strata, reads=reads, guideline_version=_version(request))


def _version(request: HttpRequest) -> int | None:
    """Of the guideline, if the address names one. Raises InputError where it is not a number."""
    text = request.GET.get("guideline_version", "")
    if not text:
        return None
    if not (text.isascii() and text.isdecimal()):
        raise InputError("{text!r} is not the number of a version", field="guideline_version", text=text)
    return int(text[:6])


@researcher_required
@require_safe
def agreement_download(request: HttpRequest, slug: str, format: str) -> HttpResponse:
    """The same result as json, csv (every figure a row), or the plot as svg, png or pdf."""
    if format not in DOWNLOADS:
        raise Http404(f"agreement is not given as {format}")
    study = get_object_or_404(Study, slug=slug)
    try:
        options = _options(request)
        found, shown = _result(request, study, options)
    except InputError as error:
        raise Http404(str(error)) from error
    return attach_file(DOWNLOADS[format](found, shown), name=f"{study.slug}-agreement.{format}")


def _result(request: HttpRequest, study: Study, options: JudgedOptions) -> tuple[AgreementDocument, StudyRaters]:
    """The result that the page shows, and who rated. Raises Http404 where a worker has not computed it yet."""
    if not is_left(request, study):
        ratings = StudyRatings.from_options(study, options)
        return service.load_document(_run(request, study, ratings, options)), StudyRaters.from_ratings(ratings)
    run = later.find_stored_run(study, options)
    if run is None:
        raise Http404("it has not been computed yet; the page of the study's agreement has a button for it")
    return service.load_document(run), StudyRaters.from_run(study, run)


def _run(request: HttpRequest, study: Study, ratings: StudyRatings, options: JudgedOptions) -> AgreementRun:
    by = request.user if request.user.is_authenticated else None
    return service.load_or_compute(by=by, study=study, options=options, ratings=ratings)


def _json(result: AgreementDocument, shown: StudyRaters) -> str:  # noqa: ARG001
    return json.dumps(service.select_criterion(result, None), ensure_ascii=False, indent=1)


def _csv(result: AgreementDocument, shown: StudyRaters) -> str:  # noqa: ARG001
    return csv_text(agreement_figures.csv_rows(result["criteria"]))


def _figure(ending: str) -> Callable[[AgreementDocument, StudyRaters], str | bytes]:
    """What writes the plot as a file of this ending."""
    return lambda result, shown: charts.FIGURES[ending](charts.forest, _rows(result, shown), charts.FILE)


DOWNLOADS: dict[str, Callable[[AgreementDocument, StudyRaters], str | bytes]] = {
    "json": _json,
    "csv": _csv,
    **{ending: _figure(ending) for ending in ("svg", "png", "pdf")},
}


def _rows(result: AgreementDocument, shown: StudyRaters) -> list[charts.Rows]:
    """What the forest plot shows of each criterion."""
    return [
        charts.build_rows(one.criterion.name, result["criteria"][one.criterion.key], people=shown.name_raters(one))
        for one in shown.criteria
    ]


def _context(study: Study, shown: StudyRaters, run: AgreementRun, options: JudgedOptions) -> dict[str, object]:
    asked = {name: getattr(options, name) for name in ASKED} | {"read": SCORES if options.with_scores else ""}
    asked["guideline_version"] = options.guideline_version
    query = urlencode({name: value for name, value in asked.items() if value})
    names = {one.criterion.key: one.criterion.name for one in shown.criteria}
    result = service.load_document(run)
    documents = {key: result["criteria"][key] for key in names}  # PostgreSQL keeps keys in an order of its own
    sections = [
        _section(study, one, documents[one.criterion.key], shown.annotators, options.by) for one in shown.criteria
    ]
    n_raters, simulated = shown.count_raters()
    return {
        "run": run,
        "lead": wording.summarise_people(names, documents, n_raters=n_raters, simulated=simulated),
        "asked": options,
        "versions": _versions(study, shown),
        "can_read_scores": _can_read_scores(documents.values()),
        "groupings": [
            *wording.name_groupings(service.GROUPINGS),
            *((name, name) for name in list_own_groupings(study)),
        ],
        "questions": [(f"{service.ANNOTATOR}{key}", asks) for key, asks in queries.questions(study).items()],
        "clusterings": _clusterings(study, options),
        "stratifications": wording.name_groupings(STRATA),
        "left_out": result.get("left_out", []),
        "sections": sections,
        "alone": len(sections) == 1,
        "downloads": [
            (f.upper(), reverse("agreement_download", args=[study.slug, f]) + (f"?{query}" if query else ""))
            for f in DOWNLOADS
        ],
        "warnings": agreement_rows.list_warnings(names, documents),
        "conventions": agreement_rows.list_conventions(documents.values()),
    }


def _versions(study: Study, shown: StudyRaters) -> dict[int, list[tuple[str, int]]]:
    """By version of the guidelines, how many labels of which criterion were given under it; empty for one version."""
    edited = [one.criterion for one in shown.criteria if one.criterion.guideline_version > 1]
    counts = labels_by_version(study, edited) if edited else {}
    found: dict[int, list[tuple[str, int]]] = {}
    for one in shown.criteria:
        for version, n in counts.get(one.criterion.pk, {}).items():
            found.setdefault(version, []).append((one.criterion.name, n))
    return dict(sorted(found.items())) if len(found) > 1 else {}


def _clusterings(study: Study, options: JudgedOptions) -> list[tuple[str, str]]:
    """What items may be resampled by, the study's own first."""
    own = _("study: {clustering}").format(clustering=study.clustering or _("profile or question"))
    alike = _("items of one {grouping}")
    named = [(name, alike.format(grouping=label)) for name, label in wording.name_groupings(NAMED)]
    other = [(options.cluster, alike.format(grouping=options.cluster))] if options.cluster else []
    known = [("", own), (NONE, _("nothing: each item alone")), *named]
    return [*known, *(one for one in other if one[0] not in dict(known))]


def _can_read_scores(documents: Iterable[CriterionAgreementDocument]) -> bool:
    """Whether there is a judge on a scale with an order."""
    return any(document["judges"] and document["level"] not in NO_SCORES for document in documents)


def _section(
    study: Study,
    one: RatedCriterion,
    document: CriterionAgreementDocument,
    annotators: Mapping[str, Annotator],
    by: str,
) -> dict[str, object]:
    """All that the page says of one criterion."""
    items = build_items_address(study, one.criterion.key)
    simulated = sum(annotators[username].is_simulated for username in one.raters)
    pairs, headline = document["pairs"], document["headline"]
    return {
        "criterion": one.criterion,
        "document": document,
        "captions": {
            "coefficients": _("Coefficients on {criterion}").format(criterion=one.criterion.name),
            "pairs": _("Pairs of annotators on {criterion}").format(criterion=one.criterion.name),
            "differences": _("Differences between judges on {criterion}").format(criterion=one.criterion.name),
            "groups": _("Groups of items on {criterion}").format(criterion=one.criterion.name),
            "annotator_groups": _("Groups of annotators on {criterion}").format(criterion=one.criterion.name),
        },
        "few_pairs": len(pairs) <= FEW_PAIRS,
        "counts": _("{raters} raters, {ratings} ratings").format(
            raters=f"{document['n_raters']:,}", ratings=f"{document['n_ratings']:,}"
        ),
        "note": agreement_rows.describe_level(document),
        "sentence": wording.describe_criterion(one.criterion.name, document, simulated=simulated),
        "coefficients": agreement_figures.select_applicable(agreement_figures.list_coefficients(document)),
        "pair_kappa": agreement_figures.PAIRED[headline["kappa"]],
        "pair_agreement": _("Agreement") if document["level"] != "spans" else agreement_figures.PAIRED["exact_f1"],
        "pairs": [
            {
                **pair,
                "kappa": pair[headline["kappa"]],
                "a": annotators[pair["a"]],
                "b": annotators[pair["b"]],
                "href": items(annotator=f"{pair['a']},{pair['b']}"),
            }
            for pair in pairs[:MOST_PAIRS]
        ],
        "items_href": items(people="several"),
        "disagree_href": items(people="disagree"),
        "groups": [
            {**agreement_rows.add_judges(group, headline), "href": items(**name_group(by, group["group"]))}
            for group in document.get("groups", [])
        ],
        "annotator_groups": agreement_rows.list_answers(document, headline),
        "differences": [agreement_rows.read_difference(one, headline) for one in document["differences"]],
        "more_pairs": max(len(pairs) - MOST_PAIRS, 0),
        "judges": [
            _judge(study, one.criterion, name, held, annotators, headline) for name, held in document["judges"].items()
        ],
        "majority": _majority(study, one.criterion, document["majority"]),
        "not_for": list(dict.fromkeys(one for held in document["judges"].values() for one in _not_for(held))),
    }


def _judge(
    study: Study,
    criterion: Criterion,
    name: str,
    held: JudgeDocument,
    annotators: Mapping[str, Annotator],
    headline: HeadlineDocument,
) -> dict[str, object]:
    each, items, of_run = find_each(headline), build_items_address(study, criterion.key), name_run(name, held["run"])
    rows = agreement_figures.list_judge(name, held)
    return {
        "name": name,
        "held": held,
        "captions": {
            "figures": _("{judge} against people on {criterion}").format(judge=name, criterion=criterion.name),
            "confusion": _("{judge} by majority of the people on {criterion}").format(
                judge=name, criterion=criterion.name
            ),
        },
        "note": agreement_rows.describe_scored(held),
        "figures": agreement_figures.select_applicable(row for row in rows if row.group == "judge"),
        "with_each": [
            (annotators[row.b], row.estimate, items(annotator=row.b, outcome="scored", **of_run))
            for row in rows
            if row.key == each
        ],
        "n_scored": held[headline["judge"]]["n_items"],
        "scored_href": items(outcome="scored", **of_run),
        "confusion": _confusion(items, criterion, of_run, held["confusion"]),
    }


def _not_for(held: JudgeDocument) -> list[tuple[str, str]]:
    """What a judge on this kind of answer has none of, and why."""
    return [(_(RESULTS[name]), reason) for name, reason in held.get("not_for", {}).items() if reason]


def _majority(study: Study, criterion: Criterion, found: MajorityDocument | None) -> list[dict[str, object]]:
    if found is None or is_too_wide(criterion, found["counts"]):
        return []
    address = build_items_address(study, criterion.key)
    of_values = [
        {"label": name_label(criterion, value), "n": n, "href": address(majority=value)}
        for value, n in found["counts"].items()
    ]
    return [*of_values, {"label": _("no majority"), "n": found["tied"], "href": address(majority=TIED)}]


def is_too_wide(criterion: Criterion, categories: Sized) -> bool:
    """Whether an open scale has too many answers to be counted one by one."""
    return criterion.type != Criterion.Type.CHOICE and len(categories) > MOST_CATEGORIES


def _confusion(
    items: Callable[..., str], criterion: Criterion, of_run: Mapping[str, str], found: ConfusionDocument | None
) -> dict[str, object] | None:
    """Rows of the judge's values, columns of the majority; every count opens its items. None where it says nothing."""
    if found is None or is_too_wide(criterion, found["categories"]):
        return None
    values = [str(category) for category in found["categories"]]
    most = max([n for row in found["counts"] for n in row], default=0)

    def cell(n: int, value: str, majority: str, *, shade: bool = True) -> dict[str, object]:
        level = -(-SHADES * n // most) if shade and most else 0
        return {"n": n, "href": items(value=value, majority=majority, **of_run), "shade": level}

    rows = [
        {
            "label": name_label(criterion, value),
            "cells": [cell(n, value, majority) for n, majority in zip(counts, values, strict=True)],
            "tied": cell(tied, value, TIED, shade=False),
        }
        for value, counts, tied in zip(values, found["counts"], found["tied"], strict=True)
    ]
    unscored = [cell(n, UNSCORED, majority, shade=False) for n, majority in zip(found["unscored"], values, strict=True)]
    return {"columns": [name_label(criterion, value) for value in values], "rows": rows, "unscored": unscored}
