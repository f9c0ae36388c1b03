"""How the OpenAPI document is made: names, and the errors and headers that every operation shares."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.permissions import SAFE_METHODS

from core.api.bodies import shape_of
from core.api.problems import MEDIA_TYPE, Problem
from core.options.model import Options

Handler = TypeVar("Handler", bound=Callable[..., Any])

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
    """Names operations after their views and adds what all of them answer."""

    def get_operation_id(self) -> str:
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(self.view).__name__).lower()
        return f"{name}_{self.method.lower()}"

    def get_tags(self) -> list[str]:
        return [getattr(self.view, "tag", "other")]

    def get_override_parameters(self) -> list[Any]:
        return [] if self.method in SAFE_METHODS else [KEY]

    def _get_response_bodies(self, direction: Literal["request", "response"] = "response") -> dict[str, Any]:
        """The operation's own answers, and problems under every status with which it can refuse."""
        answers: dict[str, Any] = super()._get_response_bodies(direction)
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


def says(
    summary: str, answer: Any = None, *, body: Any = None, query: Any = None, status: int = 200, also: Any = None
) -> Callable[[Handler], Handler]:
    """Describe one operation: what it does, what it takes, what it answers (`also`: further answers by status)."""
    return extend_schema(
        summary=summary,
        request=described(body),
        parameters=[described(query)] if query else None,
        responses={status: answer, **(also or {})},
    )


def described(shape: Any) -> Any:
    """What the document is made from: of the options of a verb, their serializer."""
    return shape_of(shape) if isinstance(shape, type) and issubclass(shape, Options) else shape
