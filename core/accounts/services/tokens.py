"""API tokens: made, shown once, recognised by their hash, revoked."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone

from core.accounts.models.tokens import ApiToken, Scope
from core.accounts.models.users import User
from core.accounts.permissions import ADJUDICATING, memberships
from core.audit.log import audited
from core.errors import InputError
from core.names import check_line

PREFIX = "concord_"
HINT = len(PREFIX) + 6
USUAL_DAYS = 90
MOST_DAYS = 3650
SEEN_EVERY = timedelta(minutes=1)
RESEARCHERS_ONLY = (Scope.RESEARCH, Scope.ADMIN)


@audited("token.make", says=("scopes", "days", "user"))
def make(
    *, by: User, name: str, scopes: Sequence[str], days: int | None = USUAL_DAYS, user: User | None = None
) -> tuple[ApiToken, str]:
    """A token for `user`, or for whoever makes it, and its text, which is known only now. `days` None: no expiry."""
    owner = user or by
    check_token_options(owner, name, scopes, days)
    text = PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        user=owner,
        name=name.strip(),
        hint=text[:HINT],
        digest=digest(text),
        scopes=[scope for scope in Scope.values if scope in scopes],
        expires_at=None if days is None else timezone.now() + timedelta(days=days),
    )
    return token, text


def check_token_options(owner: User, name: str, scopes: Sequence[str], days: int | None) -> None:
    if not name.strip() or len(name) > 80:
        raise InputError("Say what the token is for, in at most 80 characters.", field="name")
    check_line(name)
    if unknown := [scope for scope in scopes if scope not in Scope.values]:
        raise InputError(
            "{unknown!r} is not one of {values}.", field="scopes", unknown=unknown[0], values=", ".join(Scope.values)
        )
    if not scopes:
        raise InputError("A token needs at least one scope.", field="scopes")
    if not (owner.is_researcher or owner.is_superuser) and (more := [s for s in scopes if s in RESEARCHERS_ONLY]):
        raise InputError(
            "{owner} is not a researcher: the scope {more} would allow nothing.",
            field="scopes",
            owner=owner,
            more=more[0],
        )
    if Scope.ADJUDICATE in scopes and not decides(owner):
        raise InputError(
            "{owner} adjudicates in no project: the scope adjudicate would allow nothing.", field="scopes", owner=owner
        )
    if days is not None and not 1 <= days <= MOST_DAYS:
        raise InputError("A token lasts from 1 to {most_days} days.", field="days", most_days=MOST_DAYS)
    if owner.kind != User.Kind.PERSON or not owner.is_active:
        raise InputError("{owner} cannot sign in, and so has no tokens.", field="user", owner=owner)


def decides(owner: User) -> bool:
    """Whether an account is a researcher, or an adjudicator of some project."""
    return owner.is_researcher or owner.is_superuser or memberships(owner, ADJUDICATING).exists()


def digest(text: str) -> str:
    """A token has 256 random bits, so that one round of SHA-256 cannot be guessed back."""
    return hashlib.sha256(text.encode()).hexdigest()


def authenticate_token(text: str) -> ApiToken | None:
    """The working token of an active account, noted as used; None for anything else. One query, at times two."""
    now = timezone.now()
    found = ApiToken.objects.only_valid(now).select_related("user")
    token = found.filter(digest=digest(text), user__is_active=True).first()
    if token:
        unseen = Q(last_used_at=None) | Q(last_used_at__lt=now - SEEN_EVERY)
        if token.last_used_at is None or token.last_used_at < now - SEEN_EVERY:
            ApiToken.objects.filter(unseen, pk=token.pk).update(last_used_at=now)
    return token


@audited("token.revoke", on="token")
def revoke(*, by: User, token: ApiToken) -> datetime:  # noqa: ARG001
    """From now on it opens nothing. Revoked before: nothing changes."""
    now = timezone.now()
    ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=now)
    token.refresh_from_db(fields=["revoked_at"])
    return token.revoked_at or now
