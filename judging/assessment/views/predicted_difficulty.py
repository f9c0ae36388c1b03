"""Difficulty of items that nobody rated: whether it can be predicted, with which error, and what to expect."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_noop
from django.views.decorators.http import require_safe

from annotation.agreement.services.predicted_difficulty import SCOPES, STUDY, PredictionOptions
from annotation.stats.bands import TIERS
from annotation.stats.difficulty.result_types import BlurDocument, ErrorFigure
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries.studies import criterion_called
from annotation.studies.steps import study_steps
from annotation.studies.views.large import WHOLE, reads_all
from core.accounts.access import researcher_required
from core.csv_files import csv_pieces
from core.documents import pieces
from core.downloads import attach_pieces
from core.errors import InputError
from judging.assessment.agreement_types import JudgeByTierDocument, PredictionDocument
from judging.assessment.services import predicted_difficulty as service, stored_pages
from judging.stats.calibration_types import AccuracyAtDocument

PER_PAGE = 50
MOST_SLOPES = 8
"""Features that the page names, the strongest first; the download holds all."""

SCOPE_NAMES = {
    "study": gettext_noop("items of this study without ratings"),
    "dataset": gettext_noop("everything unrated in its dataset"),
}
FIGURES: tuple[tuple[ErrorFigure, str], ...] = (
    ("gain", gettext_noop("Squared error below that of guessing the mean, as a share")),
    ("rank_correlation", gettext_noop("Rank correlation with fitted difficulty, -1 to 1")),
    ("slope", gettext_noop("Calibration slope: 1 is calibrated")),
    ("squared_error", gettext_noop("Squared error of the prediction")),
    ("squared_error_of_mean", gettext_noop("Squared error of guessing the mean")),
)
NAMES = TIERS[::-1]


@dataclass(frozen=True)
class PredictionRequest:
    """What the address asks for."""

    criterion: Criterion
    scope: str

    @classmethod
    def from_query(cls, study: Study, query: Mapping[str, str]) -> PredictionRequest:
        """Raises InputError where the query makes no sense."""
        scope = query.get("of") or STUDY
        if scope not in SCOPES:
            raise InputError("{scope!r} is neither study nor dataset", field="of", scope=scope)
        return cls(criterion_called(study, query.get("criterion", "") or find_first_criterion(study)), scope)

    def to_query(self) -> str:
        """For an address."""
        return urlencode({"criterion": self.criterion.key, "of": self.scope})


def find_first_criterion(study: Study) -> str:
    """The first criterion that is asked of whole items, else the first; empty without one."""
    keys = [one.key for one in sorted(study.criteria.all(), key=lambda one: one.unit != Criterion.Unit.ITEM)]
    return next(iter(keys), "")


@researcher_required
@require_safe
@reads_all(gettext_noop("Predicted difficulty"), "tiers --predict", "tiers")
def tiers_predicted(request: HttpRequest, slug: str) -> HttpResponse:
    """One criterion: the answer in a sentence, the errors, judges by tier, the items."""
    study = get_object_or_404(Study, slug=slug)
    context: dict[str, object] = {"study": study, "steps": study_steps(study, "tiers")}
    try:
        asked = PredictionRequest.from_query(study, request.GET.dict())
        stored = stored_pages.load_or_compute(
            study,
            service.name_page(asked.criterion, asked.scope),
            lambda: service.compute_criterion(
                study, asked.criterion, PredictionOptions(scope=asked.scope), patient=False
            ),
            anew=WHOLE in request.GET,
        )
    except InputError as error:
        return render(request, "judging/tiers_predicted.html", {**context, "error": error}, status=400)
    context |= {"stored": stored, **_context(study, asked, stored.found)}
    context["page"] = Paginator(stored.found["items"], PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "judging/tiers_predicted.html", context)


def _context(study: Study, asked: PredictionRequest, found: PredictionDocument) -> dict[str, object]:
    error, blur = found["error"], found.get("blur")
    slopes = sorted(found.get("slopes", {}).items(), key=lambda one: -abs(one[1]))
    return {
        "asked": asked,
        "found": found,
        "answer": service.summarise(found),
        "scopes": [(scope, _(name)) for scope, name in SCOPE_NAMES.items()],
        "criteria": list(study.criteria.all()),
        "figures": [(_(name), error[key]) for key, name in FIGURES] if error else [],
        "slopes": slopes[:MOST_SLOPES],
        "expected": [(tier, found["expected_counts"][tier]) for tier in NAMES] if found["n_items"] else [],
        "confusion": [
            (tier, [blur["predicted_by_fitted"][tier][other] for other in NAMES], _sum(blur, tier)) for tier in NAMES
        ]
        if blur
        else [],
        "tier_names": NAMES,
        "judges": [(one, _judge_rows(one)) for one in found["judges"] if one["fitted"]],
        "downloads": [
            (kind.upper(), f"{reverse('tiers_predicted_download', args=[study.slug, kind])}?{asked.to_query()}")
            for kind in DOWNLOADS
        ],
    }


def _sum(blur: BlurDocument, tier: str) -> float:
    return float(sum(blur["predicted_by_fitted"][tier].values()))


def _judge_rows(one: JudgeByTierDocument) -> list[tuple[str, AccuracyAtDocument, AccuracyAtDocument]]:
    """By tier, the judge within it as fitted and as predicted."""
    fitted, predicted = one["fitted"], one["predicted"]
    if not fitted or not predicted:
        return []
    return [(tier, fitted["by_tier"][tier], predicted["by_tier"][tier]) for tier in NAMES]


@researcher_required
@require_safe
def tiers_predicted_download(request: HttpRequest, slug: str, format: str) -> HttpResponseBase:
    """The same as json or csv (an item a row)."""
    study = get_object_or_404(Study, slug=slug)
    if format not in DOWNLOADS:
        raise Http404(f"predicted difficulty is not given as {format}")
    try:
        asked = PredictionRequest.from_query(study, request.GET.dict())
        found = service.compute_criterion(study, asked.criterion, PredictionOptions(scope=asked.scope), patient=False)
    except InputError as error:
        raise Http404(str(error)) from error
    return attach_pieces(DOWNLOADS[format](found), name=f"{study.slug}-predicted-difficulty.{format}")


def _csv(found: PredictionDocument) -> Iterator[str]:
    rows = (
        [
            row["item"],
            row["position"],
            row.get("turn"),
            *(row["difficulty"][key] for key in ("value", "low", "high")),
            row["tier"],
        ]
        + [row["tiers"][tier] for tier in NAMES]
        for row in found["items"]
    )
    return csv_pieces(("item", "position", "turn", "difficulty", "low", "high", "tier", *NAMES), rows)


DOWNLOADS: dict[str, Callable[[PredictionDocument], Iterator[str]]] = {
    "json": pieces,
    "csv": _csv,
}
