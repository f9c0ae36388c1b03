"""An annotator's say in taking part: the consent text, agreeing or declining, and withdrawing."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _

from annotation.recruitment.forms import AboutMeForm
from annotation.recruitment.queries.demographics import LEAST_PEOPLE, load_answers
from annotation.recruitment.queries.offer import load_offer
from annotation.recruitment.queries.participation import find_decision, find_intake, find_return_code
from annotation.recruitment.services import consents, demographics
from annotation.recruitment.views.join import onward
from annotation.studies.models.labels import Annotation
from core.accounts.access import get_account, require_sign_in
from core.errors import InputError


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
