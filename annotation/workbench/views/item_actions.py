"""What an annotator does with an item beside answering, the list of their items, and threads for researchers."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Study
from annotation.studies.queries.messages import list_newest, list_waiting
from annotation.studies.steps import study_steps
from annotation.workbench.queries import my_items as queries, work
from annotation.workbench.services import annotations as labels, item_messages
from core.accounts.access import get_account, require_sign_in, researcher_required
from core.accounts.models.users import User
from core.errors import InputError
from core.messages import show_errors

PER_PAGE = 200
QUICK = "X-Quick"
"""Header of a script that stays on its page: it is answered without one."""

Act = Callable[[HttpRequest, User, Assignment], str]


def act_on_mine(act: Act) -> Callable[..., HttpResponseBase]:
    """Let `act` do something with an item of mine, and go back to it, saying what it returned."""

    @require_sign_in
    @require_POST
    def acting(request: HttpRequest, pk: int) -> HttpResponse:
        slot = get_object_or_404(work.list_mine(get_account(request)), pk=pk)
        status, text = 200, ""
        try:
            text = act(request, get_account(request), slot)
        except InputError as error:
            status, text = 422, error.message
        if request.headers.get(QUICK):
            return HttpResponse(text, status=status, content_type="text/plain; charset=utf-8")
        (messages.success if status == 200 else messages.error)(request, text)
        return redirect("assignment", pk=pk)

    return acting


def is_wanted(request: HttpRequest) -> bool:
    return request.POST.get("off") != "1"


def set_flag(request: HttpRequest, user: User, slot: Assignment) -> str:
    """Flag the item for the researchers, or take that back."""
    item_messages.mark(by=user, study=slot.study, item=slot.item, flagged=is_wanted(request))
    return _("Flagged for the researcher.") if is_wanted(request) else _("No longer flagged.")


def set_later(request: HttpRequest, user: User, slot: Assignment) -> str:
    """Mark the item for later, or take that back."""
    item_messages.mark(by=user, study=slot.study, item=slot.item, later=is_wanted(request))
    return _("Marked for later: find it under My items.") if is_wanted(request) else _("No longer marked for later.")


def send_message(request: HttpRequest, user: User, slot: Assignment) -> str:
    """Write to the researchers about the item."""
    text = request.POST.get("text", "")
    item_messages.write(by=user, study=slot.study, item=slot.item, annotator=user, text=text)
    return _("Sent to the researcher.")


assignment_flag = act_on_mine(set_flag)
assignment_later = act_on_mine(set_later)
assignment_message = act_on_mine(send_message)


@require_sign_in
@require_POST
def assignment_decline(request: HttpRequest, pk: int) -> HttpResponse:
    """Say that nothing of the item can be judged, with one reason, and go to the next."""
    slot = get_object_or_404(work.list_mine(get_account(request)), pk=pk)
    try:
        labels.decline(by=get_account(request), assignment=slot, reason=request.POST.get("reason", ""))
    except InputError as error:
        messages.error(request, error.message)
        return redirect("assignment", pk=pk)
    return redirect("next_item", slug=slot.study.slug)


@require_sign_in
@require_safe
def my_items(request: HttpRequest, slug: str) -> HttpResponse:
    """My items of a study by state and text, a jump to one by its number, and how I have worked."""
    user = get_account(request)
    study = get_object_or_404(user.studies, slug=slug)
    state, query, number = (request.GET.get(name, "") for name in ("state", "q", "number"))
    if number.isascii() and number.isdecimal() and len(number) < 10:
        if slot := queries.find_by_number(user, study, int(number)):
            return redirect("assignment", pk=slot.pk)
        messages.error(request, _("You have no item %(number)s.") % {"number": number})
    items = queries.load_my_items(user, study, state=state if state in queries.STATES else "", query=query)
    context = {
        "study": study,
        "items": items[:PER_PAGE],
        "total": len(items),
        "states": list(queries.STATES.items()),
        "state": state,
        "query": query,
        "figures": queries.compute_statistics(user, study),
        "progress": work.my_progress(user, study),
    }
    return render(request, "annotation/my_items.html", context)


@researcher_required
@require_safe
def study_messages(request: HttpRequest, slug: str) -> HttpResponse:
    """What annotators ask about items; those that wait for an answer first."""
    study = get_object_or_404(Study, slug=slug)
    waiting = {one.pk for one in list_waiting(study)}
    rows = list_newest(study).select_related("item", "annotator", "author")[:PER_PAGE]
    threads = sorted(rows, key=lambda one: (one.pk not in waiting, -one.pk))
    context = {
        "study": study,
        "steps": study_steps(study, "study_messages"),
        "threads": [(one, one.pk in waiting, one.item.study_id == study.pk) for one in threads],
        "waiting": len(waiting),
    }
    return render(request, "annotation/study_messages.html", context)


@researcher_required
@require_POST
def item_answer(request: HttpRequest, slug: str, position: int) -> HttpResponse:
    """Answer an annotator on an item."""
    study = get_object_or_404(Study, slug=slug)
    item = get_object_or_404(study.items, position=position)
    annotator = get_object_or_404(User, username=request.POST.get("annotator", ""))
    text = request.POST.get("text", "")
    with show_errors(request):
        item_messages.write(by=get_account(request), study=study, item=item, annotator=annotator, text=text)
        messages.success(request, _("{annotator} sees your answer beside the item.").format(annotator=annotator))
    return redirect("item_detail", slug=slug, position=position)
