"""Making material, and the conflicts that people review."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from core.accounts.access import get_account, researcher_required
from core.accounts.permissions import filter_visible
from core.errors import InputError
from judging.judges.queries import workers
from simulation.generation.forms import GenerationForm, ReviewForm
from simulation.generation.models.orders import Conflict, ConflictReview, Making
from simulation.generation.queries import orders as queries
from simulation.generation.services import generation

PER_PAGE = 50


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
    """One order: what was made, and every reply with the field that did not fit."""
    order = get_object_or_404(Making.objects.select_related("agent", "profile"), pk=pk)
    given = {
        name: value for name, value in order.asked.items() if name != "prompts" and value not in (None, "", [], {})
    }
    asked = [(name.capitalize(), value) for name, value in given.items()]
    facts = [("What", order.get_kind_display()), ("Who", f"{order.agent.provider} {order.agent.model}"), *asked]
    return render(request, "simulation/making_detail.html", {"order": order, "facts": facts})


@researcher_required
@require_POST
def generation_retry(request: HttpRequest, pk: int) -> HttpResponse:
    """Try an order that failed once more."""
    try:
        generation.retry(by=get_account(request), making=get_object_or_404(Making, pk=pk))
    except InputError as error:
        messages.error(request, error.message)
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
