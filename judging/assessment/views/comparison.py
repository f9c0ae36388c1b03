"""Judges compared, a tab of the results: their pairwise differences and the cascade; and all of them as files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_noop
from django.views.decorators.http import require_POST, require_safe

from annotation.studies.models.studies import Study
from annotation.studies.steps import study_steps
from annotation.studies.views.large import reads_all
from core.accounts.access import researcher_required
from core.csv_files import csv_text
from core.downloads import attach_file
from core.errors import InputError
from judging.assessment import wording
from judging.assessment.options import CascadeOptions
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import assessment, cascade_records, cascades, judge_comparison
from judging.assessment.services.assessment import Assessment, AssessmentRequest
from judging.assessment.services.results import build_matrix
from judging.assessment.views.verdict import reader
from judging.judges.models import Judge

HEADER = ("criterion", "judge", "kind", "verdict", "kappa", "low", "high", "human_ceiling", "winning_rate", "biases")


@researcher_required
@require_safe
@reads_all(gettext_noop("Judges compared"), "calibrate", "results")
def calibration(request: HttpRequest, slug: str) -> HttpResponse:
    """The judges of the study in pairs, and one after another."""
    study = get_object_or_404(Study, slug=slug)
    evidence = StudyData.load(study)
    found, waiting = assessment.assess_judges(
        by=reader(request), evidence=evidence, asked=AssessmentRequest(), patient=False
    )
    found = [one for one in found if one.has_scores]
    differences = judge_comparison.compare_judges([one.evidence for one in found])
    context = {
        "study": study,
        "steps": study_steps(study, "results"),
        "tab": "calibration",
        "lead": wording.summarise_differences(differences),
        "waiting_judges": waiting,
        "left_out": evidence.left_out,
        "dependence": evidence.describe_dependence(),
        "differences": differences,
        "cascade": _cascade(request, evidence, found),
        "downloads": list_downloads(study),
    }
    return render(request, "judging/calibration.html", context)


def list_downloads(study: Study) -> list[tuple[str, str]]:
    """The files of all judges."""
    return [(f.upper(), reverse("calibration_download", args=[study.slug, f])) for f in ("csv", "json")]


@researcher_required
@require_safe
def calibration_download(request: HttpRequest, slug: str, format: str) -> HttpResponse:
    """The table as csv, or everything of every judge as json."""
    if format not in ("csv", "json"):
        raise Http404(f"the comparison is not given as {format}")
    study = get_object_or_404(Study, slug=slug)
    evidence = StudyData.load(study)
    found, _waiting = assessment.assess_judges(
        by=reader(request), evidence=evidence, asked=AssessmentRequest(), patient=False
    )
    if format == "csv":
        return attach_file(csv_text([HEADER, *_list_rows(study, found)]), name=f"{study.slug}-judges.csv")
    document = {
        "study": study.name,
        "judges": {
            str(one.judge): {"calibration": one.calibration.document, "audit": one.audit_document()} for one in found
        },
        "differences": judge_comparison.compare_judges([one.evidence for one in found]),
    }
    return attach_file(json.dumps(document, ensure_ascii=False, indent=1), name=f"{study.slug}-judges.json")


@researcher_required
@require_POST
def judge_assess(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Leave a long computation to a worker."""
    study, judge = get_object_or_404(Study, slug=slug), get_object_or_404(Judge, pk=pk)
    assessment.queue(by=reader(request), study=study, judge=judge)
    messages.info(
        request, _("{judge} is being computed by a worker. Load this page again in a minute.").format(judge=judge)
    )
    return redirect("results", slug=study.slug)


def _cascade(request: HttpRequest, evidence: StudyData, found: Sequence[Assessment]) -> dict[str, object] | None:
    """The cascade that is asked for, or that of the two cheapest judges; None where there are fewer than two."""
    judges = [one.evidence for one in found]
    costs = cascades.load_costs(judges)
    there = cascades.sort_by_cost(judges, costs)
    if len(there) < 2:
        return None
    by_pk = {str(one.judge.pk): one for one in there}
    chosen = [by_pk[pk] for pk in dict.fromkeys(request.GET.getlist("judge")) if pk in by_pk]
    each = chosen if len(chosen) > 1 else cascades.usual(there)
    usual = CascadeOptions()
    typed = {name: request.GET.get(name, f"{getattr(usual, name):g}") for name in ("target", "delta")}
    shown = {"there": there, "each": each, **typed, "on_record": cascade_records.compute_study(evidence)}
    try:
        options = CascadeOptions.check({name: share_typed(value, name) for name, value in typed.items()})
        document = cascades.describe(each, options, costs)
    except InputError as error:
        return {**shown, "error": error.message}
    return {**shown, "document": document}


def share_typed(typed: str, name: str) -> float:
    """The number that somebody wrote into the field `name`. InputError where it is none."""
    try:
        return float(typed)
    except ValueError as error:
        raise InputError("{typed!r} is not a number", field=name, typed=typed) from error


def _list_rows(study: Study, found: Sequence[Assessment]) -> Iterator[tuple[object, ...]]:
    """The cells of the results' matrix, a row each."""
    for row, cell in build_matrix(study.criteria.all(), None, found).list_cells():
        figures = [cell.kappa[name] for name in ("value", "low", "high")]
        more = cell.winning_rate, "; ".join(cell.biases)
        yield (row.key, cell.judge, cell.kind, cell.decision, *figures, cell.ceiling["value"], *more)
