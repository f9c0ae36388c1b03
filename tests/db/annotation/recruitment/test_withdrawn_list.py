"""The file of who withdrew: numbers and moments only, added to, and readable after a crash."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from annotation.recruitment.services.withdrawn import ERASED, WITHDRAWN, WithdrawalEntry, append, read

FIRST = WithdrawalEntry(
    "2026-11-01T10:00:00.000001+00:00", WITHDRAWN, 7, "2026-01-01T00:00:00+00:00", 3, "2026-02-01T00:00:00+00:00"
)
SECOND = WithdrawalEntry("2026-11-02T10:00:00+00:00", ERASED, 7, "2026-01-01T00:00:00+00:00", notes=True)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "withdrawn.jsonl"


def test_what_is_added_is_read_and_only_its_owner_may(path):
    assert (read(path).entries, read(path).is_there) == (frozenset(), False)
    append(path, [FIRST])
    append(path, [SECOND, FIRST])
    found = read(path)
    assert (found.entries, found.unreadable, found.is_there) == ({FIRST, SECOND}, (), True)
    assert path.stat().st_mode & 0o777 == 0o600
    assert set(asdict(FIRST)) == {"at", "what", "person", "joined", "study", "made", "notes"}


def test_a_line_that_was_cut_off_spoils_no_other(path):
    append(path, [FIRST])
    path.write_bytes(path.read_bytes() + b'{"at": "2026-11-02')
    append(path, [SECOND])
    found = read(path)
    assert (found.entries, found.unreadable) == ({FIRST, SECOND}, (2,))


@pytest.mark.parametrize(
    "line",
    [
        b"[]",
        b"7",
        b'{"what": "erased"}',
        b'{"at": "today", "what": "erased", "person": 1, "joined": ""}',
        b'{"at": "2026-11-02T10:00:00+00:00", "what": "gone", "person": 1, "joined": ""}',
        b'{"at": "2026-11-02T10:00:00+00:00", "what": "erased", "person": "1", "joined": ""}',
        b'{"at": "2026-11-02T10:00:00+00:00", "what": "erased", "person": 1, "joined": "", "name": "bob"}',
        b"\xff",
    ],
)
def test_what_is_no_entry_is_named_by_its_line(path, line):
    path.write_bytes(b"\n" + line + b"\n")
    assert (read(path).entries, read(path).unreadable) == (frozenset(), (2,))


def test_it_is_on_the_disk_before_anybody_is_told(path, monkeypatch):
    synced = []
    monkeypatch.setattr("annotation.recruitment.services.withdrawn.os.fsync", lambda handle: synced.append(handle))
    append(path, [FIRST])
    append(path, [SECOND])
    assert len(synced) == 3  # the file, the folder with its name, the file again
