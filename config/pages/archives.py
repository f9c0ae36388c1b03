"""A study as one file, to be restored on another site."""

from __future__ import annotations

from tempfile import TemporaryFile

from django.contrib import messages
from django.http import FileResponse, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_safe

from annotation.access import researcher_required
from annotation.errors import InputError
from annotation.models import Study
from config.archives import writing


@researcher_required
@require_safe
def study_archive(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The study with all that it rests on. It is on disk before the first byte is sent."""
    study = get_object_or_404(Study, slug=slug)
    archive = TemporaryFile()  # noqa: SIM115 - the response closes it
    try:
        writing.write_into(study, archive)
    except InputError as error:
        archive.close()
        messages.error(request, error.message)
        return redirect("study_files", slug)
    archive.seek(0)
    return FileResponse(archive, as_attachment=True, filename=f"{study.slug}-archive.zip")
