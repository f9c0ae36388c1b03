"""The researcher's page of who comes into a study, and how."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Literal

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from annotation.recruitment import queries
from annotation.recruitment.forms import ConsentForm, IntakeForm, InvitationForm, QuestionForm
from annotation.recruitment.platforms import PLATFORMS
from annotation.recruitment.queries import LEAST_PEOPLE, list_questions
from annotation.recruitment.services import consents, demographics, enrolment, withdrawn
from annotation.recruitment.services.enrolment import CreatedInvitation
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Study
from annotation.studies.steps import study_steps
from core.accounts.access import get_account, researcher_required
from core.accounts.models.users import User
from core.accounts.permissions import OWNING, filter_visible
from core.csv_files import csv_text
from core.downloads import attach_file, audit_export
from core.messages import show_errors
from core.options.fields import OptionsForm

FORMATS = ("json", "csv")
FormName = Literal["invitation", "consent", "question", "settings"]


@researcher_required
@require_safe
def recruitment(request: HttpRequest, slug: str) -> HttpResponse:
    """Invitations, consent, completion, and the people who came."""
    return page(request, get_object_or_404(Study, slug=slug))


@researcher_required
@require_POST
def invitation_create(request: HttpRequest, slug: str) -> HttpResponse:
    """Make a link. It is shown on this one answer and nowhere afterwards."""
    study = get_object_or_404(Study, slug=slug)
    form = InvitationForm(request.POST)
    made = form.create(get_account(request), study) if form.is_valid() else None
    if made:
        return page(request, study, made=made)
    return page(request, study, status=422, forms={"invitation": form})


@researcher_required
@require_POST
def invitation_revoke(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Let nobody join by a link any more."""
    study = get_object_or_404(Study, slug=slug)
    with show_errors(request):
        enrolment.revoke(by=get_account(request), invitation=get_object_or_404(study.invitations, pk=pk))
        messages.success(request, _("Nobody can join by this link any more. Who joined before stays."))
    return redirect("coming_in", slug=slug)


@researcher_required
@require_POST
def consent_text(request: HttpRequest, slug: str) -> HttpResponse:
    """Set what people agree to."""
    form = ConsentForm(request.POST)
    return store_form(request, slug, form, form.save, shown_as="consent", says=_("The consent text is saved."))


@researcher_required
@require_POST
def question_create(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask people one thing more about themselves."""
    form = QuestionForm(request.POST)
    says = _("The question is asked from now on.")
    return store_form(request, slug, form, form.create, shown_as="question", says=says)


@researcher_required
@require_POST
def question_remove(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Ask it no more, and erase what was answered."""
    study = get_object_or_404(Study, slug=slug)
    question = get_object_or_404(study.demographic_questions, pk=pk)
    erased = demographics.remove_question(by=get_account(request), question=question)
    says = _("“{question}” is asked no more. Answers erased: {erased}.")
    messages.success(request, says.format(question=question, erased=erased))
    return redirect("coming_in", slug=slug)


@researcher_required
@require_POST
def intake(request: HttpRequest, slug: str) -> HttpResponse:
    """Set whether anybody may join, and what people get at the end."""
    form = IntakeForm(request.POST)
    return store_form(request, slug, form, form.save, shown_as="settings", says=_("Saved."))


def store_form(
    request: HttpRequest,
    slug: str,
    form: OptionsForm,
    store: Callable[[User, Study], bool],
    *,
    shown_as: FormName,
    says: str,
) -> HttpResponse:
    """Store a form of the page and go back to the page, or show it with what is wrong."""
    study = get_object_or_404(Study, slug=slug)
    if form.is_valid() and store(get_account(request), study):
        messages.success(request, says)
        return redirect("coming_in", slug=slug)
    return page(request, study, status=422, forms={shown_as: form})


@researcher_required
def participant_withdraw(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Withdraw somebody who asked for it."""
    study, annotator = get_object_or_404(Study, slug=slug), get_object_or_404(User, pk=pk)
    if request.method == "POST":
        with show_errors(request):
            done = consents.withdraw(by=get_account(request), study=study, annotator=annotator)
            says = _("{annotator} has been withdrawn. Labels erased: {erased}.")
            messages.success(request, says.format(annotator=annotator, erased=done.erased))
            if problem := withdrawn.problem():
                says = _("Tell the person who runs this site: {problem}")
                messages.warning(request, says.format(problem=problem))
        return redirect("coming_in", slug=slug)
    labels = Annotation.objects.filter(assignment__study=study, assignment__annotator=annotator).count()
    context = {"study": study, "labels": labels, "annotator": annotator, "on_request": True}
    return render(request, "annotation/withdraw.html", context)


@researcher_required
@require_safe
@audit_export("participants")
def participants_download(request: HttpRequest, slug: str, format: str) -> HttpResponse:  # noqa: ARG001
    """Download participants: origin, decisions and codes, without demographics."""
    if format not in FORMATS:
        raise Http404(f"participants are not given as {format}")
    study = get_object_or_404(Study, slug=slug)
    rows = [one.to_json() for one in queries.participants(study)]
    text = (
        json.dumps(rows, ensure_ascii=False, indent=1)
        if format == "json"
        else csv_text([rows[0] if rows else ["annotator"], *(row.values() for row in rows)])
    )
    return attach_file(text, name=f"{study.slug}-participants.{format}")


def page(
    request: HttpRequest,
    study: Study,
    *,
    made: CreatedInvitation | None = None,
    status: int = 200,
    forms: Mapping[FormName, OptionsForm] | None = None,
) -> HttpResponse:
    found, forms = queries.find_intake(study), forms or {}
    text = found.consent_text
    links = queries.add_uses(study.invitations.select_related("created_by", "study")).order_by("-pk")
    context: dict[str, object] = {
        "study": study,
        "steps": study_steps(study, "coming_in"),
        "invitations": [(one, queries.find_closing_reason(one, uses=one.uses)) for one in links],
        "made": made and address(request, made),
        "form": forms.get("invitation") or InvitationForm(),
        "consent_form": forms.get("consent") or ConsentForm(initial={"consent_text": text.text if text else ""}),
        "text": text,
        "versions": study.consent_texts.count(),
        "settings_form": forms.get("settings") or IntakeForm.from_intake(found),
        "questions": list_questions(study),
        "question_form": forms.get("question") or QuestionForm(),
        "least": LEAST_PEOPLE,
        "intake": found,
        "public": request.build_absolute_uri(reverse("register", args=[study.slug])),
        "participants": queries.participants(study),
        "owns": filter_visible(request.user, Study.objects.filter(pk=study.pk), roles=OWNING).exists(),
        "downloads": [(name.upper(), reverse("participants_download", args=[study.slug, name])) for name in FORMATS],
    }
    return render(request, "annotation/coming_in.html", context, status=status)


def address(request: HttpRequest, made: CreatedInvitation) -> str:
    """The whole address to be given out, with what its platform is to fill in."""
    platform = PLATFORMS.get(made.invitation.platform)
    link = request.build_absolute_uri(reverse("join", args=[made.token]))
    return f"{link}{platform.example if platform else ''}"
