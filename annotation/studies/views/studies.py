"""The researcher's study pages: list, search, and one study with its sample and its people."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotation.studies.forms import AnnotatorsForm, ClusteringForm, SampleForm
from annotation.studies.models.studies import Study
from annotation.studies.queries import sampling_frame, search as search_queries, studies as queries
from annotation.studies.queries.context import PARTS, find_missing_context
from annotation.studies.services import studies
from annotation.studies.steps import study_steps
from annotation.workbench.services import assignments
from core.accounts.access import get_account, researcher_required
from core.accounts.models.users import User
from core.accounts.permissions import filter_visible
from core.messages import show_errors

PER_PAGE = 100


@researcher_required
def study_list(request: HttpRequest) -> HttpResponse:
    """All studies with how far they have come."""
    rates = get_account(request).studies.filter(state=Study.State.OPEN).count()
    studies = queries.newest_first(filter_visible(request.user, queries.everyday()))
    page = Paginator(studies, PER_PAGE).get_page(request.GET.get("page"))
    rows = queries.load_rows(list(page))
    has_records = bool(rows) or any(sampling_frame.list_records(kind).exists() for kind in Study.Kind.values)
    context = {"rows": rows, "page": page, "rates": rates, "has_records": has_records}
    return render(request, "annotation/study_list.html", context)


@researcher_required
def study_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """One study: where it stands and what comes next."""
    return detail(request, get_object_or_404(Study, slug=slug))


@researcher_required
def study_sample(request: HttpRequest, slug: str) -> HttpResponse:
    """Draw items into a draft."""
    study = get_object_or_404(Study, slug=slug)
    form = SampleForm(request.POST or None, kind=study.kind, study=study)
    if form.is_valid() and form.save(get_account(request), study):
        return redirect("study_detail", slug=slug)
    context = {"form": form, "study": study, "steps": study_steps(study, "sample")}
    return render(request, "annotation/study_sample.html", context)


@researcher_required
@require_POST
def study_open(request: HttpRequest, slug: str) -> HttpResponse:
    """Let annotators begin, or go on."""
    study = get_object_or_404(Study, slug=slug)
    with show_errors(request):
        studies.open(by=get_account(request), study=study)
        messages.success(request, describe_opening(study))
    return redirect("study_detail", slug=slug)


@researcher_required
@require_POST
def study_close(request: HttpRequest, slug: str) -> HttpResponse:
    """Take no more labels."""
    study = get_object_or_404(Study, slug=slug)
    with show_errors(request):
        studies.close(by=get_account(request), study=study)
        messages.success(
            request, _("{study} is closed. All labels are kept; it can be opened again.").format(study=study)
        )
    return redirect("study_detail", slug=slug)


@researcher_required
@require_POST
def study_clustering(request: HttpRequest, slug: str) -> HttpResponse:
    """Say what dependent items share."""
    study = get_object_or_404(Study, slug=slug)
    form = ClusteringForm(request.POST, study=study)
    if not form.is_valid() or (told := form.save(get_account(request))) is None:
        study.refresh_from_db(fields=["clustering"])
        return detail(request, study, clustering=form)
    says = _("Intervals and tests now treat these as independent: {told}. Results are recomputed when you open them.")
    messages.success(request, says.format(told=told))
    return redirect("study_detail", slug=slug)


@researcher_required
@require_POST
def study_assign(request: HttpRequest, slug: str) -> HttpResponse:
    """Add annotators."""
    study = get_object_or_404(Study, slug=slug)
    form = AnnotatorsForm(request.POST, people=queries.assignable(study))
    if not form.is_valid():
        return detail(request, study, form)
    people = list(form.cleaned_data["annotators"])
    assignments.add_annotators(by=get_account(request), study=study, annotators=people)
    says = _("{people} can rate {study} now.")
    if study.state == Study.State.DRAFT:
        says = _("{people} can rate {study} once it is open.")
    messages.success(request, says.format(people=", ".join(map(str, people)), study=study))
    return redirect("study_detail", slug=slug)


@researcher_required
@require_POST
def study_release(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Give what an annotator has begun or skipped to the others."""
    study = get_object_or_404(Study, slug=slug)
    annotator = get_object_or_404(User, pk=pk)
    released = assignments.release(by=get_account(request), study=study, annotator=annotator)
    messages.success(
        request,
        _("Given back for others to rate: {released} of {annotator}.").format(released=released, annotator=annotator),
    )
    return redirect("study_detail", slug=slug)


@researcher_required
def search(request: HttpRequest) -> HttpResponse:
    """People, studies, items and material whose name or id contains what was typed."""
    text = request.GET.get("q", "").strip()
    found = search_queries.search(text, by=get_account(request)) if text else []
    return render(request, "annotation/search.html", {"q": text, "found": found, "most": search_queries.MOST})


def describe_opening(study: Study) -> str:
    """Say who can rate now."""
    if study.annotators.exists():
        says = _("{study} is open: its annotators find it under their work.")
    elif queries.list_recruiting([study.pk]):
        says = _("{study} is open: who joins by an invitation or the public address can rate at once.")
    else:
        says = _("{study} is open. Nobody can rate yet: add annotators or make an invitation link.")
    return says.format(study=study)


def detail(
    request: HttpRequest, study: Study, form: AnnotatorsForm | None = None, clustering: ClusteringForm | None = None
) -> HttpResponse:
    people = queries.annotator_rows(study)
    free = queries.assignable(study)
    samples = study.samples.annotate(drawn=Count("items")).order_by("created_at")
    context: dict[str, object] = {
        "study": study,
        "row": queries.study_row(study),
        "steps": study_steps(study),
        "people": people,
        "is_recruiting": bool(queries.list_recruiting([study.pk])),
        "counted_ago": queries.compute_count_age(study),
        "missing_people": max(study.limit - len(people), 0),
        "coverage": queries.coverage(study),
        "samples": [(sample, queries.load_strata(sample) if sample.strata else []) for sample in samples],
        "criteria": study.criteria.all(),
        "shown": [label for key, label in PARTS[study.kind].items() if key in study.shown],
        "form": form or AnnotatorsForm(people=free),
        "anyone_free": free.exists(),
        "clustering": clustering or ClusteringForm(study=study),
        "missing_context": find_missing_context(study),
    }
    return render(request, "annotation/study_detail.html", context)
