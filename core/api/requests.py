"""How the API is asked and answers: tokens, how often an account may call, and JSON whose undefined values are null.

Sessions are REST framework's own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.exceptions import RequestDataTooBig
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, ParseError
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import JSONParser
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from core.accounts.models.tokens import ApiToken
from core.accounts.models.users import User
from core.accounts.services import tokens
from core.documents import drop_nan
from core.errors import InputError
from core.files.json_text import parse_json


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer concord_…`"""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        kind, _, text = get_authorization_header(request).decode("latin-1").partition(" ")
        if kind.lower() != "bearer":
            return None
        token = tokens.authenticate_token(text.strip())
        if token is None:
            raise AuthenticationFailed("This token is unknown, expired or revoked.")
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="Concord"'


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the OpenAPI document calls it."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, object]:
        return {"type": "http", "scheme": "bearer", "description": "A token from the page API tokens."}


class AccountThrottle(SimpleRateThrottle):
    """Limit the requests of an account, over all of its tokens."""

    scope = "account"

    def get_cache_key(self, request: Request, view: object) -> str | None:
        return f"api-rate-{request.user.pk}" if request.user.is_authenticated else None


LARGEST = 20 * 1024 * 1024
"""Bytes of a body of JSON. In memory it takes up to thirty times as much; larger material comes as a file."""


class Json(JSONRenderer):
    """JSON without NaN: what is undefined is null, with its reason beside it."""

    def render(self, data: object, *args: Any, **kwargs: Any) -> bytes:
        rendered: bytes = super().render(drop_nan(data), *args, **kwargs)
        return rendered


class JsonBody(JSONParser):
    """A body of JSON, which is UTF-8 whatever charset is named beside it."""

    def parse(self, stream: Any, *args: object, **kwargs: object) -> Any:
        content = stream.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise RequestDataTooBig
        try:
            return self.read(content)
        except InputError as error:
            raise ParseError(error.message) from error

    def read(self, content: bytes) -> object:
        """The value. Raises InputError for what is none."""
        return parse_json(content)


class AlwaysJson(BaseContentNegotiation):
    """There is one form of answer, whatever is asked for."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        given = (request.content_type or "").partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == given), None)

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: object = None
    ) -> tuple[BaseRenderer, str]:
        first = next(iter(renderers))
        return first, first.media_type
