"""The annotator's pages: their studies, the next item, and the page where an item is rated."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from annotation.errors import InputError
from annotation.forms import RatingForm
from annotation.models import Assignment, Study, User
from annotation.queries import rating, work
from annotation.queries.context import panels
from annotation.services import annotations, assignments, drafts

SEEN = "annotation.assignment seen"  # salt of the signature that says who was shown which slot
TAKEN = "This item has meanwhile been given to somebody else."
CLOSED = "This study is closed and takes no more labels."


@login_required
def my_work(request: HttpRequest) -> HttpResponse:
    """The studies that I rate in."""
    return render(request, "annotation/my_work.html", {"studies": work.my_studies(me(request))})


@login_required
def next_item(request: HttpRequest, slug: str) -> HttpResponse:
    """Go to what is to be rated next, or say that there is nothing more."""
    user = me(request)
    study = get_object_or_404(user.studies, slug=slug)
    try:
        slot = assignments.next_for(by=user, study=study)
    except InputError:
        return render(request, "annotation/all_done.html", {"study": study, "closed": True})
    if slot:
        return redirect("assignment", pk=slot.pk)
    context = {"study": study, "progress": work.my_progress(user, study), "last": work.sent(user, study).last()}
    return render(request, "annotation/all_done.html", context)


@login_required
def assignment(request: HttpRequest, pk: int) -> HttpResponse:
    """Rate an item, or look at and change what I said of it."""
    slot, still_mine = slot_for(request, pk)
    data = request.POST if request.method == "POST" else None
    form = rating_form(request, slot, data)
    if problem := not_now(slot, still_mine):
        return page(
            request, slot, form, gone=problem, kept=data is not None and keep_late(request, slot, form, problem)
        )
    if data is None:
        if slot.state == Assignment.State.LEASED:
            assignments.renew(by=me(request), assignment=slot)
        return page(request, slot, form)
    if not form.is_valid():
        return page(request, slot, form)
    return handed_in(request, slot, form)


@login_required
@require_POST
def assignment_skip(request: HttpRequest, pk: int) -> HttpResponse:
    """Put an item off and go to the next."""
    slot = get_object_or_404(work.mine(me(request)), pk=pk)
    try:
        assignments.skip(by=me(request), assignment=slot)
    except InputError as error:
        messages.error(request, error.message)
    return redirect("next_item", slug=slot.study.slug)


def me(request: HttpRequest) -> User:
    if not isinstance(request.user, User):  # every page here asks to sign in
        raise Http404
    return request.user


def slot_for(request: HttpRequest, pk: int) -> tuple[Assignment, bool]:
    """My slot with all that its page shows, and whether it is still mine."""
    if found := work.mine(me(request)).filter(pk=pk).first():
        return found, True
    return lost_slot(request, pk)


def lost_slot(request: HttpRequest, pk: int) -> tuple[Assignment, bool]:
    """A slot that I was shown and have lost: taken again if it is free, or else marked as not mine."""
    user = me(request)
    if shown_to(request) != [pk, user.pk]:
        raise Http404
    lost = get_object_or_404(work.with_subject(Assignment.objects.all()), pk=pk)
    return lost, assignments.claim(user, lost)


def shown_to(request: HttpRequest) -> Any:
    """Which slot was shown to whom, as the posted form says and proves; None without proof."""
    try:
        return signing.loads(request.POST.get("seen", ""), salt=SEEN)
    except signing.BadSignature:
        return None


def seen(slot: Assignment, user: User) -> str:
    """Proof that a slot was shown to somebody."""
    return signing.dumps([slot.pk, user.pk], salt=SEEN)


def not_now(slot: Assignment, still_mine: bool) -> str:
    """Why the slot takes no labels of mine; empty if it does."""
    if not still_mine:
        return TAKEN
    return "" if slot.study.state == Study.State.OPEN else CLOSED


def rating_form(request: HttpRequest, slot: Assignment, data: Any) -> RatingForm:
    criteria = list(slot.study.criteria.all())
    entered, draft = rating.entered(slot, me(request), criteria) if data is None else ({}, None)
    form = RatingForm(data, slot=slot, criteria=criteria, entered=entered)
    form.draft = draft
    return form


def keep_late(request: HttpRequest, slot: Assignment, form: RatingForm, reason: str) -> bool:
    """Keep complete answers that came too late for the researcher to decide on. False if they are not complete."""
    if not form.is_valid():
        return False
    drafts.keep_late(by=me(request), assignment=slot, content=form.entered(), reason=reason)
    return True


def handed_in(request: HttpRequest, slot: Assignment, form: RatingForm) -> HttpResponse:
    """Store the labels and go on: after a change to the following submitted item, otherwise to the next."""
    was_submitted = slot.state == Assignment.State.SUBMITTED
    try:
        annotations.submit(by=me(request), assignment=slot, **form.answers())
    except annotations.NotTheirsError as error:
        return page(request, slot, form, gone=error.message, kept=keep_late(request, slot, form, error.message))
    if was_submitted:
        messages.success(request, f"Your changes to item {slot.rank} are saved.")
    following = work.after(slot, me(request)) if was_submitted else None
    return redirect("assignment", pk=following.pk) if following else redirect("next_item", slug=slot.study.slug)


def item_context(slot: Assignment, user: User) -> dict[str, Any]:
    """What the page shows of the item itself, which is all that changes from one item to the next."""
    return {
        "slot": slot,
        "study": slot.study,
        "dialogue": slot.item.dialogue,
        "pair": slot.item.pair,
        "sides": slot.shown_pair() if slot.item.pair else None,
        "panels": panels(slot.item, slot.study.shown),
        "seen": seen(slot, user),
    }


def page(
    request: HttpRequest, slot: Assignment, form: RatingForm, *, gone: str = "", kept: bool = False
) -> HttpResponse:
    """The rating page. `gone` says why the labels cannot be saved; what was entered stays readable."""
    user = me(request)
    progress = work.my_progress(user, slot.study)
    context = {
        **item_context(slot, user),
        "form": form,
        "rows": (rows := form.rows()),
        "chosen_side": rows[0].side if slot.item.pair and rows else "",
        "draft": form.draft,
        "gone": gone,
        "kept": kept,
        "nothing_saved": gone and not kept and request.method == "POST",
        "progress": progress,
        "where": work.place(slot, user, progress),
        "before": work.before(slot, user),
        "after": work.after(slot, user),
        "is_submitted": slot.state == Assignment.State.SUBMITTED,
    }
    return render(request, "annotation/assignment.html", context)
