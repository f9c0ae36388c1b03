"""What the line of a study says of its judges, its results and its report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.db.models import Count, Exists, OuterRef, Q
from django.utils.translation import gettext as _

from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import AgreementRun, Annotation
from annotation.studies.models.studies import Study
from annotation.studies.steps import Step, link, register
from judging.assessment.models.assessment import CalibrationRun
from judging.runs.models.runs import JudgeRun


@register
def judge_steps(studies: Sequence[Study]) -> Iterator[tuple[Study, Step]]:
    """How many judges have rated each study's items, and whether one is at it."""
    running = Count("pk", filter=Q(finished_at__isnull=True, stopped_at__isnull=True))
    runs = JudgeRun.objects.ordinary().filter(study__in=studies).order_by()
    rows = runs.values_list("study").annotate(judges=Count("judge", distinct=True), running=running)
    counts = {study: (judges, n) for study, judges, n in rows}
    for study in studies:
        judges, n = counts.get(study.pk, (0, 0))
        here = link("run_create", study.slug)
        count = _("{judges} ({n} running)").format(judges=judges, n=n) if n else f"{judges}"
        state = "running" if n else "done" if judges else "todo"
        action, action_href = ("", "") if judges else (_("Run"), f"{here}#new")
        yield study, Step("judges", _("Judges"), count, state, here, action, action_href)


@register
def result_steps(studies: Sequence[Study]) -> Iterator[tuple[Study, Step]]:
    """Whether results have been computed, of people alone and of judges, and whether a report can be read."""
    labels = Annotation.objects.filter(
        assignment__study=OuterRef("pk"),
        assignment__state=Assignment.State.SUBMITTED,
        assignment__purpose=Assignment.Purpose.RATING,
    )
    rows = Study.objects.filter(pk__in=[study.pk for study in studies]).values_list(
        "pk",
        Exists(labels),
        Exists(JudgeRun.objects.ordinary().filter(study=OuterRef("pk"))),
        Exists(AgreementRun.objects.filter(study=OuterRef("pk"))),
        Exists(CalibrationRun.objects.filter(study=OuterRef("pk"))),
    )
    known = {study: states for study, *states in rows}
    for study in studies:
        is_rated, judged, is_computed, assessed = known[study.pk]
        yield study, build_results_step(study, is_rated, is_computed, judged, assessed)
        state = "done" if assessed else "active" if is_computed else "todo"
        yield (
            study,
            Step("report", _("Report"), "" if is_rated else _("no labels yet"), state, link("report", study.slug)),
        )


def build_results_step(study: Study, is_rated: bool, is_computed: bool, judged: bool, assessed: bool) -> Step:
    here, name = link("results", study.slug), _("Results")
    if not is_rated:
        return Step("results", name, _("no labels yet"), "todo", here)
    if judged and not assessed:
        return Step("results", name, _("judges not assessed"), "active", here, _("Assess"), here)
    if not is_computed:
        return Step("results", name, _("not computed"), "active", here, _("Compute"), here)
    return Step("results", name, _("people and judges") if judged else _("people"), "done", here)
