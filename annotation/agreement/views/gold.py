"""Gold labels: how many items have one and why others have none, item by item, and as files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import cast, get_args
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_noop
from django.views.decorators.http import require_safe

from annotation.agreement.options import GoldOptions
from annotation.agreement.result_types import GoldDocument
from annotation.agreement.services import gold as service
from annotation.stats.by_level import explain_missing
from annotation.stats.gold import REASONS, GoldMethod, list_methods
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries import ratings
from annotation.studies.queries.ratings import PeoplesRatings
from annotation.studies.queries.scales import name_label
from annotation.studies.steps import study_steps
from annotation.studies.views.large import reads_all
from core.accounts.access import researcher_required
from core.csv_files import csv_pieces
from core.documents import Row, pieces
from core.downloads import attach_pieces
from core.errors import InputError

PER_PAGE = 50
SOURCES = {
    "majority": gettext_noop("majority of the annotators"),
    "median": gettext_noop("median of the annotators"),
    "consensus": gettext_noop("consensus of the annotators"),
    "dawid_skene": gettext_noop("Dawid and Skene"),
    "model": gettext_noop("difficulty model"),
    "adjudication": gettext_noop("adjudicated"),
}
METHODS = get_args(GoldMethod)
COLUMNS = ("position", "item", "gold", "source", "confidence", "reason", "candidates")


@dataclass(frozen=True)
class GoldRequest:
    """What the address asks for: a criterion with its ratings, how gold is made, and which items are listed."""

    ours: PeoplesRatings | None
    criteria: tuple[PeoplesRatings, ...]
    options: GoldOptions
    only: str

    @classmethod
    def from_query(cls, study: Study, query: Mapping[str, str]) -> GoldRequest:
        """Raises InputError where the query makes no sense."""
        options = GoldOptions(method=cast(GoldMethod | None, query.get("method") or None))
        read, key = ratings.load_study(study), query.get("criterion", "")
        ours = next((one for one in read if key in ("", one.criterion.key)), None)
        if key and ours is None:
            raise InputError("no criterion is called {key!r}", field="criterion", key=key)
        return cls(ours, read, options, query.get("only", ""))

    def to_query(self, **other: str) -> str:
        """For an address."""
        key = self.ours.criterion.key if self.ours else ""
        given = {"criterion": key, "method": self.options.method, "only": self.only, **other}
        return urlencode({name: value for name, value in given.items() if value})


@researcher_required
@require_safe
@reads_all(gettext_noop("Gold labels"), "gold", "gold")
def gold(request: HttpRequest, slug: str) -> HttpResponse:
    """The gold of one criterion."""
    study = get_object_or_404(Study, slug=slug)
    context: dict[str, object] = {"study": study, "steps": study_steps(study, "gold"), "methods": name_methods(METHODS)}
    try:
        asked = GoldRequest.from_query(study, request.GET.dict())
    except InputError as error:
        return render(request, "annotation/gold.html", {**context, "error": error}, status=400)
    context["asked"] = asked
    if asked.ours is None or not asked.ours.table.n_ratings:
        return render(request, "annotation/gold.html", context)
    context |= {"criterion": asked.ours.criterion, "missing": explain_missing("gold", asked.ours.table.level)}
    try:
        found = service.compute_criterion(study, asked.ours, asked.options, only=asked.only)
    except InputError as error:
        return render(request, "annotation/gold.html", {**context, "error": error}, status=400)
    if "items" not in found:
        return render(request, "annotation/gold.html", context)
    page = Paginator(found["items"], PER_PAGE).get_page(request.GET.get("page"))
    page.object_list = [_labelled(item, asked.ours.criterion) for item in page]
    context |= {
        "methods": name_methods(list_methods(asked.ours.table)),
        "found": found,
        "total": sum(found["counts"].values()),
        "with_gold": sum(n for name, n in found["counts"].items() if name not in REASONS),
        "counts": [
            (name_source(name) or name, name in REASONS, n, f"?{asked.to_query(only=name)}")
            for name, n in found["counts"].items()
        ],
        "page": page,
        "all_href": f"?{asked.to_query(only='')}",
        "downloads": [
            (name.upper(), f"{reverse('gold_download', args=[study.slug, name])}?{asked.to_query(only='')}")
            for name in DOWNLOADS
        ],
    }
    return render(request, "annotation/gold.html", context)


def name_source(source: str | None) -> str:
    """Where gold comes from, in words; empty for what is no source."""
    return _(SOURCES[source]) if source in SOURCES else ""


def name_methods(methods: Iterable[str]) -> list[tuple[str, str]]:
    return [(name, name_source(name)) for name in methods]


def _labelled(item: Row, criterion: Criterion) -> Row:
    """The item with its values as they are called on the scale."""
    return {
        **item,
        "label": name_label(criterion, str(item["gold"])) if item["gold"] is not None else "",
        "from": name_source(item["source"]),
        "tied": _(" or ").join(name_label(criterion, str(value)) for value in item["candidates"]),
    }


@researcher_required
@require_safe
def gold_download(request: HttpRequest, slug: str, format: str) -> HttpResponseBase:
    """The same as json or csv, an item a row."""
    study = get_object_or_404(Study, slug=slug)
    try:
        asked = GoldRequest.from_query(study, request.GET.dict())
    except InputError as error:
        raise Http404(str(error)) from error
    if format not in DOWNLOADS or asked.ours is None:
        raise Http404(f"gold is not given as {format}")
    try:
        found = service.compute_criterion(study, asked.ours, asked.options)
    except InputError as error:
        raise Http404(str(error)) from error
    if "items" not in found:
        raise Http404(found["reason"])
    return attach_pieces(DOWNLOADS[format](found), name=f"{study.slug}-gold.{format}")


def _csv(found: GoldDocument) -> Iterator[str]:
    cells = ({**item, "candidates": " | ".join(map(str, item["candidates"]))} for item in found["items"])
    return csv_pieces(COLUMNS, ([item[name] for name in COLUMNS] for item in cells))


DOWNLOADS: dict[str, Callable[[GoldDocument], Iterator[str]]] = {
    "json": pieces,
    "csv": _csv,
}
