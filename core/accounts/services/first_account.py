"""The first account of a site. Only who holds the link that the server printed at its start can create it."""

from __future__ import annotations

from django.core import signing
from django.db import transaction

from core.accounts.models.projects import Project
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError

SALT = "core.accounts first account"
SECONDS = 24 * 3600
"""How long a printed link opens the page."""


def is_needed() -> bool:
    """Return whether nobody can sign in yet. Imported and simulated annotators do not count."""
    return not User.objects.filter(kind=User.Kind.PERSON).exists()


def sign_key() -> str:
    """Return the part of the link that only this site can make."""
    return signing.dumps("", salt=SALT)


def is_valid_key(key: str) -> bool:
    """Return whether this site made the key, within the last 24 hours."""
    try:
        signing.loads(key, salt=SALT, max_age=SECONDS)
    except signing.BadSignature:
        return False
    return True


@audited("account.create_first", says=("username",))
def create(*, by: User | None, username: str, password: str) -> User:  # noqa: ARG001
    """Create the account that manages the site and researches in it. Raises InputError where there is one already."""
    with transaction.atomic():
        list(Project.objects.select_for_update().order_by("pk")[:1])  # two at once: the second waits here
        if not is_needed():
            raise InputError("This site has an account already. Sign in with it.", field="username")
        made: User = User.objects.create_superuser(username=username, password=password, is_researcher=True)
    return made
