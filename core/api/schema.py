"""What a request says, and how the OpenAPI document is made: names, errors and headers that every operation shares.

The client under `client/` is written from that document: an operation's name is its method, a component its type.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal, TypeVar

from django.db.models import Model
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.permissions import SAFE_METHODS

from core.accounts import permissions
from core.api.problems import MEDIA_TYPE, Problem
from core.options.fields import Serializer, build_serializer
from core.options.model import Options


class Given(serializers.Serializer[object]):
    """What a request says. A name that is not known is refused: a slip of the pen must not go unnoticed."""

    def to_internal_value(self, data: object) -> object:
        if isinstance(data, dict) and (unknown := [str(name) for name in data if name not in self.fields]):
            known = ", ".join(self.fields) or "none"
            raise serializers.ValidationError(dict.fromkeys(unknown, f"There is no such field; there are: {known}."))
        return super().to_internal_value(data)


class IntoProject(Given):
    """What is made of such a body belongs to a project."""

    project = serializers.CharField(
        required=False, max_length=130, help_text="Address of the project it goes into; the chosen one if not given."
    )


Shape = Serializer | type[Options]


@cache
def resolve_shape(given: Shape) -> Serializer:
    """The serializer of a body or query: itself, or the one made from the options of a verb."""
    if not issubclass(given, Options):
        return given
    return build_serializer(given, IntoProject if given.makes_root else Given, Given)


Handler = TypeVar("Handler", bound=Callable[..., object])

ALWAYS = (400, 401, 403, 414, 429)
WITH_BODY = (409, 413, 415, 422)
KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="Makes it safe to send the request again: what was done under the same key within a day is not done "
    "a second time, and the first answer is given again. The same key with another content is answered with 422.",
)


class Schema(AutoSchema):
    """Demand a name of every operation and add what all of them answer."""

    def get_operation(self, path: str, path_regex: str, *more: Any) -> Any:
        """Describe it with the parts of its address as numbers and texts: what they name is for Concord alone."""
        return super().get_operation(path, permissions.to_plain_route(path_regex), *more)

    def get_operation_id(self) -> str:
        raise LookupError(f"{self.method} {self.path} has no name: give it one in `says`.")

    def get_description(self) -> str:  # type: ignore[override]
        """Say what is written at the method or the view itself; what a view inherits was not written for readers."""
        handler = getattr(self.view, self.method.lower())
        return inspect.cleandoc(handler.__doc__ or type(self.view).__doc__ or "")

    def get_tags(self) -> list[str]:
        return [getattr(self.view, "tag", "other")]

    def get_override_parameters(self) -> list[Any]:
        return [] if self.method in SAFE_METHODS else [KEY]

    def _map_basic_serializer(self, serializer: Any, direction: Literal["request", "response"]) -> dict[str, object]:
        """Mark every field of an answer as required but those declared with `required=False`, and keep own docs only.

        Fields of models with a default count as optional otherwise, as they are in a body.
        """
        shape: dict[str, Any] = super()._map_basic_serializer(serializer, direction)  # type: ignore[no-untyped-call]
        found = serializer() if isinstance(serializer, type) else serializer
        if not type(found).__doc__:
            shape.pop("description", None)
        if direction == "response" and "properties" in shape:
            absent = {name for name, field in found._declared_fields.items() if may_be_absent(field)}
            shape["required"] = sorted(set(shape["properties"]) - absent)
        for name, kind in iterate_json_kinds(found):
            shape["properties"][name] |= kind
        return shape

    def _get_response_bodies(self, direction: Literal["request", "response"] = "response") -> dict[str, object]:
        """The operation's own answers, and problems under every status with which it can refuse."""
        answers: dict[str, object] = super()._get_response_bodies(direction)
        for status in self.refusals():
            answer = self._get_response_for_code(  # type: ignore[no-untyped-call]
                Problem, str(status), [MEDIA_TYPE], direction=direction
            )
            answers.setdefault(str(status), answer)
        return answers

    def refusals(self) -> Sequence[int]:
        missing = (404,) if "{" in self.path else ()
        late = (409,) if getattr(self.view, "left_to_a_worker", False) else ()
        return (*ALWAYS, *missing, *(late if self.method in SAFE_METHODS else WITH_BODY))


JSON_KINDS: dict[object, dict[str, object]] = {
    dict: {"type": "object", "additionalProperties": {}},
    list: {"type": "array", "items": {}},
}


def iterate_json_kinds(serializer: object) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the fields of a model that hold JSON, and whether that is an object or a list: as their default is."""
    if isinstance(serializer, serializers.ModelSerializer):
        model: type[Model] = serializer.Meta.model
        columns = {one.name: one for one in model._meta.get_fields()}
        for name, field in serializer.fields.items():
            default = getattr(columns.get(field.source), "default", None)
            if isinstance(field, serializers.JSONField) and default in JSON_KINDS:
                yield name, JSON_KINDS[default]


def may_be_absent(field: serializers.Field[object, object, object, object]) -> bool:
    return not field.required and not field.read_only and field.default is serializers.empty


def says(
    name: str,
    summary: str,
    answer: object = None,
    *,
    body: object = None,
    query: object = None,
    status: int = 200,
    also: Mapping[int, object] | None = None,
) -> Callable[[Handler], Handler]:
    """Describe one operation: what it does, what it takes, what it answers (`also`: further answers by status).

    `name` is the operation's id, and its method in the Python client: a verb for what changes something, a noun for
    what is read.
    """
    return extend_schema(
        operation_id=name,
        summary=summary,
        request=to_serializer(body),
        parameters=[to_serializer(query)] if query else None,
        responses={status: answer, **(also or {})},
    )


def to_serializer(shape: object) -> Any:
    """What the document is made from: of the options of a verb, their serializer."""
    return resolve_shape(shape) if isinstance(shape, type) and issubclass(shape, Options) else shape
