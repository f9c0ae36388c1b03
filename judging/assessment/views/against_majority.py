"""The queue of items on which a judge contradicts the majority of people."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _, gettext_noop
from django.views.decorators.http import require_safe

from annotation.studies.models.studies import Study
from annotation.studies.steps import study_steps
from annotation.studies.views.large import reads_all
from core.accounts.access import researcher_required
from core.errors import InputError
from judging.assessment.services import rules
from judging.assessment.services.against_majority import contradictions
from judging.assessment.services.items import find_criterion
from judging.assessment.views.verdict import reader

SHOWN = 200


@researcher_required
@require_safe
@reads_all(gettext_noop("A judge against the majority"), "disputes --against-majority", "results")
def contradictions_list(request: HttpRequest, slug: str) -> HttpResponse:
    """Items to be decided, those that a judge is furthest from people on first. What the judge said is not shown."""
    study = get_object_or_404(Study, slug=slug)
    context = {
        "study": study,
        "steps": study_steps(study, "results"),
        "criteria": study.criteria.all(),
        "title": _("Decide"),
    }
    try:
        criterion = find_criterion(study, request.GET.get("criterion", ""))
        judge = request.GET.get("judge", "")
        rules.lock_rules(by=reader(request), study=study)
        found = contradictions(study, criterion, judge=judge) if criterion else []
    except InputError as error:
        return render(request, "judging/against_majority.html", {**context, "error": error}, status=400)
    every = found if not judge or not criterion else contradictions(study, criterion)
    context |= {
        "criterion": criterion,
        "judge": judge,
        "judges": sorted({name for one in every for name in one.judges}),
        "rows": found[:SHOWN],
        "total": len(found),
        "open": sum(not one.decision for one in found),
        "back": request.get_full_path(),
    }
    return render(request, "judging/against_majority.html", context)
