"""Results that a worker computes once labels or judgments have come, so that who opens a page finds them there.

What is computed so nobody has looked at: the study's rules are not locked by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from time import monotonic

from django.core.cache import cache
from django.db.models import Exists, Max, OuterRef

from annotation.agreement.services import more_ratings, stored_difficulty
from annotation.quality.queries import course, quality
from annotation.stats.by_level import explain_missing
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import AgreementRun, Annotation
from annotation.studies.models.studies import Study
from annotation.studies.queries.studies import is_large
from core.jobs import leases
from core.jobs.waiting import alone
from core.version import code_version
from judging.assessment import charts
from judging.assessment.options import JudgedOptions
from judging.assessment.progress_charts import PLOTS
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import (
    agreement,
    assessment,
    cascades,
    judge_comparison,
    predicted_difficulty,
    progress,
    report,
    results,
    stored_pages,
)
from judging.assessment.services.agreement import StudyRatings
from judging.assessment.services.assessment import Assessment
from judging.assessment.services.study_raters import StudyRaters
from judging.runs.models.runs import JudgeRun

TASK = "judging.refresh_results"
send = partial(leases.send, TASK)

SWEPT = 60
"""Seconds after which workers look for changes again; a change is seen after half of that in the mean."""

MOST = 2
"""Studies in one such round, so that runs of judges do not wait behind many."""

REST = 20
"""Times as long as a study's results took to compute, they are left as they are, while people go on rating."""


@dataclass(frozen=True)
class ChangesSeen:
    """How far changes were read: when a label was last given or changed, the end of the newest run, the newest act.

    `due` are the ids of studies that have changed since their results were computed.
    """

    label: datetime | None = None
    run: datetime | None = None
    act: int = 0
    due: tuple[int, ...] = ()


def send_due() -> int:
    """Tasks for the studies that are due, once in `SWEPT` seconds on the whole site. Returns how many."""
    if not cache.add("results-swept", True, SWEPT):
        return 0
    seen = read_changes(cache.get(make_seen_key()))
    chosen = [pk for pk in seen.due if not cache.get(_rests(pk))][:MOST]
    cache.set(make_seen_key(), replace(seen, due=tuple(pk for pk in seen.due if pk not in chosen)), None)
    send(chosen)
    return len(chosen)


def read_changes(last: ChangesSeen | None) -> ChangesSeen:
    """What has changed since `last`. Where nothing is known of before, each study with a label is due, newest first."""
    label = Annotation.objects.aggregate(last=Max("updated_at"))["last"]
    run = JudgeRun.objects.aggregate(last=Max("finished_at"))["last"]
    acts = stored_pages.select_changing_acts()
    act = acts.order_by("-number").values_list("number", flat=True).first() or 0
    if last is None:
        handed_in = Assignment.objects.filter(study=OuterRef("pk"), state=Assignment.State.SUBMITTED)
        there = Study.objects.filter(Exists(handed_in)).order_by("-pk").values_list("pk", flat=True)
        return ChangesSeen(label, run, act, tuple(there))
    labels = Annotation.objects.filter(**_since("updated_at", last.label)).order_by()
    labelled = labels.values_list("assignment__study", flat=True).distinct()
    runs = JudgeRun.objects.filter(**_since("finished_at", last.run)).order_by()
    judged = list(runs.values_list("study", flat=True).distinct())
    cache.delete_many([_rests(pk) for pk in judged])  # runs end seldom, and who waits for one looks at once
    done_to = {pk for pk in acts.filter(number__gt=last.act).values_list("study_id", flat=True) if pk}
    return ChangesSeen(label, run, act, tuple(dict.fromkeys([*judged, *last.due, *labelled, *done_to])))


def refresh(study_id: int) -> None:
    """What a worker does: compute and keep what is not kept. It may run twice. Where another one is at it, later again.

    Large studies are left to those who ask.
    """
    study = Study.objects.filter(pk=study_id).first()
    if study is None or is_large(study):
        return
    with alone(_name_turn(study_id)) as is_mine:
        if is_mine:
            began = monotonic()
            compute_study(study)
            cache.set(_rests(study_id), True, max(SWEPT, REST * (monotonic() - began)))
        elif seen := cache.get(make_seen_key()):  # the other one may have read before the change
            cache.set(make_seen_key(), replace(seen, due=tuple(dict.fromkeys([*seen.due, study_id]))), None)


def is_computing(study: Study) -> bool:
    """Whether a worker computes its results now. No query."""
    return cache.get(_name_turn(study.pk)) is not None


def compute_study(study: Study) -> None:
    """Agreement, difficulty, what more ratings would tell, calibration and audits of judges, differences, the cascade.

    And the charts of these, which take longer to draw than all else of a page.
    """
    act, ratings = stored_pages.find_newest_act(study), StudyRatings.read(study)
    if ratings.is_empty:
        return
    run = agreement.load_or_compute_unseen(by=None, study=study, options=JudgedOptions(), ratings=ratings)
    fits = stored_difficulty.load_or_fit_all(ratings.criteria, patient=True)
    for one in ratings.criteria:
        if one.table.n_ratings and not explain_missing("tiers", one.table.level):
            more_ratings.compute_criterion(study, one)
    evidence = StudyData.load(study, given=ratings.criteria)
    judges = evidence.load_judges(evidence.judges())
    found = assessment.assess_unseen(judges)
    scored = [one.evidence for one in found if one.has_scores]
    judge_comparison.compare_judges(scored)
    cascades.describe_usual(scored)
    predicted = {one: predicted_difficulty.compute_criterion(study, one) for one in study.criteria.all()}
    if stored_pages.is_refreshed(study):
        for criterion, document in predicted.items():
            stored_pages.store(study, predicted_difficulty.name_page(criterion), document, act=act)
        whole = report.describe_judges(evidence, found, patient=True, ratings=ratings, kept=run)
        stored_pages.store(study, report.PAGE, report.build_page(whole, found), act=act)
    draw_charts(study, run, ratings, found)
    draw_progress(study)
    course.plot_course(quality.load_study(study))
    tiers = [(one.criterion.name, fit.found) for one, fit in zip(ratings.criteria, fits, strict=True)]
    charts.draw_on_page(charts.tier_bars, [(name, fit.expected_counts) for name, fit in tiers if fit])


def draw_charts(study: Study, run: AgreementRun, ratings: StudyRatings, found: Sequence[Assessment]) -> None:
    """Those of the results and of the report, which are kept."""
    started = {str(one.judge) for one in results.list_running(study, found)}
    shown = [one for one in found if str(one.judge) not in started]
    matrix = results.build_matrix(study.criteria.all(), run, shown, without=started)
    results.draw_forest(matrix, StudyRaters.from_ratings(ratings))
    for one in found:
        for calibration in one.calibration.document["criteria"].values():
            report.draw_plots(calibration, charts.draw_on_page)


def draw_progress(study: Study) -> None:
    """The charts of the study's progress, which change with its labels."""
    document = progress.compute_study(study)
    for plot in PLOTS.values():
        if rows := plot.rows(document):
            charts.draw_on_page(plot.spec, rows)


def make_seen_key() -> str:
    """Where `ChangesSeen` is kept. What an earlier version of the code computed is computed again."""
    return f"results-changes-seen-{code_version()}"


def _since(field: str, moment: datetime | None) -> dict[str, object]:
    return {f"{field}__gt": moment} if moment else {f"{field}__isnull": False}


def _rests(study_id: int) -> str:
    return f"results-rest-{study_id}"


def _name_turn(study_id: int) -> str:
    return f"results-{study_id}"
