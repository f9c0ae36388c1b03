"""What all views of the API have in common: strict input, keys of writes, pages by key."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Any, TypeVar

from django.core.files.uploadedfile import UploadedFile
from django.db.models import Model, QuerySet
from django.http import Http404
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param
from rest_framework.views import APIView

from core.accounts.access import IsAdministrator, IsAnnotator, IsSignedIn
from core.accounts.models.projects import Project
from core.accounts.models.users import User
from core.accounts.permissions import filter_visible
from core.api import idempotency
from core.api.idempotency import StoredResponse
from core.api.requests import Json
from core.api.schema import Given as Given, IntoProject as IntoProject, Shape, resolve_shape
from core.errors import InputError
from core.hashing import content_hash
from core.options.fields import Serializer
from core.options.model import LARGEST as LARGEST, Options

MOST_AT_ONCE = 1000

Row = TypeVar("Row", bound=Model)
Verb = TypeVar("Verb", bound=Options)
Shown = Callable[..., object] | Serializer


class PageQuery(Given):
    """A page of a list: up to `limit` rows after the one whose key is `after`."""

    after = serializers.IntegerField(
        required=False, min_value=0, max_value=LARGEST, help_text="Key of the last row seen; `next` fills it in."
    )
    limit = serializers.IntegerField(required=False, min_value=1, max_value=MOST_AT_ONCE, default=100)


class PlaceQuery(Given):
    """The same of a list whose order is computed: `after` counts the rows that come before."""

    after = serializers.IntegerField(
        required=False, min_value=0, max_value=LARGEST, default=0, help_text="Place in this order; `next` fills it in."
    )
    limit = serializers.IntegerField(required=False, min_value=1, max_value=MOST_AT_ONCE, default=100)


class Api(APIView):
    """A view of the API. Without another rule it is the researchers' (see access.py)."""

    tag = "other"
    keeps_to_itself: tuple[str, ...] = ()
    """Fields of the answer that are shown once and kept nowhere."""

    left_to_a_worker = False
    """Whether what is read may take so long that it is answered with 409 until a worker has computed it."""

    is_a_write = True
    """Whether other methods than GET change anything. Otherwise an Idempotency-Key has nothing to do."""

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        super().initial(request, *args, **kwargs)
        check_text(request.query_params.dict())
        check_text(kwargs)
        if any(isinstance(part, int) and part > LARGEST for part in kwargs.values()):
            raise Http404
        method = (request.method or "").lower()
        if request.method in SAFE_METHODS or not hasattr(self, method):
            return
        if not any(hasattr(part, "chunks") for part in split_data(request.data)):
            check_text(request.data)
        key = request.headers.get("Idempotency-Key")
        if key is not None:
            idempotency.check_key(key)
        if key is None or not idempotency.has_response(by=self.me, key=key):
            self.prepare(request, **kwargs)
        if key is not None and self.is_a_write:
            setattr(self, method, partial(self.run_once, key, getattr(self, method)))

    def prepare(self, request: Request, **kwargs: object) -> None:
        """What a write does before the database is locked for it, such as asking another machine."""

    def run_once(
        self, key: str, act: Callable[..., Response], request: Request, /, *args: object, **kwargs: object
    ) -> Response:
        """Run an act once under its key, or return its stored answer. An address may have a part `key` too."""
        answer = idempotency.run_once(
            by=self.me,
            key=key,
            request_hash=hash_request(request),
            act=lambda: self.to_stored_response(act(request, *args, **kwargs)),
        )
        response = Response(answer.content, status=answer.status, content_type=answer.content_type or None)
        if answer.again:
            response["Idempotent-Replayed"] = "true"
        elif self.keeps_to_itself:
            response.data = self.shown
        return response

    def to_stored_response(self, response: Response) -> StoredResponse:
        """The answer as it is kept, without what is shown once."""
        self.shown = response.data
        content = json_types(response.data)
        if isinstance(content, dict):
            content |= dict.fromkeys(set(self.keeps_to_itself) & content.keys(), "")
        return StoredResponse(response.status_code, content, response.content_type or "")

    @property
    def me(self) -> User:
        assert isinstance(self.request.user, User)  # every rule asks for an account
        return self.request.user

    def parse_body(self, shape: Shape) -> dict[str, Any]:
        """Return the checked body."""
        return valid(resolve_shape(shape)(data=self.request.data))

    def parse_options(self, model: type[Verb]) -> Verb:
        """Return the checked body as the options of a verb."""
        return model.check(self.parse_body(model))

    def resolve_project(self, given: Mapping[str, object]) -> dict[str, Any]:
        """Return the body with its project in place of the project's slug; with None where it names none."""
        slug = given.get("project")
        found = filter_visible(self.me, Project.objects.filter(slug=slug)).first() if slug is not None else None
        if slug is not None and found is None:
            raise InputError("There is no project {slug!r}.", field="project", slug=slug)
        return {**given, "project": found}

    def parse_query(self, shape: Shape) -> dict[str, Any]:
        """Return the checked query."""
        return valid(resolve_shape(shape)(data=self.request.query_params.dict()))

    def page(
        self,
        rows: QuerySet[Model, object],
        shown: Shown,
        *,
        key: str = "pk",
        query: dict[str, Any] | None = None,
    ) -> Response:
        """Rows after a key in its order. The cost does not depend on how many come before them."""
        asked = query or self.parse_query(PageQuery)
        if (after := asked.get("after")) is not None:
            rows = rows.filter(**{f"{key}__gt": after})
        limit = asked["limit"]
        found = list(rows.order_by(key)[: limit + 1])
        last = getattr(found[limit - 1], key) if len(found) > limit else None
        return self.render_page([render_row(shown, row) for row in found[:limit]], last)

    def render_page(self, results: Iterable[object], last: object, *, name: str = "after", **more: object) -> Response:
        """A page, with the address of the next one where there are rows after `last` (`before`, newest first).

        What is said of the page as a whole, such as why nothing can be on it, stands beside its rows.
        """
        here = self.request.build_absolute_uri()
        following = None if last is None else replace_query_param(here, name, last)
        return Response({"next": following, "results": list(results), **more})

    def render_placed(
        self,
        rows: Sequence[object],
        shown: Shown,
        *,
        after: int,
        limit: int,
    ) -> Response:
        """The page of a list in a computed order (`PlaceQuery`); only its rows are looked at."""
        last = after + limit if len(rows) > after + limit else None
        return self.render_page([render_row(shown, row) for row in rows[after : after + limit]], last)


class OwnWork(Api):
    """What is assigned to the account that calls."""

    permission_classes = [IsAnnotator]
    tag = "work"


class Administration(Api):
    permission_classes = [IsAdministrator]


class AnyAccount(Api):
    permission_classes = [IsSignedIn]


def render_row(shown: Shown, row: object) -> object:
    return shown(row).data if isinstance(shown, type) else shown(row)


def find_named(kind: type[Row] | QuerySet[Row], field: str, **key: object) -> Row:
    """The row that a body names in `field`. One that is not there is the body's mistake, not the address's."""
    rows = kind if isinstance(kind, QuerySet) else kind._default_manager.all()
    found = rows.filter(**key).first()
    if found is None:
        raise InputError(
            "There is no {verbose_name} {iter!r}.",
            field=field,
            verbose_name=rows.model._meta.verbose_name,
            iter=next(iter(key.values())),
        )
    return found


def json_types(data: object) -> object:
    """The same as what a reader of the rendered JSON has."""
    return None if data is None else json.loads(Json().render(data))


def valid(serializer: serializers.Serializer[object]) -> dict[str, object]:
    serializer.is_valid(raise_exception=True)
    checked: dict[str, object] = serializer.validated_data
    return checked


def split_data(data: object) -> list[object]:
    return list(data.values()) if hasattr(data, "values") else []


def check_text(value: object) -> None:
    """Texts that a database can hold: without null characters and halves of characters."""
    if isinstance(value, str):
        if "\0" in value or not is_unicode(value):
            raise InputError("A text holds a character that cannot be kept.")
    elif isinstance(value, dict):
        for name, part in value.items():
            check_text(name)
            check_text(part)
    elif isinstance(value, list | tuple):
        for part in value:
            check_text(part)


def is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def hash_request(request: Request) -> str:
    """Hash method, address and content; a file enters with its content."""
    data = {name: fingerprint(part) for name, part in request.data.items()} if hasattr(request.data, "items") else None
    return content_hash([request.method, request.get_full_path(), request.data if data is None else data])


def fingerprint(part: object) -> object:
    if not isinstance(part, UploadedFile):
        return part
    digest = hashlib.sha256()
    for chunk in part.chunks():
        digest.update(chunk)
    part.seek(0)
    return digest.hexdigest()


@cache
def build_page_schema(shape: Serializer) -> Serializer:
    """A page of such rows, as the OpenAPI document describes it."""
    name = shape.__name__.removesuffix("Serializer")
    fields = {
        "next": serializers.URLField(allow_null=True, help_text="Address of the next page; null on the last."),
        "results": shape(many=True),
        "__doc__": f"A page of a list of {name}.",
    }
    made: Serializer = type(f"{name}Page", (serializers.Serializer,), fields)
    return extend_schema_serializer(component_name=f"{name}Page")(made)


Document = {"type": "object", "additionalProperties": True}
"""A result of the statistics, as the commands print it with --json."""
