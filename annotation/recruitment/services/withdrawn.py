"""Keeps the list of who withdrew or was erased in step with the database.

What the database knows and the list does not is appended after each withdrawal and erasure. A list that could not be
written is therefore made whole by the next one, or by `manage.py withdrawn --write`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db import transaction

from annotation.recruitment import withdrawn_list
from annotation.recruitment.models.participation import ConsentDecision
from annotation.recruitment.withdrawn_list import ERASED, WITHDRAWN, Listed, WithdrawalEntry, birthday, format_time
from core.accounts.models.users import User

logger = logging.getLogger(__name__)


def path() -> Path:
    return Path(settings.WITHDRAWN_FILE)


def load_listed() -> Listed:
    """What the list says."""
    return withdrawn_list.read(path())


def load_recorded() -> set[WithdrawalEntry]:
    """What the database says. Two queries."""
    decided = ConsentDecision.objects.filter(decision=ConsentDecision.Decision.WITHDRAWN).values_list(
        "created_at", "annotator", "annotator__date_joined", "study", "study__created_at"
    )
    gone = User.objects.filter(erased_at__isnull=False).values_list("erased_at", "pk", "date_joined", "erased_notes")
    withdrawals = {withdrawal(*row) for row in decided.iterator(chunk_size=5000)}
    return withdrawals | {
        erasure(at, pk, joined, notes) for at, pk, joined, notes in gone.iterator(chunk_size=5000) if at
    }


def withdrawal(at: datetime, person: int, joined: datetime, study: int, made: datetime) -> WithdrawalEntry:
    return WithdrawalEntry(format_time(at), WITHDRAWN, person, birthday(joined), study, birthday(made))


def erasure(at: datetime, person: int, joined: datetime, notes: bool) -> WithdrawalEntry:
    return WithdrawalEntry(format_time(at), ERASED, person, birthday(joined), notes=notes)


def find_unlisted() -> set[WithdrawalEntry]:
    """What the database knows and the list does not."""
    return load_recorded() - load_listed().entries


def write() -> int:
    """Append what is missing. Returns how much that was; OSError where the list cannot be written."""
    return add(load_recorded())


def add(entries: Iterable[WithdrawalEntry]) -> int:
    """Append those of the entries that the list lacks."""
    new = set(entries) - load_listed().entries
    if new:
        withdrawn_list.append(path(), new)
    return len(new)


def write_after_commit() -> None:
    transaction.on_commit(write_or_say, robust=True)


def write_or_say() -> None:
    """What is done stays done if the disk is full: it is said, and the next entry brings along what is missing."""
    try:
        write()
    except OSError:
        logger.exception("The list of the withdrawn, %s, could not be written: %s", path(), REPAIR)


REPAIR = "a restored backup would not know of it. Make room, then run manage.py withdrawn --write."


def problem() -> str:
    """What is wrong with the list, in a sentence; empty where it has all that the database knows."""
    try:
        lacking, broken = len(find_unlisted()), load_listed().unreadable
    except OSError as error:
        return f"The list of the withdrawn, {path()}, cannot be read: {error.strerror or error}."
    if lacking:
        return f"The list of the withdrawn, {path()}, lacks {lacking} of them: run manage.py withdrawn --write."
    return f"Lines {', '.join(map(str, broken))} of {path()} cannot be read." if broken else ""
