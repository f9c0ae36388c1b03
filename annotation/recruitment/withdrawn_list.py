"""The list of who withdrew or was erased: a file outside the database, which a restored backup is held to.

One JSON object a line. It holds numbers and moments, no names: an account and a study are known again by their number
and the moment at which they were made, so that another account that gets the same number elsewhere is not mistaken.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.files.atomic import sync_folder

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
        content: dict[str, Any] = json.loads(line)
        entry = WithdrawalEntry(**content)
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
