"""A folder of backups: their names, and which of them are old enough to go."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

NAME = re.compile(r"concord-(\d{8}T\d{6}Z)\.(?:backup|zip)")
STAMP = "%Y%m%dT%H%M%SZ"


def new_path(folder: Path, *, encrypted: bool) -> Path:
    """Where the next backup goes. Its name says when it was begun."""
    return folder / f"concord-{datetime.now(UTC).strftime(STAMP)}.{'backup' if encrypted else 'zip'}"


def backups(folder: Path) -> list[tuple[datetime, Path]]:
    """The backups by age, the newest first. Files with other names are not Concord's."""
    found = ((NAME.fullmatch(path.name), path) for path in folder.iterdir())
    return sorted(((parse_stamp(match[1]), path) for match, path in found if match), reverse=True)


def parse_stamp(stamp: str) -> datetime:
    return datetime.strptime(stamp, STAMP).replace(tzinfo=UTC)


def prune(folder: Path, *, keep: int | None, days: int | None) -> list[Path]:
    """Delete all backups but the newest `keep`, and those that are older than `days`. The newest one always stays."""
    oldest = datetime.now(UTC) - timedelta(days=days) if days is not None else None
    too_many = backups(folder)[keep:] if keep is not None else []
    too_old = [one for one in backups(folder)[1:] if oldest and one[0] < oldest]
    paths = [path for _, path in sorted({*too_many, *too_old})]
    for path in paths:
        path.unlink()
    return paths
