"""Candidates for a benchmark to be, material that models make, and the conflicts that people review."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _, gettext_noop
from django.views.decorators.http import require_POST, require_safe

from annotation.corpus.models import Profile
from core.accounts.access import get_account, researcher_required
from core.accounts.permissions import filter_visible
from core.messages import show_errors
from judging.judges.queries import workers
from judging.runs.forms import ResumeForm
from simulation.agents.prompts.generation import LEVELS
from simulation.generation import queries
from simulation.generation.forms import (
    CandidateFileForm,
    CandidateRunForm,
    GenerationForm,
    PairsForm,
    ReviewForm,
    SeedRunForm,
)
from simulation.generation.models import Candidate, CandidateRun, Conflict, ConflictReview, Making
from simulation.generation.services import candidates, generation

PER_PAGE = 50
ASKED = {
    "source": gettext_noop("Source"),
    "domains": gettext_noop("Domains"),
    "demographics": gettext_noop("Demographics"),
    "traits": gettext_noop("Traits"),
    "task": gettext_noop("Task"),
    "topics": gettext_noop("Topics"),
    "question": gettext_noop("Question"),
    "kind": gettext_noop("Kind of question"),
    "levels": gettext_noop("Levels"),
    "n": gettext_noop("Number"),
}
"""What of a generation's request its page names, and how."""


@researcher_required
@require_safe
def candidate_list(request: HttpRequest) -> HttpResponse:
    """All runs, all candidates by who wrote them, and where to go on."""
    page = Paginator(filter_visible(request.user, queries.runs()), PER_PAGE).get_page(request.GET.get("page"))
    running = any(vars(run)["n_unfinished"] for run in page)
    stock = [(who, kind, list(levels.values())) for who, kind, levels in queries.stock()]
    context = {
        "page": page,
        "needs_worker": running and not workers.alive().exists(),
        "levels": LEVELS,
        "stock": stock,
    }
    return render(request, "simulation/candidate_list.html", context)


@researcher_required
def candidate_create(request: HttpRequest) -> HttpResponse:
    """A new run."""
    form = CandidateRunForm(request.POST or None, request.FILES or None)
    if form.is_valid() and (run := form.begin(get_account(request))):
        return redirect("candidate_run", pk=run.pk)
    context = {"form": form, "n_profiles": Profile.objects.count()}
    return render(request, "simulation/candidate_create.html", context)


@researcher_required
def candidate_seeds(request: HttpRequest) -> HttpResponse:
    """A new run from seeds, or what it would take."""
    form = SeedRunForm(request.POST or None, request.FILES or None)
    estimate = None
    if form.is_valid():
        if "estimate" in request.POST:
            estimate = form.estimate(get_account(request))
        elif run := form.begin(get_account(request)):
            return redirect("candidate_run", pk=run.pk)
    return render(request, "simulation/candidate_seeds.html", {"form": form, "estimate": estimate})


@researcher_required
def candidate_import(request: HttpRequest) -> HttpResponse:
    """Candidates from a file."""
    form = CandidateFileForm(request.POST or None, request.FILES or None)
    if form.is_valid() and (outcome := form.load(get_account(request))):
        new, known = outcome.created["candidates"], outcome.unchanged["candidates"]
        said = _("{new:,} new candidates; {known:,} were there already.")
        messages.success(request, said.format(new=new, known=known))
        return redirect("candidate_list")
    return render(request, "simulation/candidate_import.html", {"form": form})


@researcher_required
@require_safe
def candidate_run(request: HttpRequest, pk: int) -> HttpResponse:
    """One run: how far it is, what came back by level, what failed and why, and what comes next."""
    run = find_run(pk)
    ids = queries.list_left(run)
    page = Paginator(ids, PER_PAGE).get_page(request.GET.get("page"))
    texts = Candidate.objects.select_related("profile").in_bulk(list(page))
    context = {
        **build_progress_context(run, queries.progress(run)),
        "page": page,
        "rows": [texts[key] for key in page if key in texts],
        "resume": ResumeForm(initial={"budget_usd": run.budget_usd}),
    }
    return render(request, "simulation/candidate_run.html", context)


@researcher_required
@require_safe
def candidate_progress(request: HttpRequest, pk: int) -> HttpResponse:
    """The part of the run's page that moves. When it is over, the whole page is loaded again."""
    run = find_run(pk)
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect("candidate_run", pk=pk)
    progress = queries.progress(run)
    if not progress.is_running:
        return HttpResponse(headers={"HX-Refresh": "true"})
    return render(request, "simulation/_candidate_progress.html", build_progress_context(run, progress))


@researcher_required
@require_POST
def candidate_stop(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask for no more; what came is kept."""
    left = candidates.stop(by=get_account(request), run=find_run(pk))
    said = _("Stopped; {left:,} questions were not begun. What came is kept.")
    messages.success(request, said.format(left=left))
    return redirect("candidate_run", pk=pk)


@researcher_required
@require_POST
def candidate_again(request: HttpRequest, pk: int) -> HttpResponse:
    """Go on, and try again what failed."""
    form = ResumeForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Budget: {problem}").format(problem=form.errors["budget_usd"][0]))
        return redirect("candidate_run", pk=pk)
    with show_errors(request):
        n = candidates.resume(by=get_account(request), run=find_run(pk), budget_usd=form.cleaned_data["budget_usd"])
        said = _("{n:,} questions are tried again. Levels that came are not asked for twice.")
        messages.success(request, said.format(n=n))
    return redirect("candidate_run", pk=pk)


@researcher_required
def candidate_pairs(request: HttpRequest) -> HttpResponse:
    """Pairs by level, of one run or of all candidates, and what was left out."""
    wanted = request.GET.get("run", "")
    named = wanted.isdecimal() and len(wanted) < 10
    run = get_object_or_404(filter_visible(request.user, queries.runs()), pk=int(wanted)) if named else None
    form = PairsForm(request.POST or None, run=run)
    made = form.make(get_account(request)) if form.is_valid() else None
    ids = queries.list_left(run) if run else list(Candidate.objects.order_by("pk").values_list("pk", flat=True))
    context = {
        "run": run,
        "form": form,
        "levels": queries.group_by_level(ids),
        "n_candidates": len(ids),
        "made": made,
        "made_levels": sorted(made["levels"].items()) if made else [],
        "left_out": [(reason, n) for reason, n in made["left_out"].items() if n] if made else [],
    }
    return render(request, "simulation/candidate_pairs.html", context)


def find_run(pk: int) -> CandidateRun:
    run: CandidateRun = get_object_or_404(queries.runs(), pk=pk)
    return run


def build_progress_context(run: CandidateRun, progress: queries.CandidateProgress) -> dict[str, object]:
    """What changes while a run is on."""
    ids = queries.list_left(run)
    return {
        "run": run,
        "progress": progress,
        "levels": [(level, n) for level, n in queries.group_by_level(ids).items() if level in run.levels],
        "n_candidates": len(ids),
        "stages": queries.report(run),
        "unfit": queries.unfit(run) if run.plan else {},
        "failures": queries.failures(run),
        "needs_worker": progress.is_running and not workers.alive().exists(),
    }


@researcher_required
def generation_list(request: HttpRequest) -> HttpResponse:
    """What was ordered, and a new order."""
    form = GenerationForm(request.POST or None)
    if form.is_valid() and (order := form.order(get_account(request))):
        return redirect("making_detail", pk=order.pk)
    page = Paginator(filter_visible(request.user, queries.orders()), PER_PAGE).get_page(request.GET.get("page"))
    waits = any(order.state == "running" for order in page) and not workers.alive().exists()
    context = {
        "form": form,
        "page": page,
        "needs_worker": waits,
        "undecided": queries.count_undecided(get_account(request)),
    }
    return render(request, "simulation/making_list.html", context)


@researcher_required
def generation_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One generation: what was asked for and made, and every reply with the field that did not fit."""
    order = get_object_or_404(Making.objects.select_related("agent", "profile"), pk=pk)
    given = {name: order.asked.get(name) for name in ASKED}
    facts = [
        (_("Model"), str(order.agent)),
        *((_(ASKED[name]), _write_value(value)) for name, value in given.items() if value),
    ]
    return render(request, "simulation/making_detail.html", {"order": order, "facts": facts})


def _write_value(value: object) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{name}: {part}" for name, part in value.items())
    return ", ".join(str(part) for part in value) if isinstance(value, list) else str(value)


@researcher_required
@require_POST
def generation_retry(request: HttpRequest, pk: int) -> HttpResponse:
    """Try an order that failed once more."""
    with show_errors(request):
        generation.retry(by=get_account(request), making=get_object_or_404(Making, pk=pk))
    return redirect("making_detail", pk=pk)


@researcher_required
def conflict_list(request: HttpRequest) -> HttpResponse:
    """Conflicts that a model found, those first that nobody has decided."""
    rows = filter_visible(request.user, queries.conflicts()).order_by(
        F("decision").asc(nulls_first=True), "profile", "pk"
    )
    context = {
        "page": Paginator(rows, PER_PAGE).get_page(request.GET.get("page")),
        "decisions": ConflictReview.Decision.choices,
        "undecided": queries.count_undecided(get_account(request)),
    }
    return render(request, "simulation/conflict_list.html", context)


@researcher_required
@require_POST
def conflict_decide(request: HttpRequest, pk: int) -> HttpResponse:
    """Keep what a person decided."""
    conflict, form = get_object_or_404(Conflict, pk=pk), ReviewForm(request.POST)
    if form.is_valid():
        given = form.cleaned_data
        generation.decide(by=get_account(request), conflict=conflict, decision=given["decision"], note=given["note"])
    else:
        messages.error(request, " ".join(str(error) for errors in form.errors.values() for error in errors))
    return redirect("conflict_list")
