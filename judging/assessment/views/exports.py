"""All labels of a study as a file, streamed."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.agreement.services import rewrites
from annotation.agreement.services.exports import FORMATS
from annotation.agreement.services.item_tiers import ItemTiers
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Study
from annotation.studies.steps import study_steps
from core import row_counts
from core.accounts.access import researcher_required
from core.downloads import audit_export, stream_file, stream_zip
from core.errors import InputError
from judging.assessment.services import rules
from judging.assessment.views.verdict import reader
from judging.runs.services import exports, hf_dataset, tool_files


@researcher_required
@require_safe
@audit_export("labels")
def export(request: HttpRequest, slug: str, format: str) -> HttpResponseBase:
    """One row per label, people's first. Of people their ratings; ?purpose=check, repeat, … for other answers.

    With ?tiers=1 each row tells the tier of its item by the difficulty model.
    """
    if format not in FORMATS:
        raise Http404(f"labels are not given as {format}; there are {', '.join(FORMATS)}")
    study, fmt = get_object_or_404(Study, slug=slug), FORMATS[format]
    rules.lock_rules(by=reader(request), study=study)
    purposes = request.GET.getlist("purpose") or [Assignment.Purpose.RATING]
    try:
        tiers = ItemTiers.read(study, patient=False) if request.GET.get("tiers") else None
    except InputError as error:
        raise Http404(error.message) from error
    pieces = fmt.pieces(exports.load_labels(study, purposes, tiers=tiers))
    return stream_file(pieces, name=f"{study.slug}-labels.{fmt.name}")


@researcher_required
@require_safe
@audit_export("labels")
def export_package(request: HttpRequest, slug: str, tool: str) -> HttpResponseBase:
    """The study as the files of another tool, in one ZIP archive."""
    study = get_object_or_404(Study, slug=slug)
    members = hf_dataset.package(study, tool)
    if members is None:
        raise Http404(f"a study of {study.get_kind_display()} such as this one is not written for {tool}")
    rules.lock_rules(by=reader(request), study=study)
    return stream_zip(members, name=f"{study.slug}-{tool}.zip")


@researcher_required
@require_safe
def files(request: HttpRequest, slug: str) -> HttpResponse:
    """All files that the study can be written to, and what each leaves out."""
    study = get_object_or_404(Study, slug=slug)
    labels = exports.load_labels(study)
    context = {
        "study": study,
        "steps": study_steps(study, "report"),
        "tools": hf_dataset.list_tools(study),
        "has_other_than_pairs": tool_files.has_other_than_pairs(study),
        "rewrites": rewrites if rewrites.has_rewrites(study) else None,
        "formats": FORMATS.values(),
        "people": row_counts.count_up_to_limit(labels.people.plain),
        "judged": row_counts.count_up_to_limit(labels.judges.plain),
        "most": row_counts.LARGE,
    }
    return render(request, "judging/study_files.html", context)
