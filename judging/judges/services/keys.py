"""Keys of models that a project keeps: entered once, sealed, and handed to providers only."""

from __future__ import annotations

from allauth.mfa.models import Authenticator
from django.db.models import QuerySet

from core.accounts.models.projects import Project, choose_project
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.options.model import check_options
from judging.judges import sealing, second_factors
from judging.judges.models import ModelKey
from judging.judges.options import LONGEST_KEY, NewKey
from judging.judges.providers.keys import Keyring, origin


@check_options(NewKey)
@audited("key.keep")
def keep(*, by: User | None, project: Project, address: str, key: str, note: str = "") -> ModelKey:
    """The project's key for an address, in place of one that was there. InputError says what is wrong with it."""
    where = to_origin(address)
    if not key.isascii() or not key.isprintable():
        raise InputError(
            "A key is one line of at most {longest_key} ASCII characters.", field="key", longest_key=LONGEST_KEY
        )
    row = ModelKey.objects.select_for_update().filter(project=project, origin=where).first()
    row = row or ModelKey(project=project, origin=where)
    row.sealed, row.note, row.created_by = sealing.seal(key, of=row.belongs), note, by
    row.save()
    return row


def to_origin(address: str) -> str:
    try:
        found = origin(address)
    except ValueError as error:
        raise InputError(
            "{address!r} is not an address: {error}.", field="address", address=address, error=error
        ) from error
    if len(found) > 200:
        raise InputError("The host's name is too long.", field="address")
    return found


@audited("key.drop", on="key")
def drop(*, by: User | None, key: ModelKey) -> None:  # noqa: ARG001
    """Forget a key. Runs that need it stop with a message at their next call."""
    key.delete()


@audited("key.reseal")
def reseal(*, by: User | None) -> dict[str, int]:  # noqa: ARG001
    """Seal every key and second factor of the site with its first secret; what cannot be read stays and is counted."""
    done = unreadable = 0
    for row in (*ModelKey.objects.select_for_update().order_by("pk"), *authenticators()):
        try:
            reseal_row(row)
        except sealing.UnreadableError:
            unreadable += 1
            continue
        done += 1
    return {"sealed": done, "unreadable": unreadable}


def authenticators() -> QuerySet[Authenticator]:
    """Second factors that hold a secret."""
    found: QuerySet[Authenticator] = Authenticator.objects.select_for_update().order_by("pk")
    return found.exclude(type=Authenticator.Type.WEBAUTHN)


def reseal_row(row: ModelKey | Authenticator) -> None:
    if isinstance(row, ModelKey):
        row.sealed = sealing.seal(sealing.unseal(row.sealed, of=row.belongs), of=row.belongs)
        row.save(update_fields=["sealed"])
    else:
        row.data = second_factors.reseal(row.data)
        row.save(update_fields=["data"])


def is_readable(key: ModelKey) -> bool:
    try:
        sealing.unseal(key.sealed, of=key.belongs)
    except sealing.UnreadableError:
        return False
    return True


def load_keyring_for(by: User | None, project: Project | None = None) -> Keyring:
    """Those of the project, or of the one in which somebody's new things go."""
    return load_keyring(choose_project(by, project).pk)


def load_keyring(project: int | None) -> Keyring:
    """The keys that the judges and agents of a project may use. One query."""
    kept: dict[str, str] = {}
    unreadable = set()
    for row in ModelKey.objects.filter(project=project):
        try:
            kept[row.origin] = sealing.unseal(row.sealed, of=row.belongs)
        except sealing.UnreadableError:
            unreadable.add(row.origin)
    return Keyring(kept, frozenset(unreadable))
