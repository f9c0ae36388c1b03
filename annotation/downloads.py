"""Answers that are files: sent while they are made."""

from __future__ import annotations

from collections.abc import Iterable

from django.http import StreamingHttpResponse

from annotation.packing import Member, zipped
from annotation.queries.moment import of_one_moment

ZIP = "application/zip"


def sent(pieces: Iterable[bytes], *, name: str, content_type: str) -> StreamingHttpResponse:
    """A file that is read from the database as it was at one moment."""
    response = StreamingHttpResponse(of_one_moment(pieces), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def sent_zipped(members: Iterable[Member], *, name: str) -> StreamingHttpResponse:
    """The same of several files, as one ZIP archive."""
    return sent(zipped(members), name=name, content_type=ZIP)
