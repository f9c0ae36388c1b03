"""The annotator's pages: their studies, the next item, the page where an item is rated, training and qualification."""

from csp.decorators import csp_update
from django.contrib import messages
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.http import require_POST

from annotation.quality.queries import gold_questions, gold_questions as queries
from annotation.quality.services import qualification as gate
from annotation.recruitment.platforms import TURK
from annotation.recruitment.queries import has_withdrawn
from annotation.recruitment.services import completions
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Study
from annotation.studies.queries import asks, guidelines
from annotation.studies.queries.context import panels
from annotation.studies.queries.messages import count_answered
from annotation.workbench.assignment_names import to_name
from annotation.workbench.forms import RatingForm
from annotation.workbench.queries import my_items, work
from annotation.workbench.services import annotations, assignments, drafts
from annotation.workbench.views.item_actions import QUICK
from core.accounts.access import get_account, may_adjudicate, may_research, require_sign_in
from core.accounts.models.users import User
from core.errors import InputError
from core.messages import show_errors

SEEN = "annotation.assignment seen in order"  # salt of the signature that says who was shown which slot
TAKEN = gettext_noop("This item has meanwhile been given to somebody else.")
CLOSED = gettext_noop("This study is closed and takes no more labels.")


@require_sign_in
def my_work(request: HttpRequest) -> HttpResponse:
    """The studies that I rate in."""
    user = get_account(request)
    outcomes, answered = gold_questions.load_outcomes(user), count_answered(user)
    rows = [(row, outcomes.get(row.study.pk, ""), answered[row.study.pk]) for row in work.my_studies(user)]
    context = {
        "studies": rows,
        "earlier": user.studies.filter(state=Study.State.CLOSED),
        "adjudicates": not may_research(user) and may_adjudicate(user),
    }
    return render(request, "annotation/my_work.html", context)


@require_sign_in
def next_item(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Go to what is to be rated next, or say that there is nothing more."""
    user = get_account(request)
    study = get_object_or_404(user.studies, slug=slug)
    try:
        slot = assignments.lease_next(by=user, study=study)
    except assignments.ConsentNeededError:
        return redirect("consent", slug=slug)
    except InputError:
        return render(request, "annotation/all_done.html", {"study": study, "closed": True})
    if slot:
        return redirect("assignment", pk=slot.pk)
    if study.pass_mark is not None and not gold_questions.is_through(user, study):
        return redirect("qualification", slug=slug)
    return finish_page(request, user, study)


def finish_page(request: HttpRequest, user: User, study: Study) -> HttpResponseBase:
    """The last page. It may submit an assignment to Mechanical Turk, which the site's policy else forbids."""
    context = {
        "study": study,
        "progress": work.my_progress(user, study),
        "last": work.list_submitted(user, study).last(),
        "completion": completions.record(by=user, study=study),
    }

    def shown(request: HttpRequest) -> HttpResponseBase:
        return render(request, "annotation/all_done.html", context)

    return csp_update({"form-action": TURK})(shown)(request)


@require_sign_in
def assignment(request: HttpRequest, pk: int) -> HttpResponse:
    """Rate an item, or look at and change what I said of it."""
    slot, still_mine = find_assignment(request, pk)
    if still_mine and not slot.is_work and slot.state == Assignment.State.SUBMITTED:
        return redirect_after_qualification(slot)
    data = request.POST if request.method == "POST" else None
    form = rating_form(request, slot, data)
    if problem := not_now(slot, still_mine):
        return page(
            request, slot, form, gone=problem, kept=data is not None and keep_late(request, slot, form, problem)
        )
    if data is None:
        if slot.state == Assignment.State.LEASED:
            assignments.renew(by=get_account(request), assignment=slot)
        return page(request, slot, form)
    if not form.is_valid():
        return page(request, slot, form)
    return submit_form(request, slot, form)


@require_sign_in
@require_POST
def assignment_skip(request: HttpRequest, pk: int) -> HttpResponse:
    """Put an item off and go to the next."""
    slot = get_object_or_404(work.list_mine(get_account(request)), pk=pk)
    with show_errors(request):
        assignments.skip(by=get_account(request), assignment=slot)
    if request.headers.get(QUICK):
        return HttpResponse()
    return redirect("next_item", slug=slot.study.slug)


def find_assignment(request: HttpRequest, pk: int) -> tuple[Assignment, bool]:
    """My slot with all that its page shows, and whether it is still mine."""
    if found := work.list_mine(get_account(request)).filter(pk=pk).first():
        return found, True
    return find_lost_assignment(request, pk)


def find_lost_assignment(request: HttpRequest, pk: int) -> tuple[Assignment, bool]:
    """A slot that I was shown and have lost: taken again if it is free, or else marked as not mine.

    Who has withdrawn has erased what they gave, and a page that is still open somewhere must not bring it back.
    """
    user = get_account(request)
    order = read_proof(request, pk, user)
    lost = get_object_or_404(work.select_subject(Assignment.objects.all()), pk=pk)
    if has_withdrawn(lost.study, user):
        raise Http404
    is_mine = assignments.claim(user, lost, order=order)
    lost.order = order  # what they answer names the sides that they saw
    return lost, is_mine


def read_proof(request: HttpRequest, pk: int, user: User) -> str:
    """Read from the form's signed proof in which order the slot was shown to them. Raises Http404 without it."""
    try:
        *seen, order = signing.loads(request.POST.get("seen", ""), salt=SEEN)
    except signing.BadSignature as error:
        raise Http404 from error
    if seen != [to_name(pk), user.pk]:
        raise Http404
    return str(order)


def sign_proof(slot: Assignment, user: User) -> str:
    """Proof that a slot was shown to somebody, and in which order."""
    return signing.dumps([to_name(slot.pk), user.pk, slot.order], salt=SEEN)


def not_now(slot: Assignment, still_mine: bool) -> str:
    """Why the slot takes no labels of mine, in English, as it is kept with late answers; empty if it does."""
    if not still_mine:
        return TAKEN
    return "" if slot.study.state == Study.State.OPEN else CLOSED


def rating_form(request: HttpRequest, slot: Assignment, data: QueryDict | None) -> RatingForm:
    criteria = slot.study.asked
    entered, draft = (
        asks.load_entered(slot, get_account(request), asks.asks(slot, criteria)) if data is None else ({}, None)
    )
    form = RatingForm(data, slot=slot, criteria=criteria, entered=entered)
    form.draft = draft
    return form


def keep_late(request: HttpRequest, slot: Assignment, form: RatingForm, reason: str) -> bool:
    """Keep complete answers that came too late for the researcher to decide on. False if they are not complete."""
    if not form.is_valid():
        return False
    try:
        drafts.keep_late(by=get_account(request), assignment=slot, content=form.build_entered(), reason=reason)
    except drafts.WithdrawnError as error:
        raise Http404 from error
    return True


def submit_form(request: HttpRequest, slot: Assignment, form: RatingForm) -> HttpResponse:
    """Store the labels and go on: after a change to the following submitted item, otherwise to the next."""
    was_submitted = slot.state == Assignment.State.SUBMITTED
    try:
        seconds = form.cleaned_data.get("active")
        annotations.submit(by=get_account(request), assignment=slot, **form.given, active_seconds=seconds)
    except annotations.NotTheirsError as error:
        return page(request, slot, form, gone=error.template, kept=keep_late(request, slot, form, error.template))
    if not slot.is_work:
        return redirect_after_qualification(slot)
    if was_submitted:
        messages.success(request, gettext("Your changes are saved."))
    following = work.find_next(slot, get_account(request)) if was_submitted else None
    return redirect("assignment", pk=following.pk) if following else redirect("next_item", slug=slot.study.slug)


def redirect_after_qualification(slot: Assignment) -> HttpResponse:
    """Where an answer before the work leads: training to the right answer, qualification on, or to its result."""
    if slot.purpose == Assignment.Purpose.TRAINING:
        return redirect("training_answer", pk=slot.pk)
    return redirect("qualification", slug=slot.study.slug)


def load_progress(slot: Assignment, user: User) -> tuple[work.Progress, int]:
    """How far they have come, in the work or in what comes before it, and the place of this item."""
    if not slot.is_work:
        where, total = gold_questions.place(slot)
        return work.Progress(slot.study, where - 1, total - where + 1), where
    progress = work.my_progress(user, slot.study)
    return progress, work.place(slot, user, progress)


def item_context(slot: Assignment, user: User) -> dict[str, object]:
    """What the page shows of the item itself, which is all that changes from one item to the next."""
    return {
        "slot": slot,
        "slot_name": to_name(slot.pk),
        "study": slot.study,
        "dialogue": slot.item.dialogue,
        "pair": slot.item.pair,
        "sides": slot.build_shown_responses() if slot.item.pair else {},
        "panels": panels(slot.item, slot.study.shown),
        "seen": sign_proof(slot, user),
        **(my_items.load_notes(slot, user) if slot.is_work else {}),
    }


def page(
    request: HttpRequest, slot: Assignment, form: RatingForm, *, gone: str = "", kept: bool = False
) -> HttpResponse:
    """The rating page. `gone` says why the labels cannot be saved; what was entered stays readable."""
    user = get_account(request)
    progress, where = load_progress(slot, user)
    before = work.find_previous(slot, user) if slot.is_work else None
    recent = work.recent_seconds(user, slot.study) if slot.is_work else []
    context = {
        **item_context(slot, user),
        "recent": ",".join(f"{seconds:.1f}" for seconds in recent),
        "an_hour": work.an_hour(recent),
        "form": form,
        "rows": (rows := form.rows()),
        "types": {row.criterion["type"]: True for row in rows},
        "chosen_side": rows[0].side if slot.item.pair and rows else "",
        "draft": form.draft,
        "gone": gone and gettext(gone),
        "kept": kept,
        "nothing_saved": gone and not kept and request.method == "POST",
        "progress": progress,
        "where": where,
        "before": before,
        "news": guidelines.news(slot, before, form.asks, form.draft),
        "after": work.find_next(slot, user),
        "is_submitted": slot.state == Assignment.State.SUBMITTED,
    }
    return render(request, "annotation/assignment.html", context)


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
