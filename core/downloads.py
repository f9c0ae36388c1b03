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

TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json; charset=utf-8",
    "jsonl": "application/x-ndjson; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "toml": "application/toml; charset=utf-8",
    "yaml": "application/yaml; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "tex": "application/x-latex; charset=utf-8",
    "bib": "application/x-bibtex; charset=utf-8",
    "pdf": "application/pdf",
    "png": "image/png",
    "svg": "image/svg+xml; charset=utf-8",
    "zip": "application/zip",
}
"""What a file is, by its ending."""

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


def stream_file(pieces: Iterable[bytes], *, name: str) -> StreamingHttpResponse:
    """A file that is read from the database as it was at one moment."""
    return StreamingHttpResponse(iterate_in_snapshot(pieces), headers=describe_file(name))


def stream_zip(members: Iterable[Member], *, name: str) -> StreamingHttpResponse:
    """The same of several files, as one ZIP archive."""
    return stream_file(write_zip(members), name=name)


def attach_pieces(pieces: Iterable[str] | Iterable[bytes], *, name: str) -> StreamingHttpResponse:
    """A file that is made while it is sent."""
    return StreamingHttpResponse(pieces, headers=describe_file(name))


def attach_file(content: str | bytes, *, name: str) -> HttpResponse:
    """A file that is there as a whole."""
    return HttpResponse(content, headers=describe_file(name))


def describe_file(name: str) -> dict[str, str]:
    """The headers of an answer that a browser saves under this name, whose ending is one of `TYPES`."""
    return {
        "Content-Type": TYPES[name.rpartition(".")[2]],
        "Content-Disposition": f'attachment; filename="{name}"',
    }
