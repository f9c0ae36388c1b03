"""The list of who withdrew or was erased: a file outside the database, which a restored backup is held to.

One JSON object a line. It holds numbers and moments, no names: an account and a study are known again by their number
and the moment at which they were made, so that another account that gets the same number elsewhere is not mistaken.

What the database knows and the list does not is appended after each withdrawal and erasure. A list that could not be
written is therefore made whole by the next one, or by `manage.py withdrawn --write`.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.db import transaction

from annotation.recruitment.models import ConsentDecision
from core.accounts.models.users import User
from core.files.writing import sync_folder

WITHDRAWN, ERASED = "withdrawn", "erased"


@dataclass(frozen=True, order=True)
class WithdrawalEntry:
    """One withdrawal from a study, or one erasure of an account.

    Attributes
    ----------
    at
        When. All moments are texts in ISO 8601, in UTC.
    what
        `withdrawn` or `erased`.
    person, joined
        Number of the account, and when it was made, to the second.
    study, made
        Number of the study, and when it was made, to the second; 0 and "" of an erasure.
    notes
        Of an erasure: whether what they wrote beside labels was erased too.
    """

    at: str
    what: str
    person: int
    joined: str
    study: int = 0
    made: str = ""
    notes: bool = False


@dataclass(frozen=True)
class Listed:
    """What the file says; `unreadable` are the numbers of lines that are no entries, cut off by a crash for example."""

    entries: frozenset[WithdrawalEntry]
    unreadable: tuple[int, ...] = ()
    is_there: bool = True


def format_time(at: datetime) -> str:
    """As an entry has it."""
    return at.astimezone(UTC).isoformat()


def birthday(at: datetime) -> str:
    """When an account or a study was made, to the second: Django's administration cuts off the rest where it saves."""
    return format_time(at.replace(microsecond=0))


def read(path: Path) -> Listed:
    """All entries of the file; none where there is no file. OSError where it cannot be read."""
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return Listed(frozenset(), is_there=False)
    found = {number: parse_entry(line) for number, line in enumerate(lines, start=1) if line.strip()}
    broken = tuple(number for number, entry in found.items() if entry is None)
    return Listed(frozenset(entry for entry in found.values() if entry), broken)


def parse_entry(line: bytes) -> WithdrawalEntry | None:
    try:
        entry = WithdrawalEntry(**json.loads(line))
        numbers = (entry.person, entry.study)
        datetime.fromisoformat(entry.at)
    except (TypeError, ValueError):
        return None
    whole = all(type(number) is int for number in numbers) and entry.what in (WITHDRAWN, ERASED)
    return entry if whole else None


def append(path: Path, entries: Iterable[WithdrawalEntry]) -> None:
    """Add entries and wait until the disk has them. OSError where that fails."""
    text = "".join(f"{json.dumps(asdict(entry))}\n" for entry in sorted(entries))
    is_new = not path.exists()
    with open(path, "a+b", opener=private) as file:  # what is written to such a file comes behind all that is there
        end = file.seek(0, os.SEEK_END)
        cut_off = end > 0 and os.pread(file.fileno(), 1, end - 1) != b"\n"
        file.write((b"\n" if cut_off else b"") + text.encode())
        file.flush()
        os.fsync(file.fileno())
    if is_new:
        sync_folder(path.parent)


def private(path: str, flags: int) -> int:
    """Readable by its owner only."""
    return os.open(path, flags, 0o600)


logger = logging.getLogger(__name__)


def path() -> Path:
    return Path(settings.WITHDRAWN_FILE)


def load_listed() -> Listed:
    """What the list says."""
    return read(path())


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
        append(path(), new)
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
