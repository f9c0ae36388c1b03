"""The page of a judge on a study: the verdict first, then the evidence in the order a reviewer would ask for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from annotation.studies.models.studies import Study
from annotation.studies.queries.raters import Annotator, load_annotators
from annotation.studies.steps import study_steps
from core.accounts.access import researcher_required
from core.accounts.models.users import User
from core.csv_files import csv_text
from core.errors import InputError
from core.markup import to_safe_svg
from judging.assessment import calibration_charts, calibration_figures, charts
from judging.assessment.queries import certificates as certificate_queries
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import (
    assessment,
    certificate_checks,
    certificates,
    escalation,
    hold_out,
    rules,
    verdicts,
)
from judging.assessment.services.assessment import Assessment, AssessmentRequest
from judging.assessment.services.verdicts import CriterionVerdict
from judging.assessment.views.large import reads_judge
from judging.judges.models.hold_out import HoldOut
from judging.judges.models.judges import Judge
from judging.judges.queries.study_items import leaks
from judging.stats.verdict import Rules

Document = Mapping[str, Any]
MOST_REASONS = 3


@researcher_required
@require_safe
@reads_judge("What may be done with", "audit")
def judge_verdict(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """May this judge replace people, assist them, or not be used: per criterion and tier, with all the evidence."""
    study, judge = get_object_or_404(Study, slug=slug), get_object_or_404(Judge, pk=pk)
    context = {"study": study, "judge": judge, "steps": study_steps(study, "calibration")}
    try:
        found = load_assessment(request, study, judge)
    except InputError as error:
        return render(request, "judging/verdict.html", {**context, "error": error}, status=400)
    return render(request, "judging/verdict.html", {**context, **_context(request, found)})


@researcher_required
@require_safe
def judge_verdict_download(request: HttpRequest, slug: str, pk: int, part: str, format: str) -> HttpResponse:
    """What `calibrate` and `audit` print, as json; every figure a row, as csv."""
    if (part, format) not in DOWNLOADS:
        raise Http404(f"{part} is not given as {format}")
    study, judge = get_object_or_404(Study, slug=slug), get_object_or_404(Judge, pk=pk)
    content_type, content = DOWNLOADS[part, format]
    try:
        found = load_assessment(request, study, judge)
    except InputError as error:
        raise Http404(str(error)) from error
    return attach_file(content(found), content_type, f"{study.slug}-{part}.{format}")


@researcher_required
@require_safe
def judge_plot(request: HttpRequest, slug: str, pk: int, key: str, plot: str, format: str) -> HttpResponse:
    """One plot of one criterion as svg or png, or its data as csv."""
    study, judge = get_object_or_404(Study, slug=slug), get_object_or_404(Judge, pk=pk)
    if plot not in calibration_charts.PLOTS or format not in PLOT_FORMATS:
        raise Http404(f"there is no plot {plot} as {format}")
    try:
        documents = load_assessment(request, study, judge).calibration.result["criteria"]
    except InputError as error:
        raise Http404(str(error)) from error
    chosen = calibration_charts.PLOTS[plot]
    if key not in documents or not (rows := chosen.rows(documents[key])):
        raise Http404(f"there is nothing to draw of {key}")
    content_type, drawn = PLOT_FORMATS[format]
    return attach_file(drawn(chosen, rows), content_type, f"{study.slug}-{key}-{plot}.{format}")


def load_assessment(request: HttpRequest, study: Study, judge: Judge) -> Assessment:
    """The judge on the study, by the study's rules."""
    rules.refuse_others(study, request.GET.dict())
    mine = StudyData.load(study, request.GET.get("part", "")).load_judge(judge)
    found = assessment.assess_judge(by=reader(request), evidence=mine, asked=AssessmentRequest())
    return hold_out.check_seen(found)


def reader(request: HttpRequest) -> User | None:
    """Who asks, for what is kept."""
    return request.user if request.user.is_authenticated else None


def attach_file(content: str | bytes, content_type: str, name: str) -> HttpResponse:
    """A download."""
    response = HttpResponse(content, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _json(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False, indent=1)


CSV, JSON = "text/csv; charset=utf-8", "application/json; charset=utf-8"
DOWNLOADS: dict[tuple[str, str], tuple[str, Callable[[Assessment], str]]] = {
    ("calibration", "json"): (JSON, lambda found: _json(assessment.select_criterion(found.calibration.result, None))),
    ("calibration", "csv"): (
        CSV,
        lambda found: csv_text(calibration_figures.calibration_rows(found.calibration.result)),
    ),
    ("audit", "json"): (JSON, lambda found: _json(assessment.list_criteria(hold_out.audit_document(found), None))),
    ("audit", "csv"): (CSV, lambda found: csv_text(calibration_figures.audit_rows(found.audit.result))),
}


def _data(_: calibration_charts.CalibrationPlot, rows: calibration_charts.Rows) -> str:
    return csv_text([list(rows[0]), *(row.values() for row in rows)])


PLOT_FORMATS: dict[
    str, tuple[str, Callable[[calibration_charts.CalibrationPlot, calibration_charts.Rows], str | bytes]]
] = {
    "svg": ("image/svg+xml; charset=utf-8", lambda plot, rows: charts.svg(plot.spec, rows, charts.FILE)),
    "png": ("image/png", lambda plot, rows: charts.png(plot.spec, rows, charts.FILE)),
    "csv": (CSV, _data),
}


def _context(request: HttpRequest, found: Assessment) -> dict[str, Any]:
    annotators = load_annotators(found.study)
    said = {one.key: one for one in found.verdicts}
    documents, audits = found.calibration.result["criteria"], found.audit.result["criteria"]
    newest = certificate_queries.find_newest(found.study, found.judge)
    here = [found.study.slug, found.judge.pk]
    typed = {name: value for name, value in request.GET.items() if name == "part"}
    return {
        "found": found,
        "decision": found.decision,
        "left_out": found.evidence.left_out,
        "sections": [
            _section(found, said[c.key], documents[c.key], audits[c.key], annotators) for c in found.evidence.criteria
        ],
        "alone": len(found.evidence.criteria) == 1,
        "simulated": [one.name for one in annotators.values() if one.is_simulated],
        "rules": verdicts.describe_rules(found.rules.to_json()),
        "changed_rules": found.rules != Rules(),
        "on_record": (on_record := found.rules_on_record()),
        "changes": [change["sentence"] for change in on_record["changes"]],
        "success": found.held_to.success.in_words,
        "query": urlencode(typed),
        "typed": list(typed.items()),
        **_left(found),
        **_split(found.study),
        "looks": hold_out.list_accesses(found.study, found.judge),
        "has_maps": any(
            one["scores"] and one["scores"]["map"] and one["scores"]["improves"] for one in documents.values()
        ),
        "certificate": newest,
        "certificate_state": certificate_checks.check(certificates.document(newest)) if newest else None,
        "downloads": {
            part: [(f.upper(), reverse("judge_verdict_download", args=[*here, part, f])) for f in ("json", "csv")]
            for part in ("calibration", "audit")
        },
    }


def _split(study: Study) -> dict[str, Any]:
    """How the study is split, and the held-out items whose content is also in the development part."""
    split = HoldOut.objects.filter(study=study).first()
    return {"hold_out": split, "leaks": leaks(study, split) if split else []}


def _left(found: Assessment) -> dict[str, Any]:
    """What is escalated to people at each target, and what came back from the newest study that was made of it."""
    targets = found.calibration.parameters["targets"]
    left = [(target, int(escalation.find_escalated(found, target).items.sum())) for target in targets]
    newest = escalation.newest(found.study, found.judge)
    back = escalation.summarise_return(newest, found.evidence) if newest else None
    names = {criterion.key: criterion.name for criterion in found.evidence.criteria}
    return {
        "left": left,
        "anything_left": any(n for _, n in left),
        "escalation": newest,
        "back": back,
        "back_rows": [(names[key], one) for key, one in back["criteria"].items()] if back else [],
    }


def _section(
    found: Assessment,
    verdict: CriterionVerdict,
    document: Document,
    audit: Document,
    annotators: Mapping[str, Annotator],
) -> dict[str, Any]:
    """All that the page says of one criterion."""
    key = verdict.key
    return {
        "key": key,
        "name": verdict.name,
        "verdict": verdict,
        "strongest": strongest(verdict),
        "kappa": "weighted kappa" if document["kappa"] == "weighted_cohen_kappa" else "Cohen’s kappa",
        "document": document,
        "audit": audit,
        "tiers": [(tier, verdict.counts[tier], one) for tier, one in verdict.tiers.items()],
        "power": [verdict.power],
        "tested": _tested(document["alt_test"], annotators),
        "plots": {name: _plot(found, key, plot, document) for name, plot in calibration_charts.PLOTS.items()},
        "score_names": SCORE_NAMES,
        "correction": calibration_figures.correction(document),
        "groups": calibration_figures.groups(document),
        "boards": calibration_figures.leaderboards(document),
        "label_noise": [(annotators[one["annotator"]].name, one) for one in audit["labels"]["annotators"]],
        "captions": {name: f"{text} on {verdict.name}" for name, text in CAPTIONS.items()},
    }


SCORE_NAMES = (
    ("ece", "Expected calibration error, 0 to 1"),
    ("brier", "Brier score, 0 to 1"),
    ("mae", "Mean absolute error, units of the scale"),
    ("sharpness", "Sharpness: spread of the scores, units of the scale"),
)
CAPTIONS = {
    "reasons": "Rules",
    "tiers": "Verdict by tier",
    "difficulty": "Agreement by difficulty",
    "power": "Probability of replace in studies like this one",
    "alt_test": "Judge and annotator, each annotator left out in turn",
    "correction": "Corrected estimates",
    "scores": "Scores before and after recalibration",
    "selective": "Selective judging",
    "probes": "Probes",
    "baselines": "Trivial baselines",
    "noise": "Label noise by annotator",
    "board": "Assistants",
}


def strongest(verdict: CriterionVerdict) -> list[str]:
    """The three strongest reasons: the rules that were not met, those that decide first; if all were, what was met."""
    against = [one for one in verdict.whole.against if one.allows == verdict.whole.decision] or list(
        verdict.whole.against
    )
    reasons = against or [one for one in verdict.whole.reasons if one.allows == "assist and escalate"]
    return [one.message for one in reasons[:MOST_REASONS]]


def _tested(found: Document | None, annotators: Mapping[str, Annotator]) -> list[tuple[Annotator, Document]]:
    """Each annotator with their part of the alternative-annotator test."""
    return [(annotators[one["annotator"]], one) for one in found["per_annotator"]] if found else []


def _plot(
    found: Assessment, key: str, plot: calibration_charts.CalibrationPlot, document: Document
) -> dict[str, Any] | None:
    """The plot for the page, with its downloads; None where there is nothing to draw."""
    rows = plot.rows(document)
    if not rows:
        return None
    args = [found.study.slug, found.judge.pk, key, plot.key]
    return {
        "svg": to_safe_svg(charts.svg(plot.spec, rows, charts.PAGE)),
        "caption": plot.caption,
        "downloads": [(f.upper(), reverse("judge_plot", args=[*args, f])) for f in PLOT_FORMATS],
    }
