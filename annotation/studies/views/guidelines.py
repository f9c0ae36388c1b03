"""The page of a criterion's guideline: its text to be edited, and its versions."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.studies.guideline_forms import GuidelineForm
from annotation.studies.models.studies import Criterion
from annotation.studies.queries.guidelines import history
from annotation.studies.steps import study_steps
from core.accounts.access import get_account, researcher_required


@researcher_required
def guideline(request: HttpRequest, slug: str, key: str) -> HttpResponse:
    """Edit what is asked and how it is to be judged; every edit is a version."""
    criterion = get_object_or_404(Criterion.objects.select_related("study__created_by"), study__slug=slug, key=key)
    form = GuidelineForm(request.POST or None, criterion=criterion)
    if form.is_valid() and (made := form.save(get_account(request))):
        messages.success(request, f"{criterion.name} has version {made.version} now. Labels keep theirs.")
        return redirect("guideline", slug=slug, key=key)
    study = criterion.study
    context = {"study": study, "steps": study_steps(study), "criterion": criterion, "form": form}
    return render(request, "annotation/guideline.html", {**context, "versions": history(criterion)})
