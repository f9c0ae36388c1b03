"""What is wrong with the machine, and not with a request or the code: said by pages and commands alike."""

from __future__ import annotations

import errno

from django.db import InterfaceError, OperationalError

from core.errors import gettext_noop

AWAY = gettext_noop("The database does not answer just now.")
SHARED_AWAY = gettext_noop("Redis does not answer just now.")
LOCKED = gettext_noop("The database is locked: another program is writing to it and has not finished.")
FULL = gettext_noop("The disk is full.")
READ_ONLY = gettext_noop("The data folder cannot be written.")

OF_FILES = {
    errno.ENOSPC: FULL,
    errno.EDQUOT: FULL,
    errno.EFBIG: FULL,
    errno.EROFS: READ_ONLY,
    errno.EACCES: READ_ONLY,
    errno.EPERM: READ_ONLY,
}
OF_SQLITE = {
    "locked": LOCKED,
    "full": FULL,
    "disk i/o": gettext_noop("The disk of the database is full, or fails."),
    "readonly": READ_ONLY,
    "unable to open": READ_ONLY,
}
"""Part of SQLite's message -> what is wrong."""

OF_POSTGRESQL = {"53100": FULL, "08": AWAY, "53": AWAY, "57": AWAY}
"""Beginning of PostgreSQL's code: disk full, connection lost, no room or no connection left, shut down."""


def describe_fault(error: BaseException) -> str | None:
    """What is wrong, in a sentence; None where the error does not speak of the machine."""
    if is_redis_away(error):
        return SHARED_AWAY
    if isinstance(error, InterfaceError):
        return AWAY
    if isinstance(error, OperationalError):
        return fault_of_database(error)
    return OF_FILES.get(error.errno or 0) if isinstance(error, OSError) else None


def fault_in_full(error: BaseException) -> str | None:
    """As `describe_fault`, with what the system said, for who runs the site."""
    fault = describe_fault(error)
    return f"{fault} ({error})" if fault else None


def fault_of_database(error: OperationalError) -> str | None:
    code = getattr(error.__cause__, "sqlstate", None)
    if code is not None:
        return next((fault for start, fault in OF_POSTGRESQL.items() if str(code).startswith(start)), None)
    if not type(error.__cause__).__module__.startswith("sqlite3"):
        return AWAY  # PostgreSQL, to which no connection could be made
    text = str(error).lower()
    return next((fault for part, fault in OF_SQLITE.items() if part in text), None)


def is_redis_away(error: BaseException) -> bool:
    if not type(error).__module__.startswith("redis."):
        return False
    from redis import exceptions  # loaded by whoever raised it; most processes do without

    return isinstance(error, exceptions.ConnectionError | exceptions.TimeoutError)
