"""`manage.py token`: make, list and revoke API tokens."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from django.core.management.base import CommandParser
from django.utils import timezone

from annotation.management.base import ConcordCommand, Listing, to_words
from core.accounts.models.tokens import ApiToken, Scope
from core.accounts.models.users import User
from core.accounts.queries import find_account
from core.accounts.services import tokens
from core.errors import InputError
from core.options.fields import split_names


class TokensDocument(TypedDict):
    token: NotRequired[str]
    tokens: Listing


class Command(ConcordCommand[TokensDocument]):
    help = "Make an API token for an account and print it, once; list an account's tokens; revoke one."
    example = "token alice --name nightly --scopes read research --days 30"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--name", help="what it is for: makes a token")
        parser.add_argument("--scopes", nargs="+", default=[Scope.READ.value], help=f"among {', '.join(Scope.values)}")
        parser.add_argument("--days", type=int, default=tokens.USUAL_DAYS, help="how long it lasts; 0: until revoked")
        parser.add_argument("--revoke", type=int, metavar="ID", help="revoke the token of this id")

    def run(
        self, *, username: str, name: str | None, scopes: list[str], days: int, revoke: int | None, **_: object
    ) -> TokensDocument:
        user = find_account(username, field="username")
        if revoke is not None:
            return {"tokens": [describe_token(revoke_token(user, revoke))]}
        if name is None:
            return {"tokens": [describe_token(one) for one in user.api_tokens.order_by("pk")]}
        made, text = tokens.make(by=user, name=name, scopes=split_names(scopes), days=days or None)
        return {"token": text, "tokens": [describe_token(made)]}

    def write_text(self, document: TokensDocument) -> None:
        if "token" in document:
            self.stdout.write(f"{document['token']}\nCopy it now: it is kept nowhere.")
            return
        for one in document["tokens"]:
            until, scopes = one["expires_at"] or "never", to_words(one["scopes"])
            self.stdout.write(f"{one['id']}\t{one['name']}\t{one['hint']}…\t{scopes}\t{one['state']}\texpires {until}")
        if not document["tokens"]:
            self.stdout.write("No tokens. Make one with --name.")


def revoke_token(user: User, pk: int) -> ApiToken:
    token = user.api_tokens.filter(pk=pk).first()
    if token is None:
        raise InputError("{username} has no token {pk}.", field="revoke", username=user.username, pk=pk)
    tokens.revoke(by=user, token=token)
    return token


def describe_token(token: ApiToken) -> dict[str, object]:
    times = {name: getattr(token, name) for name in ("created_at", "expires_at", "last_used_at")}
    return {
        "id": token.pk,
        "name": token.name,
        "hint": token.hint,
        "scopes": token.scopes,
        "state": token.state(timezone.now()),
        **{name: at.isoformat() if at else None for name, at in times.items()},
    }
