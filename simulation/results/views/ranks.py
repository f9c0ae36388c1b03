"""Whether ranks of an experiment depend on the judge or the user agent."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from core.accounts.access import get_account, researcher_required
from core.accounts.permissions import filter_visible
from core.errors import InputError
from simulation.experiments.models.experiments import Experiment
from simulation.results.queries.judgments import list_experiment_judges
from simulation.results.services import results
from simulation.results.services.data import Filters
from simulation.results.services.ranks import ranks_on_request
from simulation.results.views.results import figure

MOST_OFFERED = 50


@researcher_required
@require_safe
def experiment_ranks(request: HttpRequest, pk: int) -> HttpResponse:
    """Changes of rank between two judges of an experiment, or between two experiments."""
    experiment, query = get_object_or_404(Experiment, pk=pk), request.GET
    others = filter_visible(get_account(request), Experiment.objects.exclude(pk=pk)).order_by("-pk")
    against = query.get("against", "")
    second = get_object_or_404(others, pk=against) if against.isascii() and against.isdigit() else experiment
    context: dict[str, Any] = {
        "experiment": experiment,
        "second": second,
        "others": others[:MOST_OFFERED],
        "judges": [judge for judge, _ in list_experiment_judges(experiment)],
        "rivals": [judge for judge, _ in list_experiment_judges(second)],
        "judge": query.get("judge", ""),
        "against_judge": query.get("against_judge", ""),
    }
    try:
        first = experiment, results.judge_called(list_experiment_judges(experiment), context["judge"])
        rival = second, results.judge_called(list_experiment_judges(second), context["against_judge"])
        found = ranks_on_request(first, rival, Filters.parse(query)) if "against" in query else None
    except InputError as error:
        return render(request, "simulation/ranks.html", {**context, "error": error}, status=400)
    return render(request, "simulation/ranks.html", {**context, "found": found, "tables": tables(found)})


def tables(found: dict[str, Any] | None) -> list[dict[str, Any]]:
    return [
        {
            **table,
            "rows": [{**row, "figures": [figure(row, at) for at in table["columns"]]} for row in table["rows"]],
        }
        for table in (found["tables"].values() if found else ())
    ]
