"""All labels of a study as a file, streamed."""

from __future__ import annotations

from tempfile import TemporaryFile

from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.access import researcher_required
from annotation.exchange.registry import EXCHANGES
from annotation.models import Assignment, Study
from annotation.queries import size
from annotation.services.exports import FORMATS
from annotation.steps import study_steps
from judging.services import exports
from judging.services.exchanging import dataset, writing


@researcher_required
@require_safe
def export(request: HttpRequest, slug: str, format: str) -> HttpResponseBase:
    """One row per label, people's first. Of people their ratings; ?purpose=check, repeat, … for other answers."""
    if format not in FORMATS:
        raise Http404(f"labels are not given as {format}; there are {', '.join(FORMATS)}")
    study, fmt = get_object_or_404(Study, slug=slug), FORMATS[format]
    purposes = request.GET.getlist("purpose") or [Assignment.Purpose.RATING]
    response = StreamingHttpResponse(fmt.pieces(exports.labels_of(study, purposes)), content_type=fmt.content_type)
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-labels.{fmt.name}"'
    return response


@researcher_required
@require_safe
def export_for(request: HttpRequest, slug: str, tool: str) -> HttpResponseBase:  # noqa: ARG001
    """The study as the files of another tool, in one ZIP archive, which is on disk before the first byte is sent."""
    exchange, study = EXCHANGES.get(tool), get_object_or_404(Study, slug=slug)
    if tool != dataset.KEY and (exchange is None or not exchange.files or study.kind not in exchange.kinds):
        raise Http404(f"a study of {study.get_kind_display()} is not written for {tool}")
    archive = TemporaryFile()  # noqa: SIM115 - the response closes it
    if exchange is None:
        dataset.zipped(study, archive)
    else:
        writing.zipped(study, exchange, archive)
    archive.seek(0)
    return FileResponse(archive, as_attachment=True, filename=f"{study.slug}-{tool}.zip")


@researcher_required
@require_safe
def files(request: HttpRequest, slug: str) -> HttpResponse:
    """All files that the study can be written to, and what each leaves out."""
    study = get_object_or_404(Study, slug=slug)
    tools = [one for one in EXCHANGES.values() if one.files and study.kind in one.kinds]
    labels = exports.labels_of(study)
    context = {
        "study": study,
        "steps": study_steps(study),
        "tools": tools,
        "formats": FORMATS.values(),
        "people": size.at_most(labels.people.plain),
        "judged": size.at_most(labels.judges.plain),
        "most": size.LARGE,
    }
    return render(request, "judging/study_files.html", context)
