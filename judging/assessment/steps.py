"""What the line of a study says of its judges, its agreement, its tiers and what its judges are worth."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Count, Exists, OuterRef, Q

from annotation.studies.models.labels import AgreementRun, Annotation
from annotation.studies.models.studies import Assignment, Study
from annotation.studies.steps import Step, link, register
from judging.assessment.models.assessment import CalibrationRun
from judging.runs.models.runs import JudgeRun


@register
def judge_step(study: Study) -> Iterator[Step]:
    """How many judges have rated the study's items, and whether one is at it."""
    running = Count("pk", filter=Q(finished_at__isnull=True, stopped_at__isnull=True))
    runs = study.judge_runs.ordinary().aggregate(judges=Count("judge", distinct=True), running=running)
    count = f"{runs['judges']} ({runs['running']} running)" if runs["running"] else f"{runs['judges']}"
    state = "running" if runs["running"] else "done" if runs["judges"] else "todo"
    here = link("run_create", study.slug)
    action, action_href = ("", "") if runs["judges"] else ("Run", f"{here}#new")
    yield Step("judges", "Judges", count, state, here, action, action_href)


@register
def result_steps(study: Study) -> Iterator[Step]:
    """Whether there is something to read, and whether it has been computed."""
    submitted = Annotation.objects.filter(
        assignment__study=study,
        assignment__state=Assignment.State.SUBMITTED,
        assignment__purpose=Assignment.Purpose.RATING,
    )
    there = submitted.exists()
    computed = AgreementRun.objects.filter(study=study).exists()
    state = "done" if there and computed else "active" if there else "todo"
    yield Step("agreement", "Agreement", "" if there else "no labels yet", state, link("agreement", study.slug))
    yield Step("tiers", "Tiers", "", "done" if there else "todo", link("tiers", study.slug))


@register
def assessment_steps(study: Study) -> Iterator[Step]:
    """Whether there is a judge to be calibrated, and whether it has been."""
    known = Study.objects.filter(pk=study.pk).values_list(
        Exists(JudgeRun.objects.ordinary().filter(study=OuterRef("pk"))),
        Exists(CalibrationRun.objects.filter(study=OuterRef("pk"))),
    )
    judged, computed = known[0]
    state = "done" if judged and computed else "active" if judged else "todo"
    yield Step("calibration", "Calibration", "" if judged else "no judge yet", state, link("calibration", study.slug))
    yield Step("report", "Report", "", "active" if computed else "todo", link("report", study.slug))
