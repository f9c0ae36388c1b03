"""The filter rounds of a study of pairs, and a new one."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from annotation.benchmarks.forms import FilterForm
from annotation.benchmarks.models import Benchmark, FilterOutcome
from annotation.benchmarks.services import grading
from annotation.benchmarks.views.benchmarks import JSON
from annotation.studies.models.studies import Study
from annotation.studies.steps import study_steps
from core.accounts.access import get_account, researcher_required
from core.accounts.models.users import User
from core.downloads import attach_file
from core.errors import InputError


@researcher_required
def filter_rounds(request: HttpRequest, slug: str) -> HttpResponse:
    """What each round did with the items, and a form for the next."""
    study = get_object_or_404(Study, slug=slug)
    if study.kind != Study.Kind.PAIR:
        raise Http404("only studies of response pairs are filtered")
    form = FilterForm(request.POST or None)
    if form.is_valid() and (made := form.run(get_account(request), study)):
        counts = Counter(made.outcomes.values_list("outcome", flat=True))
        messages.success(request, ", ".join(f"{n} {outcome}" for outcome, n in counts.items()).capitalize() + ".")
        return redirect("filter_rounds", slug=slug)
    rounds = list(study.filter_rounds.select_related("follow_up", "created_by").order_by("number"))
    numbers = FilterOutcome.objects.filter(round__in=rounds).values_list("round", "outcome").annotate(n=Count("pk"))
    counted = {(pk, outcome): n for pk, outcome, n in numbers.order_by()}
    context = {
        "study": study,
        "steps": study_steps(study, "gold"),
        "form": form,
        "outcomes": FilterOutcome.Outcome.values,
        "rounds": [(one, [counted.get((one.pk, name), 0) for name in FilterOutcome.Outcome.values]) for one in rounds],
        "simulated": study.annotators.filter(kind=User.Kind.SIMULATED).count(),
        "undecided": study.items.filter(filter_outcomes=None).count(),
        "benchmarks": Benchmark.objects.filter(study=study).order_by("created_at", "pk"),
        "before": study.follows.select_related("study").first(),
    }
    return render(request, "annotation/filter_rounds.html", context)


FIGURES = {
    "no_difference": "Preferences whose two grades are equal",
    "same_sign": "Of the others: the chosen response has the higher grade",
    "opposite": "Preferences whose chosen response has the lower grade",
    "both_high": "Preferences between two responses above the middle of the scale",
    "both_low": "Preferences between two responses below the middle of the scale",
    "difference": "Mean difference of grades in favour of the chosen response",
    "correlation": "Rank correlation of choice and difference of grades",
}


@researcher_required
def grades_page(request: HttpRequest, slug: str) -> HttpResponse:
    """What choices hide that grades of the same people show, or the button that makes the study of grades."""
    study = get_object_or_404(Study, slug=slug, kind=Study.Kind.PAIR)
    if request.method == "POST":
        try:
            made = grading.make_study(by=get_account(request), study=study)
        except InputError as error:
            messages.error(request, error.message)
            return redirect("graded", slug=slug)
        messages.success(request, f"{made} is a draft: its annotators see it once it is open.")
        return redirect("study_detail", slug=made.slug)
    simulated = study.annotators.filter(kind=User.Kind.SIMULATED).count()
    context: dict[str, Any] = {"study": study, "steps": study_steps(study, "gold"), "simulated": simulated}
    if there := grading.list_graded_studies(study):
        try:
            found = grading.compare(study=study, graded=there[0])
        except InputError as error:
            messages.error(request, error.message)
        else:
            context |= {"found": found, "figures": [(words, found[name]) for name, words in FIGURES.items()]}
            context["downloads"] = [("JSON", reverse("graded_download", args=[slug]))]
        context["graded"] = there[0]
    return render(request, "annotation/graded.html", context)


@researcher_required
@require_safe
def grades_download(request: HttpRequest, slug: str) -> HttpResponse:  # noqa: ARG001
    """What the page shows, with the number of draws and the seed."""
    study = get_object_or_404(Study, slug=slug, kind=Study.Kind.PAIR)
    there = grading.list_graded_studies(study)
    if not there:
        raise Http404("its responses are not graded yet")
    try:
        found = grading.compare(study=study, graded=there[0])
    except InputError as error:
        raise Http404(error.message) from error
    text = json.dumps(found, ensure_ascii=False, indent=1, allow_nan=False)
    return attach_file(text, name=f"{slug}-graded.json", content_type=JSON)
