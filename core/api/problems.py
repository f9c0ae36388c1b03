"""Every error of the API in one shape: a problem document (RFC 9457), which also names file, line and field."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus

from django.conf import settings
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404
from rest_framework import exceptions, serializers
from rest_framework.response import Response

from core.errors import InputError
from core.files.input_files import MEGABYTE

MEDIA_TYPE = "application/problem+json"
NOT_FOUND = "There is nothing at this address that you may see."


class FieldProblem(serializers.Serializer[object]):
    """What is wrong with one field."""

    field = serializers.CharField()
    message = serializers.CharField()


class Problem(serializers.Serializer[object]):
    """What went wrong and where."""

    type = serializers.CharField(default="about:blank")
    title = serializers.CharField(help_text="The status in words.")
    status = serializers.IntegerField()
    detail = serializers.CharField(help_text="What is wrong, in a sentence.")
    file = serializers.CharField(required=False, help_text="The file in which it was found.")
    line = serializers.IntegerField(required=False, help_text="Its line, from 1.")
    field = serializers.CharField(required=False, help_text="The field, parameter or header at fault.")
    errors = FieldProblem(  # type: ignore[assignment]
        many=True, required=False, help_text="All fields at fault, where several are."
    )


def problem(
    status: int,
    detail: str,
    *,
    file: str | None = None,
    line: int | None = None,
    field: str | None = None,
    errors: list[dict[str, str]] | None = None,
) -> Response:
    """The answer that says what went wrong."""
    optional = {"file": file, "line": line, "field": field or None, "errors": errors or None}
    content = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        **{name: value for name, value in optional.items() if value is not None},
    }
    return Response(content, status=status, content_type=MEDIA_TYPE)


def handler(error: Exception, context: dict[str, object]) -> Response | None:  # noqa: ARG001
    """What REST framework does with an exception of a view; None for one that nobody expected."""
    if isinstance(error, InputError):
        return problem(error.status, error.message, file=error.file, line=error.line, field=error.field)
    if isinstance(error, Http404):
        return problem(404, NOT_FOUND)
    if isinstance(error, PermissionDenied):
        return problem(403, str(error) or "You may not do this.")
    if isinstance(error, RequestDataTooBig):
        return problem(413, "The request is larger than this site takes.")
    if isinstance(error, SuspiciousOperation):
        return problem(400, "The request cannot be read.")
    if isinstance(error, exceptions.ValidationError):
        return render_refusal(error)
    if isinstance(error, exceptions.APIException):
        return to_response(error)
    return None


def render_refusal(error: exceptions.ValidationError) -> Response:
    """Every field at fault; the first one is the problem's own."""
    found = [{"field": field, "message": message} for field, message in flat(error.detail)]
    first = found[0] if found else {"field": "", "message": "The request cannot be used."}
    return problem(400, first["message"], field=first["field"], errors=found if len(found) > 1 else None)


def flat(detail: object, path: str = "") -> Iterator[tuple[str, str]]:
    """(field, message) of REST framework's nested errors; `answers.0.value` for a field inside another."""
    if isinstance(detail, dict):
        for name, part in detail.items():
            inner = path if name == "non_field_errors" else f"{path}.{name}" if path else str(name)
            yield from flat(part, inner)
    elif isinstance(detail, list):
        for place, part in enumerate(detail):
            nested = isinstance(part, dict | list)
            yield from flat(part, f"{path}.{place}" if nested else path)
    else:
        yield path, str(detail)


def to_response(error: exceptions.APIException) -> Response:
    """An error of REST framework's own, with the headers that belong to it."""
    answer = problem(error.status_code, str(error.detail))
    if auth := getattr(error, "auth_header", None):
        answer["WWW-Authenticate"] = auth
    if wait := getattr(error, "wait", None):
        answer["Retry-After"] = str(int(wait) + 1)
    return answer


def refuse_too_large(upload: UploadedFile) -> Response | None:
    """The refusal of a file that is larger than this site takes over HTTP."""
    if (upload.size or 0) <= settings.MAX_UPLOAD_BYTES:
        return None
    megabytes = settings.MAX_UPLOAD_BYTES // MEGABYTE
    return problem(413, f"At most {megabytes} MB; the command of the same name takes more.", field="file")
