"""Answers that are files: sent while they are made, and on record where they say something of people."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from core.accounts.permissions import study_model
from core.audit.log import VERBS, record
from core.files.writing import Member, write_zip
from core.read_snapshot import iterate_in_snapshot

ZIP = "application/zip"

P = ParamSpec("P")
Response = TypeVar("Response", bound=HttpResponseBase)


def audit_export(what: str) -> Callable[[Callable[P, Response]], Callable[P, Response]]:
    """Put each file that a view gives out on record as `export.<what>`, with the parts of the address.

    For whatever names people: labels, participants, answers about themselves. For views of pages and methods of the
    API alike.
    """
    verb = f"export.{what}"
    VERBS.add(verb)

    def decorate(view: Callable[P, Response]) -> Callable[P, Response]:
        @wraps(view)
        def recording(*args: P.args, **kwargs: P.kwargs) -> Response:
            response = view(*args, **kwargs)
            request: Any = next(one for one in args if hasattr(one, "user"))
            if response.status_code == 200 and request.method == "GET":
                address = {name: part for name, part in kwargs.items() if name != "slug"}
                study = study_model()._default_manager.filter(slug=kwargs["slug"]).first() if "slug" in kwargs else None
                record(verb, by=request.user, on=study, **address)
            return response

        recording.audited_export = verb  # type: ignore[attr-defined]
        return recording

    return decorate


def stream_file(pieces: Iterable[bytes], *, name: str, content_type: str) -> StreamingHttpResponse:
    """A file that is read from the database as it was at one moment."""
    return StreamingHttpResponse(iterate_in_snapshot(pieces), content_type=content_type, headers=name_download(name))


def stream_zip(members: Iterable[Member], *, name: str) -> StreamingHttpResponse:
    """The same of several files, as one ZIP archive."""
    return stream_file(write_zip(members), name=name, content_type=ZIP)


def attach_pieces(pieces: Iterable[str] | Iterable[bytes], *, name: str, content_type: str) -> StreamingHttpResponse:
    """A file that is made while it is sent."""
    return StreamingHttpResponse(pieces, content_type=content_type, headers=name_download(name))


def attach_file(content: str | bytes, *, name: str, content_type: str) -> HttpResponse:
    """A file that is there as a whole."""
    return HttpResponse(content, content_type=content_type, headers=name_download(name))


def name_download(name: str) -> dict[str, str]:
    """The header by which a browser saves an answer under this name."""
    return {"Content-Disposition": f'attachment; filename="{name}"'}
