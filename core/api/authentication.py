"""Tokens in the header Authorization, and how often one account may call. Sessions are REST framework's own."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from core.accounts.models.tokens import ApiToken
from core.accounts.models.users import User
from core.accounts.services import tokens


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

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {"type": "http", "scheme": "bearer", "description": "A token from the page API tokens."}


class AccountThrottle(SimpleRateThrottle):
    """Limit the requests of an account, over all of its tokens."""

    scope = "account"

    def get_cache_key(self, request: Any, view: Any) -> str | None:
        return f"api-rate-{request.user.pk}" if request.user.is_authenticated else None
