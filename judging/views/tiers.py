"""The tiers page: how contested each item is, which tiers are possible at all, and how much the cuts matter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from annotation.access import researcher_required
from annotation.documents import Rows, pieces
from annotation.errors import InputError
from annotation.markup import drawing
from annotation.models import Criterion, Study
from annotation.queries import items, ratings
from annotation.queries.ratings import PeoplesRatings
from annotation.services import tiers as service
from annotation.services.exports import csv_pieces
from annotation.services.tiers import TierOptions, chance_from, cuts_from
from annotation.steps import study_steps
from annotation.views.large import reads_all
from judging import charts
from judging.services.items import ItemFilter, criterion_of

PER_PAGE = 50
MOST_PLANS = 4
"""Numbers of ratings whose attainable values the page draws; the download holds all."""

GROUPINGS = {name: name.replace("_", " ") for name in items.GROUPINGS}
ITEMS_NOTE = "Stability: how often a redraw of the item’s own ratings stays in its tier"
CUTS = "0.4,0.6,0.8"
SORTS = ("position", "kappa", "stability")


@dataclass(frozen=True)
class Asked:
    """What the address asks for.

    Attributes
    ----------
    criterion
        None where the study has none.
    cuts
        As they were typed.
    by
        A grouping, or empty.
    """

    criterion: Criterion | None
    cuts: str
    by: str
    options: TierOptions

    @classmethod
    def of(cls, study: Study, query: Mapping[str, str]) -> Asked:
        """Raises InputError where the query makes no sense."""
        cuts, chance = query.get("cuts") or CUTS, query.get("chance") or "uniform"
        options = TierOptions(cuts_from(cuts), chance_from(chance))
        return cls(criterion_of(study, query.get("criterion", "")), cuts, query.get("by", ""), options)

    def as_query(self) -> str:
        """For an address."""
        given = {"criterion": self.criterion.key if self.criterion else "", "cuts": self.cuts, "by": self.by}
        return urlencode({**{key: value for key, value in given.items() if value}, "chance": self.options.chance})

    def with_cuts(self, cuts: Sequence[float] | None) -> str:
        """The same with other cuts, as an address; empty for none."""
        if cuts is None:
            return ""
        return f"?{replace(self, cuts=','.join(f'{cut:g}' for cut in cuts)).as_query()}"

    def items_address(self, study: Study, tier: str) -> str:
        """Where the items of a tier are listed."""
        wanted = ItemFilter(
            criterion=self.criterion.key if self.criterion else "",
            tier=tier,
            cuts=self.cuts,
            chance=self.options.chance,
        )
        return f"{reverse('item_list', args=[study.slug])}?{urlencode(wanted.as_query())}"


@researcher_required
@require_safe
@reads_all("How contested each item is", "tiers", "tiers")
def tiers(request: HttpRequest, slug: str) -> HttpResponse:
    """Counts, attainable values, groups and the items themselves, of one criterion."""
    study = get_object_or_404(Study, slug=slug)
    context: dict[str, Any] = {"study": study, "groupings": GROUPINGS.items(), "steps": study_steps(study, "tiers")}
    try:
        asked = Asked.of(study, request.GET.dict())
        read = {one.criterion.pk: one for one in ratings.of_study(study)}
        ours = read.get(asked.criterion.pk) if asked.criterion else None
        if ours is None or not ours.table.n_ratings:
            return render(request, "judging/tiers.html", {**context, "asked": asked, "criteria": read.values()})
        found = service.of_criterion(study, ours, asked.options, by=asked.by or None)
    except InputError as error:
        return render(request, "judging/tiers.html", {**context, "error": error}, status=400)
    context |= _context(study, asked, list(read.values()), found)
    context["page"] = Paginator(_sorted(found["items"], request.GET.get("sort", "")), PER_PAGE).get_page(
        request.GET.get("page")
    )
    return render(request, "judging/tiers.html", context)


def _sorted(rows: Rows, sort: str) -> Rows:
    """By a column, `-column` for descending; what is undefined comes last either way round ascending."""
    return rows.by(sort.removeprefix("-"), descending=sort.startswith("-")) if sort.removeprefix("-") in SORTS else rows


def _context(study: Study, asked: Asked, read: list[PeoplesRatings], found: Mapping[str, Any]) -> dict[str, Any]:
    shifted = found["sensitivity"]
    return {
        "asked": asked,
        "criteria": read,
        "found": found,
        "counts": [(tier, found["counts"][tier], asked.items_address(study, tier)) for tier in charts.TIERS],
        "bars": _drawn(charts.tier_bars(_bars(asked, read, found), charts.PAGE)),
        "bars_caption": _bars_caption(asked, found),
        "items_note": ITEMS_NOTE,
        "plans": [
            (plan, _drawn(charts.attainable(plan, charts.PAGE)), asked.with_cuts(plan["suggested_cuts"]))
            for plan in found["plans"][:MOST_PLANS]
        ],
        "more_plans": max(len(found["plans"]) - MOST_PLANS, 0),
        "shifted": [(row["shift"], row["cuts"], [row["counts"][t] for t in charts.TIERS]) for row in shifted],
        "tier_names": charts.TIERS,
        "downloads": [
            (f.upper(), f"{reverse('tiers_download', args=[study.slug, f])}?{asked.as_query()}") for f in DOWNLOADS
        ],
    }


def _bars_caption(asked: Asked, found: Mapping[str, Any]) -> str:
    by = GROUPINGS[asked.by] if "groups" in found else "criterion"
    contested, hard, medium = asked.options.cuts
    return (
        f"Share of items per tier, by {by}: easy above {medium:g}, medium above {hard:g}, hard above {contested:g}, "
        "else contested."
    )


def _bars(asked: Asked, read: list[PeoplesRatings], found: Mapping[str, Any]) -> list[tuple[str, Mapping[str, int]]]:
    """The groups of this criterion where it is grouped, else all criteria."""
    if "groups" in found:
        return [(group["group"], group["counts"]) for group in found["groups"]]
    quick = TierOptions(asked.options.cuts, asked.options.chance, draws=0)
    return [(one.criterion.name, service.of_table(one.table, quick)["counts"]) for one in read if one.table.n_ratings]


def _drawn(spec: Mapping[str, Any]) -> SafeString:
    return drawing(charts.svg(spec))


@researcher_required
@require_safe
def tiers_download(request: HttpRequest, slug: str, format: str) -> HttpResponseBase:
    """The same as json or csv (an item a row)."""
    study = get_object_or_404(Study, slug=slug)
    try:
        asked = Asked.of(study, request.GET.dict())
        if format not in DOWNLOADS or asked.criterion is None:
            raise Http404(f"tiers are not given as {format}")
        found = service.of_criterion(study, ratings.of_criterion(asked.criterion), asked.options, by=asked.by or None)
    except InputError as error:
        raise Http404(str(error)) from error
    content_type, content = DOWNLOADS[format]
    response = StreamingHttpResponse(content(found), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-tiers.{format}"'
    return response


def _csv(found: Mapping[str, Any]) -> Iterator[str]:
    columns = ("item", "position", "n_ratings", "kappa", "tier", "computed_tier", "reason", "stability")
    return csv_pieces(columns, ([item[column] for column in columns] for item in found["items"]))


DOWNLOADS: dict[str, tuple[str, Callable[[Mapping[str, Any]], Iterator[str]]]] = {
    "json": ("application/json; charset=utf-8", pieces),
    "csv": ("text/csv; charset=utf-8", _csv),
}
