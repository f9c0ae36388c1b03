"""The way in for somebody who is not in the study yet, and an annotator's say in taking part."""

from __future__ import annotations

from allauth.account.utils import perform_login
from allauth.core import ratelimit
from csp.decorators import csp_replace
from django.contrib import messages
from django.contrib.auth import logout
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _, gettext_noop
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.debug import sensitive_post_parameters

from annotation.recruitment.forms import AboutMeForm, AccountForm, ReturnForm
from annotation.recruitment.models import Invitation
from annotation.recruitment.platforms import FRAMED_BY, PLATFORMS, Visit, visit
from annotation.recruitment.queries import (
    LEAST_PEOPLE,
    are_owed,
    find_decision,
    find_intake,
    find_invitation,
    find_return_code,
    find_study_closing_reason,
    has_withdrawn,
    load_answers,
    load_offer,
    text_owed,
)
from annotation.recruitment.services import consents, demographics, enrolment
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Study
from core.accounts.access import get_account, public, require_sign_in
from core.accounts.models.users import User
from core.errors import InputError

UNKNOWN, GONE, BAD, TOO_MANY, WITHDREW = 404, 410, 400, 429, 403
FULL = gettext_noop("Many people have just come from your network. Please come back in ten minutes.")
TELL_CODE = gettext_noop(
    "Your return code is {code}. You need it to go on in another browser. You find it again under My work, Taking part."
)
BACKEND = "config.accounts.Passwords"
FRAMES = ("iframe", "frame")


@public
@never_cache
@sensitive_post_parameters("password1", "password2")
def join(request: HttpRequest, token: str) -> HttpResponseBase:
    """Follow an invitation."""
    found = find_invitation(token)
    if found is None:
        return render_refusal(request, _("There is no such invitation. Look whether the address is complete."), UNKNOWN)
    invitation, closed = found
    if invitation.platform:
        return enter_from_platform(request, invitation, closed)
    return entrance(request, invitation.study, invitation, closed)


@public
@never_cache
@sensitive_post_parameters("password1", "password2")
def register(request: HttpRequest, slug: str) -> HttpResponse:
    """The public address of a study that has one."""
    study = get_object_or_404(Study, slug=slug)
    if not find_intake(study).is_public:
        raise Http404
    return entrance(request, study, None, find_study_closing_reason(study))


def entrance(request: HttpRequest, study: Study, invitation: Invitation | None, closed: str) -> HttpResponse:
    """Make an account, sign in, or join with the account one has."""
    user = request.user if isinstance(request.user, User) else None
    if user and study.annotators.filter(pk=user.pk).exists():
        return onward(user, study)
    if user and has_withdrawn(study, user):
        return render_refusal(request, _(enrolment.WITHDRAWN), WITHDREW)
    if closed:
        return render_refusal(request, closed, GONE)
    form = AccountForm(request.POST if request.method == "POST" and not user else None)
    if request.method == "POST":
        if not user and is_too_often(request):
            return render_refusal(request, _(FULL), TOO_MANY)
        try:
            joined = join_by_form(request, form, study, invitation)
        except InputError as error:
            return render_refusal(request, error.message, GONE)
        if joined:
            return onward(joined, study) if user else sign_in(request, joined, study)
    context = {"study": study, "form": form, "here": request.path, "offer": load_offer(study)}
    return render(request, "annotation/join.html", context)


def join_by_form(request: HttpRequest, form: AccountForm, study: Study, invitation: Invitation | None) -> User | None:
    """Return the account that joins: signed in or new; None if refused, with the reason in the form."""
    if isinstance(request.user, User):
        enrolment.join(by=request.user, study=study, invitation=invitation)
        return request.user
    return form.join(study, invitation) if form.is_valid() else None


def sign_in(request: HttpRequest, account: User, study: Study) -> HttpResponse:
    """As the sign-in page does it, so that an account with a second factor is asked for it here too."""
    if request.user.is_authenticated and request.user != account:
        logout(request)
    account.backend = BACKEND  # type: ignore[attr-defined]  # which Django reads when it signs somebody in
    answer: HttpResponse = perform_login(request, account, redirect_url=onward(account, study).url)
    return answer


def onward(user: User, study: Study) -> HttpResponseRedirect:
    """What comes next for somebody in a study: what they have to agree to, questions about them, or their work."""
    if text_owed(study, user):
        return redirect("consent", slug=study.slug)
    if are_owed(study, user):
        return redirect("about_me", slug=study.slug)
    return redirect("next_item", slug=study.slug)


def enter_from_platform(request: HttpRequest, invitation: Invitation, closed: str) -> HttpResponseBase:
    """Whom a platform sends: a look at the task, or straight in as who its address says they are."""
    study, platform = invitation.study, PLATFORMS[invitation.platform]
    here = request.get_full_path()
    context: dict[str, object] = {"study": study, "platform": platform, "here": here, "offer": load_offer(study)}
    try:
        found = visit(invitation.platform, dict(request.GET.lists()))
    except InputError as error:
        return render_refusal(request, f"{error.message} ({error.field})", BAD)
    if found.is_preview or request.headers.get("Sec-Fetch-Dest") in FRAMES:
        return render_in_frame(request, {**context, "preview": found.is_preview, "framed": True})
    return join_page(request, invitation, found, closed, context)


def join_page(
    request: HttpRequest, invitation: Invitation, found: Visit, closed: str, context: dict[str, object]
) -> HttpResponse:
    """Join on POST only: fetching an address must not create an account."""
    there = invitation.study.participations.filter(platform_key=enrolment.platform_key(found)).first()
    if closed and there is None:
        return render_refusal(request, closed, GONE)
    by = request.user if isinstance(request.user, User) else None
    is_back = there is not None and by == there.annotator
    form = ReturnForm(request.POST if request.method == "POST" else None)
    context |= {"back": there, "form": form, "asks_code": there and not is_back, "other": by and not is_back}
    if request.method != "POST":
        return render(request, "annotation/join_platform.html", context)
    if not is_back and is_too_often(request):
        return render_refusal(request, _(FULL), TOO_MANY)
    try:
        account = form.sign_back_in(by, invitation, found)
    except InputError as error:
        return render_refusal(request, error.message, GONE)
    if account is None:
        return render(request, "annotation/join_platform.html", context)
    answer = sign_in(request, account, invitation.study)
    if there is None and not text_owed(invitation.study, account):  # else the page with the text says it
        messages.info(request, _(TELL_CODE).format(code=find_return_code(invitation.study, account)))
    return answer


def is_too_often(request: HttpRequest) -> bool:
    """Count an attempt to make an account. Whether there were more from one network than a class of people makes."""
    return not ratelimit.consume(request, action="join")


def render_in_frame(request: HttpRequest, context: dict[str, object]) -> HttpResponseBase:
    """A page that the platform may show in a frame; there is nothing on it that a click could change."""

    def shown(request: HttpRequest) -> HttpResponseBase:
        return render(request, "annotation/join_platform.html", context)

    return csp_replace({"frame-ancestors": FRAMED_BY})(xframe_options_exempt(shown))(request)


def render_refusal(request: HttpRequest, why: str, status: int) -> HttpResponse:
    context = {"why": why, "later": status == TOO_MANY, "needs_another": status not in (TOO_MANY, WITHDREW)}
    return render(request, "annotation/join_refused.html", context, status=status)


@require_sign_in
def consent(request: HttpRequest, slug: str) -> HttpResponse:
    """Read what the study asks me to agree to, and decide."""
    user = get_account(request)
    study = get_object_or_404(user.studies, slug=slug)
    if request.method == "POST":
        agrees = request.POST.get("decision") == "agree"
        try:
            consents.decide(by=user, study=study, text_hash=request.POST.get("text", ""), agrees=agrees)
        except InputError as error:
            messages.error(request, error.message)
            return redirect("consent", slug=slug)
        return onward(user, study) if agrees else redirect("consent", slug=slug)
    text, decision = find_intake(study).consent_text, find_decision(study, user)
    return render(
        request,
        "annotation/consent.html",
        {
            "study": study,
            "text": text,
            "decision": decision,
            "is_current": decision and decision.text == text,
            "return_code": find_return_code(study, user),
            "offer": load_offer(study),
            "asks": study.demographic_questions.exists(),
        },
    )


@require_sign_in
def answer_demographics(request: HttpRequest, slug: str) -> HttpResponse:
    """Answer questions about myself, or not."""
    user = get_account(request)
    study = get_object_or_404(user.studies, slug=slug)
    form = AboutMeForm(
        request.POST or None, questions=study.demographic_questions.all(), answers=load_answers(study, user)
    )
    if form.is_valid():
        demographics.answer(by=user, study=study, answers=form.cleaned_data)
        return onward(user, study)
    return render(request, "annotation/about_me.html", {"study": study, "form": form, "least": LEAST_PEOPLE})


@require_sign_in
def withdraw(request: HttpRequest, slug: str) -> HttpResponse:
    """Leave a study and have erased what I gave, after a page that says what that means."""
    user = get_account(request)
    study = get_object_or_404(user.studies, slug=slug)
    if request.method == "POST":
        done = consents.withdraw(by=user, study=study, annotator=user)
        messages.success(
            request, _("You have withdrawn from %(study)s. Labels erased: %(n)s.") % {"study": study, "n": done.erased}
        )
        return redirect("my_work")
    labels = Annotation.objects.filter(assignment__study=study, assignment__annotator=user).count()
    return render(request, "annotation/withdraw.html", {"study": study, "labels": labels, "annotator": user})
