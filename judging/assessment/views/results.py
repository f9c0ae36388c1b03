"""The results of a study on one page: people and judges, criterion by criterion, with what to do next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_noop
from django.views.decorators.http import require_safe

from annotation.studies.models.labels import AgreementRun
from annotation.studies.models.studies import Study
from annotation.studies.steps import study_steps
from annotation.studies.views.large import WHOLE
from core.accounts.access import researcher_required
from judging.assessment import agreement_rows, wording
from judging.assessment.agreement_types import CriterionAgreementDocument
from judging.assessment.options import JudgedOptions
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import agreement as agreement_service, assessment, deferred_agreement as later
from judging.assessment.services.agreement import StudyRatings
from judging.assessment.services.assessment import AssessmentRequest, StoredAssessment
from judging.assessment.services.refresh import is_computing
from judging.assessment.services.results import (
    ResultCell,
    ResultMatrix,
    ResultRow,
    build_matrix,
    draw_forest,
    list_outdated,
    list_running,
)
from judging.assessment.services.stored_pages import is_refreshed
from judging.assessment.services.study_raters import StudyRaters
from judging.assessment.views.agreement import DOWNLOADS, build_later_context, is_left
from judging.assessment.views.comparison import list_downloads
from judging.assessment.views.items import build_items_address, name_run
from judging.assessment.views.verdict import reader
from judging.judges.models import Judge
from judging.stats.verdict import ORDER

ISSUE = gettext_noop("Issue a certificate")
"""The next step with a judge that may replace people."""

NOTE = gettext_noop("Kappa [95 % interval] on n items. n opens these items, “differ” those on which people do")
NOTE_WITH_JUDGES = gettext_noop(
    "Kappa [95 % interval] on n items. A judge beside the human ceiling: inter-annotator agreement on the same items. "
    "n opens these items, “differ” those on which they do"
)


@researcher_required
@require_safe
def results(request: HttpRequest, slug: str) -> HttpResponse:
    """How far people agree, and what may be done with each judge on each criterion."""
    study = get_object_or_404(Study, slug=slug)
    context: dict[str, object] = {"study": study, "steps": study_steps(study, "results"), "tab": "results"}
    left, unseen = is_left(request, study), set[str]()
    run = _load_run(request, study) if left or _is_refreshed(request, study) else None
    judges: Sequence[StoredAssessment]
    if left or run:
        newest = assessment.load_newest(by=reader(request), study=study)
        outdated = list_outdated(study, newest)
        judges = [one for one in newest if one not in outdated]
        raters = StudyRaters.from_run(study, run) if run else None
        context |= {**build_later_context(request, study, JudgedOptions(), run), "refreshed": not left, "left_out": []}
        waiting = list_waiting(study, judges)
        unseen = {str(one.judge) for one in outdated}
    else:
        ratings = StudyRatings.read(study)
        run, raters = _compute(request, study, ratings)
        evidence = StudyData.load(study, given=ratings.criteria)
        judges, waiting = assessment.assess_judges(
            by=reader(request), evidence=evidence, asked=AssessmentRequest(), patient=False
        )
        context |= {"left_out": evidence.left_out}
    running = list_running(study, judges)
    started = {judge_run.judge_id for judge_run in running}
    judges = [one for one in judges if one.judge.pk not in started]
    unseen |= {str(one.judge) for one in running}
    matrix = build_matrix(study.criteria.all(), run, judges, without=unseen)
    context |= {"waiting_judges": waiting, "running": running, **_context(study, run, raters, judges, matrix)}
    return render(request, "judging/results.html", context)


def _is_refreshed(request: HttpRequest, study: Study) -> bool:
    """Whether a worker computes it again by itself, and the page need not.

    While a judge is at work every visit would find other judgments, and compute everything anew; while a worker is, the
    same twice.
    """
    if WHOLE in request.GET:
        return False
    return is_refreshed(study) or is_computing(study) or study.judge_runs.ordinary().running().exists()


def _load_run(request: HttpRequest, study: Study) -> AgreementRun | None:
    """The agreement computed last. A study's first is waited for where a worker is at it: it comes before judges."""
    found = later.find_stored_run(study, JudgedOptions())
    if found is None and is_computing(study):
        found, _raters = _compute(request, study, StudyRatings.read(study))
    return found


def _compute(
    request: HttpRequest, study: Study, ratings: StudyRatings
) -> tuple[AgreementRun | None, StudyRaters | None]:
    if ratings.is_empty:
        return None, None
    run = agreement_service.load_or_compute(by=reader(request), study=study, options=JudgedOptions(), ratings=ratings)
    return run, StudyRaters.from_ratings(ratings)


def list_waiting(study: Study, judges: Iterable[StoredAssessment]) -> list[Judge]:
    """Judges with a run on the study that has ended, who are not among those computed."""
    ended = study.judge_runs.ordinary().exclude(pk__in=study.judge_runs.running())
    there = Judge.objects.filter(runs__in=ended).exclude(pk__in={one.judge.pk for one in judges})
    return list(there.distinct().order_by("name", "version"))


def _context(
    study: Study,
    run: AgreementRun | None,
    raters: StudyRaters | None,
    judges: Sequence[StoredAssessment],
    matrix: ResultMatrix,
) -> dict[str, object]:
    kept = agreement_service.load_document(run)["criteria"] if run else {}
    documents = {row.key: kept[row.key] for row in matrix.rows if row.people and kept}
    names = {row.key: row.name for row in matrix.rows if row.key in documents}
    newest = [one.calibration for one in judges]
    return {
        "run": run,
        "matrix": matrix,
        "note": _(NOTE_WITH_JUDGES if matrix.judges else NOTE),
        "columns": [_column(study, matrix, name) for name in matrix.judges],
        "rows": [_row(study, row, matrix.judges) for row in matrix.rows],
        "lead": _lead(matrix, names, documents, raters) if raters else "",
        "next": choose_next_step(study, matrix) if matrix.rows else None,
        "forest": draw_forest(matrix, raters) if raters else "",
        "simulated": raters.simulated if raters else [],
        "warnings": agreement_rows.list_warnings(names, documents),
        "changes": [change["sentence"] for one in judges[:1] for change in one.rules_on_record()["changes"]],
        "interval": _name_interval(run) if run else "",
        "computed_at": max([one.created_at for one in [run, *newest] if one], default=None),
        "downloads": [(f.upper(), reverse("agreement_download", args=[study.slug, f])) for f in DOWNLOADS],
        "judge_downloads": list_downloads(study),
    }


def _name_interval(run: AgreementRun) -> str:
    return _("{percent} % interval").format(percent=f"{100 * run.parameters['confidence']:g}")


def _column(study: Study, matrix: ResultMatrix, judge: str) -> tuple[str, str, str]:
    """A judge, what it is, and the address of its page where it has one."""
    cells = [cell for _row, cell in matrix.list_cells() if cell.judge == judge]
    pk = next((cell.judge_id for cell in cells if cell.judge_id), None)
    return judge, cells[0].kind, reverse("judge_verdict", args=[study.slug, pk]) if pk else ""


def _lead(
    matrix: ResultMatrix,
    names: Mapping[str, str],
    documents: Mapping[str, CriterionAgreementDocument],
    raters: StudyRaters,
) -> str:
    who, simulated = raters.count_raters()
    people = wording.summarise_people(names, documents, n_raters=who, simulated=simulated)
    return f"{people} {wording.summarise_decisions(matrix.count_decisions())}".strip()


def _row(study: Study, row: ResultRow, judges: Sequence[str]) -> dict[str, object]:
    items = build_items_address(study, row.key)
    return {
        "row": row,
        "people_href": items(people="several"),
        "disagree_href": items(people="disagree"),
        "cells": [(name, _cell(study, row, one) if one else None) for name, one in zip(judges, row.cells, strict=True)],
    }


def _cell(study: Study, row: ResultRow, cell: ResultCell) -> dict[str, object]:
    items, of_run = build_items_address(study, row.key), name_run(cell.judge, cell.run)
    href = reverse("criterion_verdict", args=[study.slug, cell.judge_id, row.key]) if cell.decision else ""
    return {
        "cell": cell,
        "href": href,
        "scored_href": items(outcome="scored", **of_run),
        "differs_href": items(outcome="differs", **of_run),
    }


def choose_next_step(study: Study, matrix: ResultMatrix) -> tuple[str, str]:
    """The button of the page: what the best verdict allows to do now."""
    cells = [(row, cell) for row, cell in matrix.list_cells() if cell.decision]
    if not cells:
        return _("Run a judge"), reverse("run_create", args=[study.slug])
    row, cell = max(cells, key=lambda found: ORDER.index(found[1].decision or ORDER[0]))
    return find_next_step(study, row.key, cell.judge_id or 0, str(cell.decision))


def find_next_step(study: Study, key: str, judge: int, decision: str) -> tuple[str, str]:
    """What one does with a judge on a criterion by its verdict, and where."""
    page = [study.slug, judge]
    if decision == "replace":
        return _(ISSUE), reverse("criterion_verdict", args=[*page, key]) + "#certificate"
    if decision == "assist and escalate":
        return _("Escalate items to people"), reverse("judge_verdict", args=page) + "#escalate"
    if decision == "not enough evidence":
        return _("Plan more labels"), reverse("judge_plan", args=page)
    return _("Read where it errs"), reverse("judge_improve", args=page)


def build_redirect(name: str) -> Callable[..., HttpResponseBase]:
    """What an address of an earlier version answers: the page that is there instead, with the same query."""

    @researcher_required
    @require_safe
    def moved(request: HttpRequest, **kwargs: object) -> HttpResponse:
        query = request.GET.urlencode()
        return redirect(reverse(name, kwargs=kwargs) + (f"?{query}" if query else ""), permanent=True)

    return moved
