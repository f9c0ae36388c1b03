"""The page of one judge on one criterion: the verdict and why, what would change it, and all evidence."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_noop
from django.views.decorators.http import require_safe

from annotation.studies.models.studies import Study
from annotation.studies.queries.ratings import Annotator, load_annotators
from annotation.studies.queries.units import to_position
from annotation.studies.steps import study_steps
from core.accounts.access import researcher_required
from core.downloads import attach_file
from core.errors import InputError
from judging.assessment import calibration_charts, calibration_figures, charts, verdict_changes, wording
from judging.assessment.result_types import CriterionFiguresDocument
from judging.assessment.services import escalation
from judging.assessment.services.assessment import Assessment
from judging.assessment.services.verdicts import CriterionVerdict
from judging.assessment.views.items import MOST_LISTED, build_items_address
from judging.assessment.views.large import reads_judge
from judging.assessment.views.results import ISSUE, find_next_step
from judging.assessment.views.verdict import (
    build_certificate_context,
    find_strongest,
    list_downloads,
    load_assessment,
)
from judging.judges.models import Judge
from judging.stats.result_types import AltTestAnnotatorDocument, AltTestDocument, ConfusionDocument

MOST_SHOWN = 5
"""Groups of equal items with other labels."""


@researcher_required
@require_safe
@reads_judge(gettext_noop("What may be done with {judge}"), "audit")
def criterion_verdict(request: HttpRequest, slug: str, pk: int, key: str) -> HttpResponse:
    """May this judge replace people on this criterion, assist them, or not be used; why, and what would change it."""
    study, judge = get_object_or_404(Study, slug=slug), get_object_or_404(Judge, pk=pk)
    context = {"study": study, "judge": judge, "steps": study_steps(study, "results")}
    try:
        found = load_assessment(request, study, judge)
    except InputError as error:
        return render(request, "judging/criterion.html", {**context, "error": error}, status=400)
    verdict = next((one for one in found.verdicts if one.key == key), None)
    if verdict is None:
        raise Http404(f"there is no verdict on {key}")
    sealed = build_certificate_context(request, found)
    step = find_next_step(study, key, judge.pk, verdict.whole.decision)
    certificate, state = sealed["certificate"], sealed["certificate_state"]
    if step[0] == _(ISSUE):
        step = _(ISSUE), ""  # by the form of this page
        if certificate and state and state.holds:
            step = _("Open the certificate"), reverse("certificate_detail", args=[certificate.sha256])
    return render(request, "judging/criterion.html", {**context, **_section(found, verdict), **sealed, "next": step})


@researcher_required
@require_safe
def judge_plot(request: HttpRequest, slug: str, pk: int, key: str, plot: str, format: str) -> HttpResponse:
    """One plot of one criterion as svg, png or pdf, or its data as csv."""
    study, judge = get_object_or_404(Study, slug=slug), get_object_or_404(Judge, pk=pk)
    if plot not in calibration_charts.PLOTS or format not in charts.FIGURES:
        raise Http404(f"there is no plot {plot} as {format}")
    try:
        documents = load_assessment(request, study, judge).calibration.document["criteria"]
    except InputError as error:
        raise Http404(str(error)) from error
    chosen = calibration_charts.PLOTS[plot]
    if key not in documents or not (rows := chosen.rows(documents[key])):
        raise Http404(f"there is nothing to draw of {key}")
    return attach_file(
        charts.FIGURES[format](chosen.spec, rows, charts.FILE), name=f"{study.slug}-{key}-{plot}.{format}"
    )


def _section(found: Assessment, verdict: CriterionVerdict) -> dict[str, object]:
    """All that the page says."""
    key, annotators = verdict.key, load_annotators(found.study)
    document, audit = found.calibration.document["criteria"][key], found.audit.document["criteria"][key]
    items = build_items_address(found.study, key)
    run = str(document["run"])
    return {
        "found": found,
        "criterion_key": key,
        "name": verdict.name,
        "verdict": verdict,
        "strongest": find_strongest(verdict),
        "would_change": verdict_changes.list_changes(verdict.whole, document),
        "scored_href": items(run=run, outcome="scored"),
        "differs_href": items(run=run, outcome="differs"),
        "n_differ": count_differing(document["agreement"]["confusion"]),
        "unscored_href": items(run=run, value="unscored"),
        "document": document,
        "audit": audit,
        "biases": [one for one in audit["probes"] if one["found"]],
        "probed": any(one["found"] is not None for one in audit["probes"]),
        "contradictory": [
            [(to_position(name), name) for name in group] for group in audit["duplicates"]["contradictory"][:MOST_SHOWN]
        ],
        "people_position": found.people_position.get(key),
        "tiers": [
            (tier, verdict.counts[tier], one, items(run=run, outcome="scored", tier=tier))
            for tier, one in verdict.tiers.items()
        ],
        "power": [verdict.power],
        "tested": _tested(document["alt_test"], annotators),
        "plots": {name: _plot(found, key, plot, document) for name, plot in calibration_charts.PLOTS.items()},
        "score_names": [(name, _(label)) for name, label in wording.SCORE_NAMES],
        "correction": (correction := calibration_figures.correction(document)),
        "estimated": any(row["estimate"]["value"] is not None for row in correction),
        "groups": calibration_figures.groups(document),
        "boards": calibration_figures.leaderboards(document),
        "label_noise": [(annotators[one["annotator"]].name, one) for one in audit["labels"]["annotators"]],
        "downloads": list_downloads(found),
        "left": [_left(found, key, target) for target in found.calibration.parameters["targets"]],
    }


def count_differing(confusion: ConfusionDocument | None) -> int:
    """On how many items the judge gave another value than the majority of people."""
    if confusion is None:
        return 0
    counts = np.array(confusion["counts"])
    return int(counts.sum() - np.trace(counts))


def _left(found: Assessment, key: str, target: float) -> dict[str, object]:
    """The unlabelled items that are escalated on this criterion at a target, and their list unless it is too long."""
    mine = escalation.find_escalated(found, target).doubtful[key]
    listed = escalation.list_positions({key: mine})
    at = ",".join(map(str, listed)) if len(listed) <= MOST_LISTED else ""
    return {"target": target, "n": len(mine), "href": build_items_address(found.study, key)(at=at) if at else ""}


def _tested(
    found: AltTestDocument | None, annotators: Mapping[str, Annotator]
) -> list[tuple[Annotator, AltTestAnnotatorDocument]]:
    """Each annotator with their part of the alternative-annotator test."""
    return [(annotators[one["annotator"]], one) for one in found["per_annotator"]] if found else []


def _plot(
    found: Assessment, key: str, plot: calibration_charts.CalibrationPlot, document: CriterionFiguresDocument
) -> dict[str, object] | None:
    """The plot for the page, with its downloads; None where there is nothing to draw."""
    rows = plot.rows(document)
    if not rows:
        return None
    args = [found.study.slug, found.judge.pk, key, plot.key]
    return {
        "svg": charts.draw_on_page(plot.spec, rows),
        "caption": _(plot.caption),
        "downloads": [(f.upper(), reverse("judge_plot", args=[*args, f])) for f in charts.FIGURES],
    }
