"""A study as one file, to be restored on another site."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_safe

from annotation.studies.models.studies import Study
from config.archives import writing
from core.accounts.access import researcher_required
from core.downloads import audit_export, stream_zip
from core.errors import InputError


@researcher_required
@require_safe
@audit_export("archive")
def study_archive(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The study with all that it rests on."""
    study = get_object_or_404(Study, slug=slug)
    try:
        writing.refuse_at_work(study)
    except InputError as error:
        messages.error(request, error.message)
        return redirect("study_files", slug)
    return stream_zip(writing.files(study), name=f"{study.slug}-archive.zip")
