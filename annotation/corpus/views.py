"""The corpus in the browser: what there is, and one record of it."""

from __future__ import annotations

from dataclasses import replace

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from annotation.corpus import queries
from annotation.corpus.models import Dialogue, Profile, ResponsePair, Task
from annotation.studies.queries.context import Subject, build_panels, facts, subject_of_scenario
from core.accounts.access import researcher_required
from core.accounts.permissions import filter_visible


@researcher_required
def dataset_list(request: HttpRequest) -> HttpResponse:
    """How much of everything there is, and a list of one kind."""
    stocks = queries.stocks()
    asked = request.GET.get("kind", "")
    filled = [stock.kind.key for stock in stocks if stock.total]
    kind = queries.KINDS.get(asked) or queries.KINDS[choose_kind(filled)]
    stock = next(stock for stock in stocks if stock.kind is kind)
    search, source = request.GET.get("q", "").strip(), request.GET.get("source", "")
    context = {
        "stocks": stocks,
        "stock": stock,
        "kind": kind,
        "is_empty": not filled,
        "q": search,
        "source": source,
        "page": queries.list_records(kind, search=search, source=source, page=request.GET.get("page", "1")),
    }
    return render(request, "annotation/material.html", context)


def choose_kind(filled: list[str]) -> str:
    """What is rated comes first; what it refers to otherwise."""
    return next((key for key in ("dialogues", "pairs", *queries.KINDS) if key in filled), "dialogues")


@researcher_required
def profile_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Who a simulated user is."""
    profile = get_object_or_404(Profile, pk=pk)
    context = {
        "profile": profile,
        "panels": [replace(panel, is_open=True) for panel in build_panels(Subject(profile, None, {}))],
        "interests": [(domain, bool(cares)) for domain, cares in profile.interests.items()],
        "unused": list(facts(profile.extra)),
        "scenarios": profile.scenarios.select_related("task").order_by("pk")[:100],
        "n_scenarios": profile.scenarios.count(),
        "pairs": profile.pairs.order_by("pk")[:100],
        "n_pairs": profile.pairs.count(),
    }
    return render(request, "annotation/profile_detail.html", context)


@researcher_required
def task_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """What a simulated user wants."""
    task = get_object_or_404(Task, pk=pk)
    context = {
        "task": task,
        "unused": list(facts(task.extra)),
        "scenarios": task.scenarios.select_related("profile").order_by("pk")[:100],
        "n_scenarios": task.scenarios.count(),
    }
    return render(request, "annotation/task_detail.html", context)


@researcher_required
def dialogue_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """A conversation with all that is known of its user, task and assistant."""
    dialogue = get_object_or_404(Dialogue.objects.select_related("scenario__profile", "scenario__task"), pk=pk)
    context = {
        "dialogue": dialogue,
        "panels": build_panels(subject_of_scenario(dialogue.scenario)),
        "unused": list(facts(dialogue.extra)),
        "items": filter_visible(request.user, dialogue.items.select_related("study")).order_by("study__name"),
    }
    return render(request, "annotation/dialogue_detail.html", context)


@researcher_required
def pair_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """A question with its responses as the source numbers them, and the source's own label."""
    pair = get_object_or_404(ResponsePair.objects.select_related("profile"), pk=pk)
    context = {
        "pair": pair,
        "panels": build_panels(Subject(pair.profile, None, {})),
        "unused": list(facts(pair.extra)),
        "items": filter_visible(request.user, pair.items.select_related("study")).order_by("study__name"),
    }
    return render(request, "annotation/pair_detail.html", context)
