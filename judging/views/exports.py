"""All labels of a study as a file, streamed."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from annotation.access import researcher_required
from annotation.models import Study
from annotation.services.exports import FORMATS
from judging.services import exports


@researcher_required
@require_safe
def export(request: HttpRequest, slug: str, format: str) -> HttpResponseBase:  # noqa: ARG001
    """One row per label, people's first."""
    if format not in FORMATS:
        raise Http404(f"labels are not given as {format}; there are {', '.join(FORMATS)}")
    study, fmt = get_object_or_404(Study, slug=slug), FORMATS[format]
    response = StreamingHttpResponse(fmt.lines(exports.labels_of(study)), content_type=fmt.content_type)
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-labels.{fmt.name}"'
    return response
