"""The queue of a study, for researchers: its rules, items with known answers, and who came through to the work."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotation.quality.forms import GoldQuestionForm, GoldQuestionsForm, RulesForm
from annotation.quality.queries import gold_questions as queries
from annotation.quality.services import gold_questions, qualification
from annotation.studies.models.studies import Study
from annotation.studies.steps import study_steps
from core.accounts.access import get_account, researcher_required
from core.accounts.models.users import User
from core.messages import show_errors


@researcher_required
def queue(request: HttpRequest, slug: str) -> HttpResponse:
    """Set the rules."""
    study = get_object_or_404(Study, slug=slug, known_for=None)
    form = RulesForm(request.POST or None, study=study)
    if form.is_valid() and form.save(get_account(request)):
        messages.success(request, _("The rules of the queue are set."))
        return redirect("queue", slug=slug)
    return page(request, study, rules=form)


@researcher_required
@require_POST
def gold_question_add(request: HttpRequest, slug: str) -> HttpResponse:
    """Name one item with its answers."""
    study = get_object_or_404(Study, slug=slug, known_for=None)
    form = GoldQuestionForm(request.POST, study=study)
    if form.is_valid() and form.save(get_account(request)):
        says = _("{item} is among the items with known answers.")
        messages.success(request, says.format(item=form.cleaned_data["item"]))
        return redirect("queue", slug=slug)
    return page(request, study, one=form)


@researcher_required
@require_POST
def gold_questions_add(request: HttpRequest, slug: str) -> HttpResponse:
    """Name many items: decided ones, or those of a file."""
    study = get_object_or_404(Study, slug=slug, known_for=None)
    form = GoldQuestionsForm(request.POST, request.FILES, study=study)
    if form.is_valid() and (number := form.save(get_account(request))) is not None:
        says = _("Items with known answers that were named or were there already: {number}.")
        messages.success(request, says.format(number=number))
        return redirect("queue", slug=slug)
    return page(request, study, many=form)


@researcher_required
@require_POST
def gold_question_retire(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Hand an item out no more, and count the answers to it no more."""
    study = get_object_or_404(Study, slug=slug)
    found = get_object_or_404(study.known_items.select_related("item__dialogue", "item__pair"), pk=pk)
    with show_errors(request):
        gold_questions.retire(by=get_account(request), known=found)
        says = _("{item} is retired. Answers to it count no more.")
        messages.success(request, says.format(item=found.item.external_id))
    return redirect("queue", slug=slug)


@researcher_required
@require_POST
def admission(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Let somebody through to the work, or let them try once more."""
    study, annotator = get_object_or_404(Study, slug=slug), get_object_or_404(User, pk=pk)
    again = "again" in request.POST
    decide = qualification.try_again if again else qualification.let_through
    with show_errors(request):
        decide(by=get_account(request), study=study, annotator=annotator, reason=request.POST.get("reason", ""))
        says = _("{annotator} may try once more.") if again else _("{annotator} may rate now.")
        messages.success(request, says.format(annotator=annotator))
    return redirect("queue", slug=slug)


def page(
    request: HttpRequest,
    study: Study,
    *,
    rules: RulesForm | None = None,
    one: GoldQuestionForm | None = None,
    many: GoldQuestionsForm | None = None,
) -> HttpResponse:
    results = queries.admissions(study)
    through = {found.annotator_id for found in results if found.lets_through}
    context: dict[str, object] = {
        "study": study,
        "steps": study_steps(study, "queue"),
        "rules": rules or RulesForm(study=study),
        "one": one or GoldQuestionForm(study=study),
        "many": many or GoldQuestionsForm(study=study),
        "known": queries.load_study(study),
        "results": results,
        "earlier": queries.earlier(study, results),
        "waiting": study.annotators.exclude(pk__in=through).order_by("username") if study.pass_mark is not None else [],
        "failed": {found.annotator_id for found in results if found.outcome == found.Outcome.FAILED},
        "changes": study.queue_rules.select_related("decided_by").order_by("-created_at", "-pk"),
    }
    return render(request, "annotation/queue.html", context)
