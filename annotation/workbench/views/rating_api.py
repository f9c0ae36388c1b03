"""What the rating page's script asks for: drafts, save and next in one request, and the item to keep ready."""

from collections.abc import Callable
from functools import wraps

from django.http import Http404, HttpRequest, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries import asks
from annotation.workbench.assignment_names import to_id, to_name
from annotation.workbench.forms import RatingForm
from annotation.workbench.queries import assignments as slots, work
from annotation.workbench.services import annotations, assignments, drafts
from annotation.workbench.views.work import find_lost_assignment, item_context, not_now
from core.accounts.access import get_account, mark_view
from core.errors import InputError

View = Callable[..., HttpResponseBase]
MOST_HELD = 100


def require_sign_in(view: View) -> View:
    """Tell a script that nobody is signed in, rather than send it to a page for people."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return JsonResponse({"signed_out": True}, status=401)
        return require_POST(view)(request, *args, **kwargs)

    return mark_view(guarded, "signed_in")


@require_sign_in
def save(request: HttpRequest, pk: int) -> JsonResponse:
    """Store the labels of an item, as often as it is sent, and say what to keep ready for after the next."""
    slot, still_mine = find_assignment_without_texts(request, pk)
    asked = asks.asks(slot, slot.study.asked)
    answers = asks.group_by_kind(asked, request.POST)
    problem = not_now(slot, still_mine)
    try:
        if problem:
            annotations.to_store(slot, asked, **answers)  # late answers are kept if they are complete
        else:
            annotations.submit(
                by=get_account(request), assignment=slot, active_seconds=seconds(request.POST.get("active")), **answers
            )
    except annotations.NotTheirsError as error:
        problem = error.template
    except InputError as error:
        return JsonResponse({"errors": {error.field or "": error.message}}, status=422)
    if problem:
        keep_late(request, slot, problem)
    told = {
        "late": problem and gettext(problem),
        "next": lease_ahead(request, slot.study),
        "versions": list_versions(slot.study),
        **total(request, slot.study),
    }
    return JsonResponse(told, status=409 if problem else 200)


@require_sign_in
def draft(request: HttpRequest, pk: int) -> JsonResponse:
    """Keep what changed on the page, and the item in my work."""
    slot, still_mine = find_assignment_without_texts(request, pk)
    if slot.state == Assignment.State.SUBMITTED and still_mine and request.POST.get("submitted") != "1":
        return JsonResponse({"stale": True})  # sent before the item was handed in, and overtaken by that
    try:
        kept = drafts.save(
            by=get_account(request),
            assignment=slot,
            changes=inputs(request, slot),
            active_seconds=seconds(request.POST.get("active")),
        )
    except drafts.OvertakenError:
        return JsonResponse({"stale": True})
    except InputError as error:
        return JsonResponse({"errors": {"": error.message}}, status=422)
    problem = not_now(slot, still_mine)
    if assignments.is_running_out(slot):
        assignments.renew_all(by=get_account(request), study=slot.study)
    return JsonResponse({"content": kept.content, "gone": problem and gettext(problem)})


@require_sign_in
def prefetch(request: HttpRequest, slug: str) -> JsonResponse:
    """The item to keep ready."""
    study = get_object_or_404(get_account(request).studies, slug=slug)
    return JsonResponse({"next": lease_ahead(request, study)})


@require_sign_in
def put_back(request: HttpRequest, pk: int) -> JsonResponse:
    """Free an item that was kept ready and is not needed."""
    slot = get_object_or_404(work.list_mine(get_account(request)), pk=pk)
    return JsonResponse({"freed": assignments.put_back(by=get_account(request), assignment=slot)})


def find_assignment_without_texts(request: HttpRequest, pk: int) -> tuple[Assignment, bool]:
    """My slot, and whether it is still mine. To save answers the texts of the item are not needed."""
    found = slots.find_held(get_account(request), pk)
    return (found, True) if found else find_lost_assignment(request, pk)


def keep_late(request: HttpRequest, slot: Assignment, reason: str) -> None:
    try:
        drafts.keep_late(by=get_account(request), assignment=slot, content=inputs(request, slot), reason=reason)
    except drafts.WithdrawnError as error:
        raise Http404 from error


def total(request: HttpRequest, study: Study) -> dict[str, object]:
    """How many items there are for them by now, where the page asks for it; people share what is left."""
    if request.POST.get("total") != "1":
        return {}
    progress = work.my_progress(get_account(request), study)
    return {"total": progress.total, "more": progress.more}


def inputs(request: HttpRequest, slot: Assignment) -> dict[str, str]:
    """What the page sent of its inputs, right or wrong, by their names."""
    names = asks.input_names(asks.asks(slot, slot.study.asked))
    return {name: request.POST[name].replace("\0", "") for name in names if name in request.POST}


def seconds(text: str | None) -> float:
    """A time as the page counted it; nothing if it is not a number."""
    try:
        found = float(text or 0)
    except ValueError:
        return 0.0
    return found if 0 <= found < 1e9 else 0.0


def parse_held_ids(request: HttpRequest) -> list[int]:
    """Ids of the slots that the page shows or keeps ready."""
    given = request.POST.get("holding", "").split(",")[:MOST_HELD]
    return [pk for name in given if (pk := to_id(name)) is not None]


def lease_ahead(request: HttpRequest, study: Study) -> dict[str, object] | None:
    """The next item beyond those the page holds, leased and ready to be shown; None when nothing is left."""
    user, holding = get_account(request), parse_held_ids(request)
    if len(holding) > 1 and not (work.has_plenty(study, len(holding)) or work.holds_more(user, study, holding)):
        return None
    try:
        slot = assignments.lease_next(by=user, study=study, holding=holding)
    except InputError:
        return None
    if slot is None or not slot.is_work:
        return None
    slot.study = study
    slots.load_texts(slot)
    criteria = study.asked
    asked = asks.asks(slot, criteria)
    answers, kept = asks.load_entered(slot, user, asked)
    context = item_context(slot, user)
    return {
        "pk": to_name(slot.pk),
        "url": reverse("assignment", args=[slot.pk]),
        "html": render_to_string("annotation/_item.html", context),
        "seen": context["seen"],
        "answers": answers,
        "versions": list_versions(study),
        "rows": render_criteria(slot, criteria) if any(map(depends_on_item, criteria)) else "",
        "active": kept.active_seconds if kept else 0,
        "at": timezone.now().isoformat(),
    }


def depends_on_item(criterion: Criterion) -> bool:
    """Whether a criterion looks different from item to item: its turns, its texts, or the side that it waits for."""
    of_texts = criterion.type in (Criterion.Type.SPANS, Criterion.Type.REWRITE)
    return criterion.of_turns or of_texts or criterion.condition is not None


def list_versions(study: Study) -> dict[str, int]:
    """By criterion, the version of its guideline by now: what is kept ready may have been fetched before an edit."""
    return {one.key: one.guideline_version for one in study.asked}


def render_criteria(slot: Assignment, criteria: list[Criterion]) -> str:
    """The criteria of an item as the page shows them, where they differ from item to item."""
    form = RatingForm(slot=slot, criteria=criteria, entered={})
    return render_to_string("annotation/_rows.html", {"rows": form.rows(), "gone": ""})
