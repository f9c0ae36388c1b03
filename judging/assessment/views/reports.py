"""The report of a study, as a page and as files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_safe

from annotation.studies.models.studies import Study
from annotation.studies.steps import study_steps
from annotation.studies.views.large import WHOLE, reads_all
from core.accounts.access import researcher_required
from core.downloads import attach_file
from judging.assessment import charts
from judging.assessment.report_types import JudgeSections, ReportDocument
from judging.assessment.services import report as service, rules, stored_pages
from judging.assessment.services.items import SCORED, SEVERAL
from judging.assessment.views.items import build_items_address
from judging.assessment.views.verdict import reader

FORMAT_NAMES = {"latex": "LaTeX", "bibtex": "BibTeX"}
"""Of the downloads whose name is not written in capitals."""


@researcher_required
@require_safe
@reads_all(gettext_noop("Report"), "report -o report.html", "report")
def report(request: HttpRequest, slug: str) -> HttpResponse:
    """What would be attached to a paper."""
    study = get_object_or_404(Study, slug=slug)
    stored = stored_pages.load_or_compute(
        study, service.PAGE, lambda: service.compute_page(by=reader(request), study=study), anew=WHOLE in request.GET
    )
    document = stored.found.document
    if stored.is_refreshed:
        if stored.found.judges:
            rules.lock(by=reader(request), study=study)
        document = {**document, "rules_on_record": service.describe_rules(study)}
    sections = service.sections(document, charts.draw_on_page)
    _add_links(study, document, sections, stored.found.judges)
    context = {
        "study": study,
        "steps": study_steps(study, "report"),
        "report": document,
        "sections": sections,
        "criteria": service.regroup_by_criterion(sections),
        "whole": False,
        "waiting": stored.found.waiting,
        "stored": stored,
        "downloads": [
            (FORMAT_NAMES.get(name, name.upper()), reverse("report_download", args=[study.slug, name]))
            for name in service.FORMATS
        ],
    }
    return render(request, "judging/report.html", context)


def _add_links(
    study: Study, document: ReportDocument, sections: Sequence[JudgeSections], judges: Mapping[str, int]
) -> None:
    """From each figure to the items under it, and from each verdict to its page."""
    for key, found in document["people"].items():
        found["href"] = build_items_address(study, key)(people=SEVERAL)
    for part in sections:
        for section in part["criteria"]:
            key, run = section["found"]["criterion"], str(section["found"]["run"])
            items = build_items_address(study, key)
            section["href"] = reverse("criterion_verdict", args=[study.slug, judges[part["judge"]], key])
            section["scored_href"], section["people_href"] = items(run=run, outcome=SCORED), items(people=SEVERAL)
            for tier, one in section["verdict"]["tiers"].items():
                one["href"] = items(run=run, outcome=SCORED, tier=tier)


@researcher_required
@require_safe
def report_download(request: HttpRequest, slug: str, format: str) -> HttpResponse:
    """The report in one of its formats. A file is in English, whatever the language of the page."""
    if format not in service.FORMATS:
        raise Http404(f"the report is not given as {format}")
    study = get_object_or_404(Study, slug=slug)
    ending, content = service.FORMATS[format]
    with translation.override("en"):
        written = content(service.compute_page(by=reader(request), study=study).document)
    return attach_file(written, name=f"{study.slug}-report.{ending}")
