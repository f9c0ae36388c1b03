"""Who is calling, and the tokens of the account. A token is made on the page or by the command, where it is shown."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from core.accounts.models.tokens import ApiToken, Scope
from core.accounts.services import tokens
from core.api.base import AnyAccount
from core.api.problems import NOT_FOUND, problem
from core.api.schema import says


class MeSerializer(serializers.Serializer[Any]):
    username = serializers.CharField()
    is_researcher = serializers.BooleanField()
    scopes = serializers.ListField(child=serializers.CharField(), help_text="Of the token; all in a session.")


class Me(AnyAccount):
    tag = "account"

    @says("me", "Who is calling, and what the token allows", MeSerializer)
    def get(self, request: Request) -> Response:
        scopes = Scope.values if request.auth is None else list(getattr(request.auth, "scopes", ()))
        researcher = self.me.is_researcher or self.me.is_superuser
        return Response({"username": self.me.username, "is_researcher": researcher, "scopes": scopes})


class TokenSerializer(serializers.ModelSerializer[ApiToken]):
    """A token, without what would let somebody use it."""

    state = serializers.SerializerMethodField()
    scopes = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = ApiToken
        fields = ["id", "name", "hint", "scopes", "state", "created_at", "expires_at", "last_used_at", "revoked_at"]

    def get_state(self, token: ApiToken) -> str:
        return token.state(timezone.now())


class TokenList(AnyAccount):
    tag = "account"

    @says("tokens", "My tokens", TokenSerializer(many=True))
    def get(self, request: Request) -> Response:
        return Response(TokenSerializer(self.me.api_tokens.order_by("pk"), many=True).data)


class TokenDetail(AnyAccount):
    tag = "account"

    @says("revoke_token", "Revoke one of my tokens", None, status=204)
    def delete(self, request: Request, pk: int) -> Response:
        tokens.revoke(by=self.me, token=get_object_or_404(self.me.api_tokens, pk=pk))
        return Response(status=204)


class Nothing(AnyAccount):
    """Every address of the API that there is not."""

    schema = None

    def handle(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return problem(404, NOT_FOUND)

    get = post = put = patch = delete = handle
