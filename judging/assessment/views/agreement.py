"""The agreement page and its downloads."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotation.recruitment.queries import demographics
from annotation.studies.models.labels import AgreementRun
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries.dependence import NAMED, NONE
from annotation.studies.queries.guidelines import labels_by_version
from annotation.studies.queries.items import STRATA
from annotation.studies.queries.raters import Annotator
from annotation.studies.queries.studies import is_large
from annotation.studies.steps import study_steps
from annotation.studies.views.large import WHOLE
from core import row_counts
from core.accounts.access import get_account, researcher_required
from core.csv_files import csv_text
from core.errors import InputError
from core.markup import to_safe_svg
from judging.assessment import agreement_figures, charts, wording
from judging.assessment.services import agreement as service
from judging.assessment.services import deferred_agreement as later
from judging.assessment.services.agreement import StudyRatings
from judging.assessment.services.comparison import RULE, SCORES, VERDICTS, JudgedOptions
from judging.assessment.services.items import TIED, UNSCORED

MOST_PAIRS = 30
"""Pairs of people shown on the page; the downloads hold all."""

SHADES = 5

ASKED = ("by", "cluster", "strata")
"""What an address may ask for."""

NO_ORDER = ", which has no order: no weighted kappa, ICC or distance"

Document = Mapping[str, Any]


@researcher_required
@require_safe
def agreement(request: HttpRequest, slug: str) -> HttpResponse:
    """What people and judges agree on, in words, as a plot, as figures; computed now if it is not known yet.

    A large study's is computed by a worker, and shown as it was computed last.
    """
    study = get_object_or_404(Study, slug=slug)
    head = {"study": study, "steps": study_steps(study, "agreement")}
    try:
        options = _options(request)
        if _is_left(request, study):
            return render(request, "judging/agreement.html", {**head, **_of_large(request, study, options)})
        ratings = StudyRatings.from_options(study, options)
        run = None if ratings.is_empty else _run(request, study, ratings, options)
    except InputError as error:
        return render(request, "judging/agreement.html", {**head, "error": error}, status=400)
    if run is None:
        return render(request, "judging/agreement.html", {**head, "asked": options})
    return render(request, "judging/agreement.html", {**head, **_context(study, _shown(ratings), run, options)})


@researcher_required
@require_POST
def agreement_compute(request: HttpRequest, slug: str) -> HttpResponse:
    """Leave the agreement of a large study to a worker."""
    study = get_object_or_404(Study, slug=slug)
    here = reverse("agreement", args=[slug]) + (f"?{request.GET.urlencode()}" if request.GET else "")
    try:
        later.ask(by=get_account(request), study=study, options=_options(request))
    except InputError as error:
        messages.error(request, error.message)
    return redirect(here)


def _is_left(request: HttpRequest, study: Study) -> bool:
    """Whether it is more than a page reads, and nobody insists."""
    return WHOLE not in request.GET and is_large(study)


def _of_large(request: HttpRequest, study: Study, options: JudgedOptions) -> dict[str, Any]:
    """What was computed last, and what stands of a new computation."""
    run, query = later.find_stored_run(study, options), request.GET.urlencode()
    known = (
        {"asked": options}
        if run is None
        else _context(study, AgreementView(*later.build_shown(study, run)), run, options)
    )
    return {
        **known,
        "left": True,
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


@dataclass(frozen=True)
class AgreementView:
    """What the page says of those who rated, whether their labels were read for it or not."""

    criteria: tuple[later.DeferredAgreement, ...]
    annotators: Mapping[str, Annotator]

    @property
    def simulated(self) -> list[str]:
        """Names of the annotators who are no people."""
        return [one.name for one in self.annotators.values() if one.is_simulated]


def _shown(ratings: StudyRatings) -> AgreementView:
    return AgreementView(
        tuple(later.DeferredAgreement(one.criterion, one.table.raters) for one in ratings.criteria), ratings.annotators
    )


def _version(request: HttpRequest) -> int | None:
    """Of the guideline, if the address names one. Raises InputError where it is no number."""
    text = request.GET.get("guideline_version", "")
    if not text:
        return None
    if not (text.isascii() and text.isdecimal()):
        raise InputError(f"{text!r} is not the number of a version", field="guideline_version")
    return int(text[:6])


@researcher_required
@require_safe
def agreement_download(request: HttpRequest, slug: str, format: str) -> HttpResponse:
    """The same result as json, csv (every figure a row) or svg (the plot)."""
    if format not in DOWNLOADS:
        raise Http404(f"agreement is not given as {format}")
    study = get_object_or_404(Study, slug=slug)
    try:
        options = _options(request)
        found, shown = _result(request, study, options)
    except InputError as error:
        raise Http404(str(error)) from error
    content_type, content = DOWNLOADS[format]
    response = HttpResponse(content(found, shown), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-agreement.{format}"'
    return response


def _result(request: HttpRequest, study: Study, options: JudgedOptions) -> tuple[Document, AgreementView]:
    """The result that the page shows, and who rated. Raises Http404 where a worker has not computed it yet."""
    if not _is_left(request, study):
        ratings = StudyRatings.from_options(study, options)
        return _run(request, study, ratings, options).result, _shown(ratings)
    run = later.find_stored_run(study, options)
    if run is None:
        raise Http404("it has not been computed yet; the page of the study's agreement has a button for it")
    return run.result, AgreementView(*later.build_shown(study, run))


def _run(request: HttpRequest, study: Study, ratings: StudyRatings, options: JudgedOptions) -> AgreementRun:
    by = request.user if request.user.is_authenticated else None
    return service.load_or_compute(by=by, study=study, options=options, ratings=ratings)


def _names(shown: AgreementView) -> dict[str, str]:
    return {one.criterion.key: one.criterion.name for one in shown.criteria}


def _json(result: Document, shown: AgreementView) -> str:  # noqa: ARG001
    return json.dumps(service.select_criterion(result, None), ensure_ascii=False, indent=1)


def _csv(result: Document, shown: AgreementView) -> str:  # noqa: ARG001
    return csv_text(agreement_figures.csv_rows(result["criteria"]))


def _svg(result: Document, shown: AgreementView) -> str:
    return charts.svg(charts.forest, _rows(result, shown), charts.FILE)


DOWNLOADS: dict[str, tuple[str, Callable[[Document, AgreementView], str]]] = {
    "json": ("application/json; charset=utf-8", _json),
    "csv": ("text/csv; charset=utf-8", _csv),
    "svg": ("image/svg+xml; charset=utf-8", _svg),
}


def _rows(result: Document, shown: AgreementView) -> list[charts.Rows]:
    """What the forest plot shows of each criterion."""
    return [
        charts.build_rows(one.criterion.name, result["criteria"][one.criterion.key], people=_raters(one, shown))
        for one in shown.criteria
    ]


def _raters(one: later.DeferredAgreement, shown: AgreementView) -> str:
    """What the plot calls those who rated: people, unless none of them is one."""
    who = [shown.annotators[username] for username in one.raters]
    return "simulated" if who and all(annotator.is_simulated for annotator in who) else "people"


def _context(study: Study, shown: AgreementView, run: AgreementRun, options: JudgedOptions) -> dict[str, Any]:
    asked = {name: getattr(options, name) for name in ASKED} | {"read": SCORES if options.with_scores else ""}
    asked["guideline_version"] = options.guideline_version
    query = urlencode({name: value for name, value in asked.items() if value})
    names = _names(shown)
    documents = {key: run.result["criteria"][key] for key in names}  # PostgreSQL keeps keys in an order of its own
    sections = [_section(study, one, documents[one.criterion.key], shown.annotators) for one in shown.criteria]
    return {
        "run": run,
        "asked": options,
        "versions": _versions(study, shown),
        "can_read_scores": _can_read_scores(documents.values()),
        "groupings": _readable(service.GROUPINGS),
        "questions": [(f"{service.ANNOTATOR}{key}", asks) for key, asks in demographics.questions(study).items()],
        "clusterings": _clusterings(study, options),
        "stratifications": _readable(STRATA),
        "lead": sections[0]["sentence"] if len(sections) == 1 else _over_all(names, documents, shown),
        "forest": to_safe_svg(charts.svg(charts.forest, _rows(run.result, shown), charts.PAGE)),
        "table": run.result["table"],
        "sections": sections,
        "alone": len(sections) == 1,
        "simulated": shown.simulated,
        "rules": _rules(documents.values()),
        "downloads": [
            (f.upper(), reverse("agreement_download", args=[study.slug, f]) + (f"?{query}" if query else ""))
            for f in DOWNLOADS
        ],
        "interval": f"{100 * run.parameters['confidence']:g} % interval",
        "warnings": _warnings(names, documents),
        "conventions": _conventions(documents.values()),
    }


def _versions(study: Study, shown: AgreementView) -> dict[int, list[tuple[str, int]]]:
    """By version of the guidelines, how many labels of which criterion were given under it; empty for one version."""
    edited = [one.criterion for one in shown.criteria if one.criterion.guideline_version > 1]
    counts = labels_by_version(study, edited) if edited else {}
    found: dict[int, list[tuple[str, int]]] = {}
    for one in shown.criteria:
        for version, n in counts.get(one.criterion.pk, {}).items():
            found.setdefault(version, []).append((one.criterion.name, n))
    return dict(sorted(found.items())) if len(found) > 1 else {}


def _readable(names: Iterable[str]) -> list[tuple[str, str]]:
    return [(name, name.replace("_", " ")) for name in names]


def _clusterings(study: Study, options: JudgedOptions) -> list[tuple[str, str]]:
    """What items may be resampled by, the study's own first."""
    own = f"study: {study.clustering or 'profile or question'}"
    named = [(name, f"items of one {label}") for name, label in _readable(NAMED)]
    other = [(options.cluster, f"items of one {options.cluster}")] if options.cluster else []
    known = [("", own), (NONE, "nothing: each item alone"), *named]
    return [*known, *(one for one in other if one[0] not in dict(known))]


def _can_read_scores(documents: Iterable[Document]) -> bool:
    """Whether there is a judge on a scale with an order."""
    return any(document["judges"] and document["level"] != "nominal" for document in documents)


def _over_all(names: Mapping[str, str], documents: Mapping[str, Document], shown: AgreementView) -> str:
    """The sentence over several criteria, on all who rated any of them."""
    who = {username for one in shown.criteria for username in one.raters}
    simulated = sum(shown.annotators[username].is_simulated for username in who)
    return wording.summarise_criteria(names, documents, n_raters=len(who), simulated=simulated)


@dataclass(frozen=True)
class _Sentence:
    """A sentence and the criteria that it is about."""

    message: str
    criteria: str


@dataclass(frozen=True)
class _Kind:
    """A kind of warning, the criteria that have it, and what it says on them."""

    name: str
    criteria: str
    said: tuple[_Sentence, ...]


def _warnings(names: Mapping[str, str], documents: Mapping[str, Document]) -> list[_Kind]:
    """Each kind of warning once, with the criteria that it is about; nothing is named where there is only one."""
    kinds: dict[str, dict[str, list[str]]] = {}
    for key, document in documents.items():
        for warning in document["warnings"]:
            kind = warning["code"] if len(names) > 1 else warning["message"]
            kinds.setdefault(kind, {}).setdefault(warning["message"], []).append(names[key])
    return [
        _Kind(
            name=code.replace("_", " ").capitalize(),
            criteria=_joined(names, [name for name in names.values() if any(name in one for one in said.values())]),
            said=tuple(_Sentence(message, _joined(names, where)) for message, where in said.items()),
        )
        for code, said in kinds.items()
    ]


def _joined(names: Mapping[str, str], some: Sequence[str]) -> str:
    return ", ".join(some) if len(names) > 1 else ""


def _rules(documents: Iterable[Document]) -> dict[str, str]:
    """By name, what kind of rule a judge is that is no model."""
    kinds = {name: held["kind"] for document in documents for name, held in document["judges"].items()}
    return {name: kind for name, kind in sorted(kinds.items()) if kind.endswith(RULE)}


def _conventions(documents: Iterable[Document]) -> list[Document]:
    """What the figures rest on, each said once."""
    said = {note["message"]: note for document in documents for note in document["conventions"]}
    return list(said.values())


def _note(document: Document) -> str:
    level = f"{document['level'].capitalize()} scale" + (NO_ORDER if document["level"] == "nominal" else "")
    return f"{level}. {document['n_items_pairable']:,} of {document['n_items']:,} items have two ratings or more"


def _judges_note(held: Document) -> str:
    not_judged = f", {held['not_judged']:,} not judged" if held["not_judged"] else ""
    read = f"; correlations and errors from scores: {_sources(held)}" if held["reads"] == SCORES else ""
    return f"{held['scored']:,} items scored, {held['unscored']:,} replies without a usable verdict{not_judged}{read}"


def _sources(held: Document) -> str:
    """On how many items a judge's score rests on what."""
    return ", ".join(f"{n:,} by {source}" for source, n in held["score_sources"].items()) or "none"


def _section(
    study: Study, one: later.DeferredAgreement, document: Document, annotators: Mapping[str, Annotator]
) -> dict[str, Any]:
    """All that the page says of one criterion."""
    simulated = sum(annotators[username].is_simulated for username in one.raters)
    pairs, headline = document["pairs"], document["headline"]
    return {
        "criterion": one.criterion,
        "document": document,
        "captions": {
            "coefficients": f"Coefficients on {one.criterion.name}",
            "pairs": f"Pairs of annotators on {one.criterion.name}",
            "differences": f"Differences between judges on {one.criterion.name}",
            "groups": f"Groups of items on {one.criterion.name}",
            "annotator_groups": f"Groups of annotators on {one.criterion.name}",
        },
        "counts": f"{document['n_raters']:,} raters, {document['n_ratings']:,} ratings",
        "note": _note(document),
        "sentence": wording.describe_criterion(one.criterion.name, document, simulated=simulated),
        "coefficients": agreement_figures.select_applicable(agreement_figures.list_coefficients(document)),
        "pair_kappa": agreement_figures.PAIRED[headline["kappa"]],
        "pairs": [
            {**pair, "kappa": pair[headline["kappa"]], **{side: annotators[pair[side]] for side in ("a", "b")}}
            for pair in pairs[:MOST_PAIRS]
        ],
        "groups": [_with_judges(group, headline) for group in document.get("groups", [])],
        "annotator_groups": _by_answer(document, headline),
        "differences": [_difference(one, headline) for one in document["differences"]],
        "more_pairs": max(len(pairs) - MOST_PAIRS, 0),
        "judges": [
            _judge(study, one.criterion, name, held, annotators, headline) for name, held in document["judges"].items()
        ],
        "majority": _majority(study, one.criterion, document["majority"]),
    }


def _with_judges(group: Document, headline: Document) -> dict[str, Any]:
    """A group with each judge's headline coefficient there, and people's beside it."""
    judges = [
        {"name": name, "kappa": held[headline["judge"]], "ceiling": held[headline["ceiling"]]}
        for name, held in group["judges"].items()
    ]
    return {**group, "judges": judges}


def _by_answer(document: Document, headline: Document) -> dict[str, Any] | None:
    found = document.get("annotator_groups")
    return found and {**found, "groups": [_with_judges(group, headline) for group in found["groups"]]}


def _difference(one: Document, headline: Document) -> dict[str, Any]:
    """One judge minus another in the headline coefficient, and against the majority."""
    kappa, accuracy = (one["figures"][name]["difference"] for name in (headline["judge"], "accuracy"))
    return {**one, "kappa": kappa, "accuracy": accuracy}


def _judge(
    study: Study,
    criterion: Criterion,
    name: str,
    held: Document,
    annotators: Mapping[str, Annotator],
    headline: Document,
) -> dict[str, Any]:
    each = "per_annotator" if headline["kappa"] == "cohen_kappa" else "per_annotator_weighted"
    rows = agreement_figures.list_judge(name, {"judges": {name: held}})
    return {
        "name": name,
        "held": held,
        "captions": {
            "figures": f"{name} against people on {criterion.name}",
            "confusion": f"{name} by majority of the people on {criterion.name}",
            "alt_test": f"{name} in the place of each annotator on {criterion.name}",
        },
        "note": _judges_note(held),
        "figures": agreement_figures.select_applicable(row for row in rows if row.group == "judge"),
        "with_each": [(annotators[row.b], row.estimate) for row in rows if row.key == each],
        "confusion": _confusion(study, criterion, name, held["confusion"]),
        "alt_test": _tested(held.get("alt_test"), annotators),
    }


def _tested(found: Document | None, annotators: Mapping[str, Annotator]) -> list[tuple[Annotator, Document]]:
    """Each annotator with their part of the alternative-annotator test."""
    return [(annotators[one["annotator"]], one) for one in found["per_annotator"]] if found else []


def _majority(study: Study, criterion: Criterion, found: Document) -> list[dict[str, Any]]:
    address = _items_address(study, criterion)
    of_values = [
        {"label": criterion.label_of(value), "n": n, "href": address(majority=value)}
        for value, n in found["counts"].items()
    ]
    return [*of_values, {"label": "no majority", "n": found["tied"], "href": address(majority=TIED)}]


def _items_address(study: Study, criterion: Criterion) -> Callable[..., str]:
    base = reverse("item_list", args=[study.slug])

    def address(**query: str) -> str:
        return f"{base}?{urlencode({'criterion': criterion.key, **query})}"

    return address


def _confusion(study: Study, criterion: Criterion, judge: str, found: Document) -> dict[str, Any]:
    """Rows of the judge's values, columns of the majority; every count opens its items."""
    address = _items_address(study, criterion)
    values = [str(category) for category in found["categories"]]
    most = max([n for row in found["counts"] for n in row], default=0)

    def cell(n: int, value: str, majority: str, *, shade: bool = True) -> dict[str, Any]:
        level = -(-SHADES * n // most) if shade and most else 0
        return {"n": n, "href": address(judge=judge, value=value, majority=majority), "shade": level}

    rows = [
        {
            "label": criterion.label_of(value),
            "cells": [cell(n, value, majority) for n, majority in zip(counts, values, strict=True)],
            "tied": cell(tied, value, TIED, shade=False),
        }
        for value, counts, tied in zip(values, found["counts"], found["tied"], strict=True)
    ]
    unscored = [cell(n, UNSCORED, majority, shade=False) for n, majority in zip(found["unscored"], values, strict=True)]
    return {"columns": [criterion.label_of(value) for value in values], "rows": rows, "unscored": unscored}
