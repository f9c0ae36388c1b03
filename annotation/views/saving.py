"""What the rating page's script asks for: drafts, save and next in one request, and the item to keep ready."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from annotation.errors import InputError
from annotation.models import Assignment, Study
from annotation.queries import rating, work
from annotation.services import annotations, assignments, drafts
from annotation.views.work import item_context, lost_slot, me, not_now

View = Callable[..., HttpResponseBase]
MOST_HELD = 10


def signed_in(view: View) -> View:
    """Tell a script that nobody is signed in, rather than send it to a page for people."""

    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return JsonResponse({"signed_out": True}, status=401)
        return require_POST(view)(request, *args, **kwargs)

    return guarded


@signed_in
def save(request: HttpRequest, pk: int) -> JsonResponse:
    """Store the labels of an item, as often as it is sent, and say what to keep ready for after the next."""
    slot, still_mine = slot_without_texts(request, pk)
    criteria = list(slot.study.criteria.all())
    answers = rating.by_kind(criteria, request.POST)
    problem = not_now(slot, still_mine)
    try:
        if problem:
            annotations.to_store(slot, criteria, **answers)  # late answers are kept if they are complete
        else:
            annotations.submit(
                by=me(request), assignment=slot, active_seconds=seconds(request.POST.get("active")), **answers
            )
    except annotations.NotTheirsError as error:
        problem = error.message
    except InputError as error:
        return JsonResponse({"errors": {error.field or "": error.message}}, status=422)
    if problem:
        drafts.keep_late(by=me(request), assignment=slot, content=inputs(request, slot), reason=problem)
    told = {"late": problem, "next": ahead_of(request, slot.study)}
    return JsonResponse(told, status=409 if problem else 200)


@signed_in
def draft(request: HttpRequest, pk: int) -> JsonResponse:
    """Keep what changed on the page, and the item in my work."""
    slot, still_mine = slot_without_texts(request, pk)
    if slot.state == Assignment.State.SUBMITTED and still_mine and request.POST.get("submitted") != "1":
        return JsonResponse({"stale": True})  # sent before the item was handed in, and overtaken by that
    try:
        kept = drafts.save(
            by=me(request),
            assignment=slot,
            changes=inputs(request, slot),
            active_seconds=seconds(request.POST.get("active")),
        )
    except InputError as error:
        return JsonResponse({"errors": {"": error.message}}, status=422)
    assignments.renew_all(by=me(request), study=slot.study)
    return JsonResponse({"content": kept.content, "gone": not_now(slot, still_mine)})


@signed_in
def ahead(request: HttpRequest, slug: str) -> JsonResponse:
    """The item to keep ready."""
    study = get_object_or_404(me(request).studies, slug=slug)
    return JsonResponse({"next": ahead_of(request, study)})


@signed_in
def put_back(request: HttpRequest, pk: int) -> JsonResponse:
    """Free an item that was kept ready and is not needed."""
    slot = get_object_or_404(work.mine(me(request)), pk=pk)
    return JsonResponse({"freed": assignments.put_back(by=me(request), assignment=slot)})


def slot_without_texts(request: HttpRequest, pk: int) -> tuple[Assignment, bool]:
    """My slot, and whether it is still mine. To save answers the texts of the item are not needed."""
    found = work.held(me(request), pk)
    return (found, True) if found else lost_slot(request, pk)


def inputs(request: HttpRequest, slot: Assignment) -> dict[str, str]:
    """What the page sent of its inputs, right or wrong, by their names."""
    names = rating.input_names(slot.study.criteria.all())
    return {name: request.POST[name].replace("\0", "") for name in names if name in request.POST}


def seconds(text: str | None) -> float:
    """A time as the page counted it; nothing if it is no number."""
    try:
        found = float(text or 0)
    except ValueError:
        return 0.0
    return found if 0 <= found < 1e9 else 0.0


def holding(request: HttpRequest) -> list[int]:
    """Ids of the slots that the page shows or keeps ready."""
    given = request.POST.get("holding", "").split(",")
    return [int(pk) for pk in given if pk.isdecimal() and len(pk) < 19][:MOST_HELD]


def ahead_of(request: HttpRequest, study: Study) -> dict[str, Any] | None:
    """The next item beyond those the page holds, leased and ready to be shown; None when nothing is left."""
    user = me(request)
    try:
        slot = assignments.next_for(by=user, study=study, holding=holding(request))
    except InputError:
        return None
    if slot is None:
        return None
    slot.study = study
    work.with_texts(slot)
    answers, kept = rating.entered(slot, user, study.criteria.all())
    context = item_context(slot, user)
    return {
        "pk": slot.pk,
        "url": reverse("assignment", args=[slot.pk]),
        "html": render_to_string("annotation/_item.html", context),
        "seen": context["seen"],
        "answers": answers,
        "active": kept.active_seconds if kept else 0,
        "at": timezone.now().isoformat(),
    }
