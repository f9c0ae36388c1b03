"""What a page on a judge says before it reads anything: that there is nothing, or more than somebody waits for."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.studies.models.studies import Study
from annotation.studies.steps import study_steps
from annotation.studies.views.large import WHOLE, asks_first
from core import row_counts
from judging.judges.models import Judge
from judging.runs.models.runs import JudgeRun

View = Callable[..., HttpResponse]


def reads_judge(title: str, command: str) -> Callable[[View], View]:
    """Like `annotation.studies.views.large.reads_all`, for a page on one judge, whom the title names.

    Of a judge that was never run on the study, the page leads to a run.
    """

    def around(view: View) -> View:
        @wraps(view)
        def shown(request: HttpRequest, slug: str, pk: int, **kwargs: object) -> HttpResponse:
            study, judge = get_object_or_404(Study, slug=slug), get_object_or_404(Judge, pk=pk)
            if request.method == "GET" and not study.judge_runs.filter(judge=judge).exists():
                context = {
                    "study": study,
                    "judge": judge,
                    "steps": study_steps(study, "judges"),
                    "title": _("{judge} has not rated this study").format(judge=judge),
                    "run": f"{reverse('run_create', args=[slug])}?judge={pk}",
                }
                return render(request, "judging/not_judged.html", context)
            asked = asks_first(request, study, _(title).format(judge=judge), f'{command} --judge "{judge}"', "results")
            return asked or view(request, slug, pk, **kwargs)

        return shown

    return around


def build_wait_context(request: HttpRequest, run: JudgeRun, command: str) -> dict[str, object] | None:
    """What a page on a run says instead of reading more judgments than somebody waits for; None where it may."""
    if WHOLE in request.GET or not run.judgments.order_by("pk")[row_counts.LARGE : row_counts.LARGE + 1].exists():
        return None
    query = request.GET.copy()
    query[WHOLE] = "1"
    return {"most": row_counts.LARGE, "command": f"manage.py {command}", "here": f"?{query.urlencode()}"}
