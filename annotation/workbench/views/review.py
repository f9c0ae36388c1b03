"""What asks for a researcher's decision: disputed items, and answers that came too late."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _, gettext_noop
from django.views.decorators.http import require_POST, require_safe

from annotation.stats.by_level import explain_missing
from annotation.stats.orders import LETTERS
from annotation.studies.models.labels import Draft
from annotation.studies.models.studies import Criterion, Item, Study
from annotation.studies.queries.context import panels
from annotation.studies.queries.scales import has_open_scale, sort_labels
from annotation.studies.steps import study_steps
from annotation.studies.views.large import reads_all
from annotation.workbench.queries import adjudication as queries
from annotation.workbench.services import adjudications, drafts
from core.accounts.access import adjudicator_required, find_deciding_roles, get_account, may_research
from core.accounts.models.users import User
from core.errors import InputError
from core.messages import show_errors

SHOWN = 200

OTHERS = {
    "number": gettext_noop("A number, such as 12 or 0.5."),
    "several": gettext_noop("Categories with | between them, such as accuracy|style; - for none of them."),
    "ranking": gettext_noop("The best first, such as 2>1; 1=2 where they are level."),
}
"""By type of answer, how one that nobody gave is written."""


@adjudicator_required
@reads_all(gettext_noop("Adjudication"), "disputes", "adjudication")
def adjudication(request: HttpRequest, slug: str) -> HttpResponse:
    """What people disagree on, on one criterion, and what came too late."""
    study = get_object_or_404(Study, slug=slug)
    criteria = list(study.criteria.all())
    asked = request.GET.get("criterion")
    criterion = next((one for one in criteria if one.key == asked), criteria[0] if criteria else None)
    missing = explain_missing("adjudication", criterion.level) if criterion else None
    disputes = queries.disputes(criterion) if criterion and not missing else None
    shown = disputes[:SHOWN] if disputes else []
    context = {
        "study": study,
        "adjudicates": not may_research(request.user),
        "steps": study_steps(study, "adjudication") if may_research(request.user) else [],
        "criteria": criteria,
        "criterion": criterion,
        "missing": missing,
        "has_spread": disputes is not None and disputes.has_order,
        "disputes": shown,
        "first": next((one for one in shown if not one.decision), None),
        "total": len(disputes or ()),
        "open": disputes.open if disputes else 0,
        "late": queries.late(study),
    }
    return render(request, "annotation/adjudication.html", context)


@adjudicator_required
def adjudicate(request: HttpRequest, slug: str, key: str, position: int) -> HttpResponse:
    """Read an item with what people said of it, without their names, and decide."""
    study = get_object_or_404(Study, slug=slug)
    criterion = get_object_or_404(study.criteria, key=key)
    subject = ("dialogue__scenario__profile", "dialogue__scenario__task", "pair__profile")
    item = get_object_or_404(study.items.select_related("study", *subject), position=position)
    turn = parse_turn(request, criterion, item)
    if missing := explain_missing("adjudication", criterion.level):
        raise Http404(missing)
    error: InputError | None = None
    if request.method == "POST":
        given = {name: request.POST.get(name, "") for name in ("value", "reason")}
        given["value"] = request.POST.get("other", "").strip() or given["value"]
        try:
            adjudications.decide(by=get_account(request), item=item, criterion=criterion, turn=turn, **given)
        except InputError as refused:
            error = refused
        else:
            says = _("Item {position} is decided: {label}.")
            if turn:
                says = _("Item {position}, turn {turn}, is decided: {label}.")
            label = criterion.label_of(given["value"])
            messages.success(request, says.format(position=position, turn=turn, label=label))
            return redirect(parse_origin(request) or redirect_to_next(study, criterion, position, turn))
    earlier = item.adjudications.filter(criterion=criterion, turn=turn).select_related("decided_by")
    context: dict[str, object] = {
        "study": study,
        "adjudicates": not may_research(request.user),
        "criterion": criterion,
        "item": item,
        "turn": turn,
        "evidence": [turn],
        "dialogue": item.dialogue,
        "pair": item.pair,
        "shown": dict(zip(LETTERS, [one.text for one in item.pair.responses], strict=False)) if item.pair else {},
        "panels": panels(item, study.shown),
        "voices": queries.voices(item, criterion, turn),
        "earlier": [(one, criterion.label_of(one.value)) for one in earlier.order_by("-created_at")],
        "error": error,
        "other_help": _(OTHERS[criterion.type]) if criterion.type in OTHERS else "",
        "given": list_given(criterion, item, turn),
        "value": request.POST.get("value", ""),
        "reason": request.POST.get("reason", ""),
        "back": parse_origin(request) or f"{reverse('adjudication', args=[slug])}?criterion={key}",
    }
    return render(request, "annotation/adjudicate.html", context)


def list_given(criterion: Criterion, item: Item, turn: int) -> list[tuple[str, str]]:
    """What may be chosen: the categories, or of any other kind of answer what people gave, each with its name."""
    if not has_open_scale(criterion):
        return [(value, criterion.label_of(value)) for value in criterion.values]
    values = {one.value for one in queries.list_answers(item, criterion, turn) if one.value}
    return [(value, criterion.label_of(value)) for value in sort_labels(criterion, values)]


def parse_turn(request: HttpRequest, criterion: Criterion, item: Item) -> int:
    """The turn that the address names, one that the criterion is asked of; 0 where that is the whole item."""
    turns = criterion.turns_of(item)
    text = request.GET.get("turn", "")
    turn = int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else turns[0] if turns else 0
    if turn not in turns:
        raise Http404("It is not asked of this turn.")
    return turn


def parse_origin(request: HttpRequest) -> str:
    """The list of this site that the address says one came from; empty without one."""
    back = request.GET.get("back", "")
    return back if url_has_allowed_host_and_scheme(back, allowed_hosts=None) and back.startswith("/") else ""


def redirect_to_next(study: Study, criterion: Criterion, position: int, turn: int) -> str:
    """The next item or turn to be decided, or else the list."""
    if waiting := queries.find_next_dispute(criterion, position, turn):
        address = reverse("adjudicate", args=[study.slug, criterion.key, waiting.position])
        return f"{address}?turn={waiting.turn}" if waiting.turn else address
    return f"{reverse('adjudication', args=[study.slug])}?criterion={criterion.key}"


@adjudicator_required
@require_POST
def late_answers(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Use answers that came too late, or leave them out."""
    draft = get_object_or_404(
        Draft.objects.select_related("assignment__study", "assignment__item", "annotator"),
        pk=pk,
        assignment__study__slug=slug,
    )
    with show_errors(request):
        if request.POST.get("decision") == "use":
            drafts.use_late(by=get_account(request), draft=draft)
            messages.success(request, _("The answers of {annotator} are labels now.").format(annotator=draft.annotator))
        else:
            drafts.dismiss(by=get_account(request), draft=draft)
            says = _("The answers of {annotator} are left out, and kept on record.")
            messages.success(request, says.format(annotator=draft.annotator))
    return redirect("adjudication", slug=slug)


@adjudicator_required
@require_safe
def to_decide(request: HttpRequest) -> HttpResponse:
    """The studies in which I decide what people disagree on."""
    assert isinstance(request.user, User)  # `adjudicator_required` lets nobody else in
    studies = queries.to_decide(request.user, find_deciding_roles(request.user))
    return render(
        request, "annotation/to_decide.html", {"studies": studies, "adjudicates": not may_research(request.user)}
    )
