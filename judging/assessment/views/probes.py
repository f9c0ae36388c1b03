"""Probes of a judge: what was altered and asked, and a form that sets more going."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.studies.models.studies import Study
from annotation.studies.steps import study_steps
from core.accounts.access import get_account, researcher_required
from judging.assessment.forms import ProbeForm
from judging.judges.models import Judge
from judging.runs.queries import runs as queries
from judging.runs.views.runs import estimate_facts, is_waiting_for_worker


@researcher_required
def judge_probes(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The judge's probe runs on the study, and a new one: estimated first, or started."""
    study, judge = get_object_or_404(Study, slug=slug), get_object_or_404(Judge, pk=pk)
    form = ProbeForm(request.POST or None, study=study, judge=judge)
    estimate = None
    if form.is_valid():
        if "estimate" in request.POST:
            estimate = form.estimate()
        elif run := form.start(get_account(request)):
            return redirect("run_detail", pk=run.pk)
    there = queries.list_runs(study.judge_runs.probes().filter(judge=judge))
    context = {
        "study": study,
        "judge": judge,
        "form": form,
        "estimate": estimate,
        "estimate_facts": estimate_facts(estimate) if estimate else [],
        "runs": there,
        "n_items": study.items.count(),
        "steps": study_steps(study, "results"),
        **is_waiting_for_worker(there),
    }
    return render(request, "judging/judge_probes.html", context)
