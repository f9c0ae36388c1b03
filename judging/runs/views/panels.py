"""Making a panel out of a study's runs."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.studies.models.studies import Study
from annotation.studies.steps import study_steps
from core.accounts.access import get_account, researcher_required
from judging.judges.models import PANEL
from judging.runs.forms import PanelForm
from judging.runs.queries import runs as queries


@researcher_required
def panel_create(request: HttpRequest, slug: str) -> HttpResponse:
    """The panels of a study, and a form that makes another one of its finished runs."""
    study = get_object_or_404(Study, slug=slug)
    runs = queries.combinable(study)
    form = PanelForm(request.POST or None, runs=runs)
    if form.is_valid() and (run := form.save(get_account(request))):
        return redirect("run_detail", pk=run.pk)
    context = {
        "study": study,
        "form": form,
        "there_are_runs": runs.exists(),
        "runs": queries.list_runs(study.judge_runs.filter(judge__provider=PANEL)),
        "steps": study_steps(study, "judges"),
    }
    return render(request, "judging/panel_create.html", context)
