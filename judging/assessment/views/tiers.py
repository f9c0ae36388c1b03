"""The tiers page: by the difficulty model, or counted from each item's own ratings; its downloads, more ratings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_noop, ngettext
from django.views.decorators.http import require_POST, require_safe

from annotation.agreement.result_types import BothTiersDocument, CountedTiersDocument, NoResultDocument
from annotation.agreement.services import difficulty, stored_difficulty, tiers as service
from annotation.agreement.services.label_files import TIERS
from annotation.agreement.services.tiers import TierOptions
from annotation.stats.by_level import explain_missing
from annotation.studies.models.studies import Study
from annotation.studies.queries import items, ratings
from annotation.studies.queries.ratings import PeoplesRatings
from annotation.studies.steps import study_steps
from annotation.studies.views.large import WHOLE, reads_all
from annotation.workbench.services.overlap import ask_more
from core.accounts.access import get_account, researcher_required
from core.csv_files import csv_pieces
from core.documents import Rows, pieces
from core.downloads import attach_pieces
from core.errors import InputError
from core.files.writing import table_pieces
from core.messages import show_errors
from judging.assessment import charts, wording
from judging.assessment.views import model_tiers
from judging.assessment.views.tier_requests import COUNTED, TierRequest

PER_PAGE = 50
TITLES = {"json": "JSON", "csv": "CSV", "parquet": "Parquet"}
MOST_PLANS = 4
"""Numbers of ratings whose attainable values the page draws; the download holds all."""

ITEMS_NOTE = gettext_noop("Stability: how often a redraw of its own ratings stays in its tier")
SORTS = ("position", "kappa", "stability")


@researcher_required
@require_safe
@reads_all(gettext_noop("How contested each item is"), "tiers", "tiers")
def tiers(request: HttpRequest, slug: str) -> HttpResponse:
    """How many items there are of each tier by the difficulty model, and which are unclear; or by counting."""
    study = get_object_or_404(Study, slug=slug)
    context: dict[str, object] = {
        "study": study,
        "groupings": wording.name_groupings(items.GROUPINGS),
        "steps": study_steps(study, "tiers"),
    }
    try:
        asked = TierRequest.from_query(study, request.GET.dict())
        read = {one.criterion.pk: one for one in ratings.load_study(study)}
        criteria = list(read.values())
        context |= {"asked": asked, "criteria": criteria}
        ours = read.get(asked.criterion.pk) if asked.criterion else None
        if ours is None or not ours.table.n_ratings:
            return render(request, "judging/tiers.html", context)
        if missing := explain_missing("tiers", ours.table.level):
            return render(request, "judging/tiers.html", {**context, "criterion": ours.criterion, "missing": missing})
        context |= _by_model(request, study, asked, criteria, ours)
        if "model" not in context:
            context |= _counted(request, study, asked, criteria, ours)
    except InputError as error:
        return render(request, "judging/tiers.html", {**context, "error": error}, status=400)
    preview = context.get("preview")
    is_refused = isinstance(preview, dict) and "error" in preview
    return render(request, "judging/tiers.html", context, status=400 if is_refused else 200)


def _by_model(
    request: HttpRequest, study: Study, asked: TierRequest, read: list[PeoplesRatings], ours: PeoplesRatings
) -> dict[str, object]:
    """What the model says; where it says nothing, why. Nothing at all where the counted tiers are asked for."""
    context = {"downloads": _downloads(study, asked), "modes": _modes(asked)}
    if asked.mode == COUNTED:
        return context
    fits = model_tiers.Fits.read(read, ours, asked, patient=WHOLE in request.GET)
    if fits.ours.found is None:
        later = _later(request, study, asked) if fits.ours.is_left else {}
        return {**context, "not_fitted": fits.ours.reason, **later}
    return {**context, **model_tiers.context(study, asked, ours, fits, request.GET.dict())}


def _modes(asked: TierRequest) -> list[tuple[str, str, bool]]:
    """Names and addresses of the two ways to make tiers, and whether each is the one shown."""
    return [
        (label, asked.set_mode(mode), mode == asked.mode)
        for mode, label in (("", _("By the difficulty model")), (COUNTED, _("Counted")))
    ]


def _later(request: HttpRequest, study: Study, asked: TierRequest) -> dict[str, object]:
    """What stands of a fit that is left to a worker, and how to ask for it."""
    query = request.GET.copy()
    return {
        "waiting": stored_difficulty.find_request(study, asked.agreeing),
        "compute": reverse("tiers_compute", args=[study.slug]) + f"?{query.urlencode()}",
        "here": f"?{query.urlencode()}",
    }


@researcher_required
@require_POST
def tiers_compute(request: HttpRequest, slug: str) -> HttpResponse:
    """Leave the fits of a large study to a worker."""
    study = get_object_or_404(Study, slug=slug)
    here = reverse("tiers", args=[slug]) + (f"?{request.GET.urlencode()}" if request.GET else "")
    with show_errors(request):
        cuts = TierRequest.from_query(study, request.GET.dict()).agreeing
        stored_difficulty.ask(by=get_account(request), study=study, cuts=cuts)
    return redirect(here)


def _counted(
    request: HttpRequest, study: Study, asked: TierRequest, read: list[PeoplesRatings], ours: PeoplesRatings
) -> dict[str, object]:
    """Counts, attainable values, groups and the items by their own kappa."""
    found = service.compute_criterion(study, ours, asked.options, by=asked.by or None)
    page = Paginator(_sorted(found["items"], request.GET.get("sort", "")), PER_PAGE)
    return {**_context(study, asked, read, found), "page": page.get_page(request.GET.get("page"))}


def _sorted(rows: Rows, sort: str) -> Rows:
    """By a column, `-column` for descending; what is undefined comes last either way round ascending."""
    return (
        rows.sort_by(sort.removeprefix("-"), descending=sort.startswith("-"))
        if sort.removeprefix("-") in SORTS
        else rows
    )


def _context(
    study: Study, asked: TierRequest, read: list[PeoplesRatings], found: CountedTiersDocument
) -> dict[str, object]:
    shifted = found["sensitivity"]
    return {
        "found": found,
        "counted_lead": wording.describe_counted_tiers(asked.criterion.name, found, asked.criterion.part_noun)
        if asked.criterion
        else "",
        "counts": [(tier, found["counts"][tier], asked.items_address(study, tier)) for tier in charts.TIERS],
        "bars": charts.draw_on_page(charts.tier_bars, _bars(asked, read, found)),
        "bars_caption": _bars_caption(asked, found),
        "items_note": _(ITEMS_NOTE),
        "plans": [
            (
                plan,
                charts.draw_on_page(charts.attainable, plan),
                asked.set_cuts(plan["suggested_cuts"]),
            )
            for plan in found["plans"][:MOST_PLANS]
        ],
        "more_plans": max(len(found["plans"]) - MOST_PLANS, 0),
        "shifted": [(row["shift"], row["cuts"], [row["counts"][t] for t in charts.TIERS]) for row in shifted],
        "tier_names": charts.TIERS,
    }


def _downloads(study: Study, asked: TierRequest) -> list[tuple[str, str]]:
    return [(TITLES[f], f"{reverse('tiers_download', args=[study.slug, f])}?{asked.to_query()}") for f in DOWNLOADS]


def _bars_caption(asked: TierRequest, found: CountedTiersDocument) -> str:
    by = wording.name_grouping(asked.by) if "groups" in found else _("criterion")
    contested, hard, medium = (f"{cut:g}" for cut in asked.options.cuts)
    return _(
        "Share of items per tier, by {by}: easy above {medium}, medium above {hard}, hard above {contested}, else "
        "contested."
    ).format(by=by, medium=medium, hard=hard, contested=contested)


def _bars(
    asked: TierRequest, read: list[PeoplesRatings], found: CountedTiersDocument
) -> list[tuple[str, Mapping[str, int]]]:
    """The groups of this criterion where it is grouped, else all criteria."""
    if "groups" in found:
        return [(group["group"], group["counts"]) for group in found["groups"]]
    quick = TierOptions(asked.options.cuts, asked.options.chance, draws=0)
    return [
        (one.criterion.name, service.compute_table(one.table, quick)["counts"]) for one in read if one.table.n_ratings
    ]


@researcher_required
@require_safe
def tiers_download(request: HttpRequest, slug: str, format: str) -> HttpResponseBase:
    """The same as json, csv or parquet (an item a row)."""
    study = get_object_or_404(Study, slug=slug)
    try:
        asked = TierRequest.from_query(study, request.GET.dict())
        if format not in DOWNLOADS or asked.criterion is None:
            raise Http404(f"tiers are not given as {format}")
        rated, patient, by = ratings.load_criterion(asked.criterion), WHOLE in request.GET, asked.by or None
        found = difficulty.compute_both_tiers(
            study, rated, asked.options, by=by, agreeing=asked.agreeing, patient=patient
        )
    except InputError as error:
        raise Http404(str(error)) from error
    return attach_pieces(DOWNLOADS[format](found), name=f"{study.slug}-tiers.{format}")


OWN = ("item", "position", "n_ratings", "kappa", "tier", "computed_tier", "reason", "stability")
"""Columns of an item's counted tier; those of the model follow."""


def _rows(found: BothTiersDocument | NoResultDocument) -> Iterator[list[object]]:
    if "items" not in found:
        raise Http404(found["reason"])
    rows = difficulty.join_model_tiers(found["items"], found["difficulty"])
    return ([item[column] for column in (*OWN, *difficulty.COLUMNS)] for item in rows)


def _csv(found: BothTiersDocument | NoResultDocument) -> Iterator[str]:
    return csv_pieces((*OWN, *difficulty.COLUMNS), _rows(found))


def _parquet(found: BothTiersDocument | NoResultDocument) -> Iterator[bytes]:
    return table_pieces(_rows(found), TIERS)


DOWNLOADS: dict[str, Callable[[BothTiersDocument | NoResultDocument], Iterator[str] | Iterator[bytes]]] = {
    "json": pieces,
    "csv": _csv,
    "parquet": _parquet,
}


@researcher_required
@require_POST
def tiers_ask_more(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask for one more rating of each item that is named."""
    study = get_object_or_404(Study, slug=slug)
    with show_errors(request):
        n = ask_more(by=get_account(request), study=study, positions=parse_positions(request.POST.get("positions", "")))
        said = ngettext("One more rating is asked for of {n} item.", "One more rating is asked for of {n} items.", n)
        messages.success(request, said.format(n=n))
    query = urlencode({"criterion": request.POST.get("criterion", "")})
    return redirect(f"{reverse('tiers', args=[slug])}?{query}#more")


def parse_positions(text: str) -> list[int]:
    """Positions as a form sends them, 3,8,21. Raises InputError where they are none."""
    try:
        found = [int(part) for part in text.split(",")]
    except ValueError as error:
        raise InputError(
            "{text!r} is not a list of positions such as 3,8,21", field="positions", text=text[:40]
        ) from error
    if not all(0 < one < 2**31 for one in found):
        raise InputError("Positions count from 1.", field="positions")
    return found
