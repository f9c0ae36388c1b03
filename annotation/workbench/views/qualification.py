"""What an annotator sees before the work: the explained answer to a training item, and how the qualification went."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.quality.queries import gold_questions as queries
from annotation.quality.services import qualification as gate
from annotation.studies.models.assignments import Assignment
from annotation.workbench.queries import work
from annotation.workbench.views.work import item_context
from core.accounts.access import get_account, require_sign_in


@require_sign_in
def show_training_answer(request: HttpRequest, pk: int) -> HttpResponse:
    """The right answer to a training item that I have answered, and why it is right."""
    mine = work.list_mine(get_account(request)).filter(
        purpose=Assignment.Purpose.TRAINING, state=Assignment.State.SUBMITTED
    )
    slot = get_object_or_404(mine, pk=pk)
    (found,) = queries.list_marked_items(mine.filter(pk=pk))
    context = {**item_context(slot, get_account(request)), "found": found, "where": queries.place(slot)}
    return render(request, "annotation/training_answer.html", context)


@require_sign_in
def qualification(request: HttpRequest, slug: str) -> HttpResponse:
    """How my qualification went, with the right answers; before its end, to the next item."""
    user = get_account(request)
    study = get_object_or_404(user.studies, slug=slug)
    if study.pass_mark is None:
        raise Http404
    result = gate.conclude(by=user, study=study)
    if result is None:
        return redirect("next_item", slug=slug)
    items = queries.load_round(user, study, queries.QUALIFICATION, result.round)
    return render(request, "annotation/qualification.html", {"study": study, "result": result, "items": items})
