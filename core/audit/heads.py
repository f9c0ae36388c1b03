"""The second place of the audit log: after each commit the number and digest of the newest act are written to a file.

Each host and account appends to a file of its own in `settings.AUDIT_HEADS`; where `CONCORD_AUDIT_SYSLOG` names a
syslog, the same line goes there. Whoever cuts the log or writes it anew would have to change those lines too.
"""

from __future__ import annotations

import logging
import os
import re
import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.conf import settings

LINE = re.compile(r"act (\d{1,18}) ([0-9a-f]{64}) at (\d{4}-\d\d-\d\dT[\d:.]+\+00:00)")
FILES = "heads-*.log*"

logger = logging.getLogger("concord.audit_heads")


@dataclass(frozen=True, slots=True)
class AuditHead:
    """What was the newest act at some moment, and which file says so."""

    number: int
    digest: str
    at: datetime
    file: str


def write_head(number: int, digest: str, at: datetime) -> None:
    """Append a line to the file of this host and account, in one write: lines of several processes do not mix.

    A command that another account runs has a file of its own, else the site could not append to what that account made.
    """
    line = f"act {number} {digest} at {at.isoformat()}"
    path = Path(settings.AUDIT_HEADS) / f"heads-{socket.gethostname()}-{os.getuid()}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, f"{line}\n".encode())
    finally:
        os.close(handle)
    logger.info(line)


def read_heads(others: Iterable[Path] = ()) -> Iterator[AuditHead]:
    """Read the heads in every host's file of the folder, and in other files with such lines, such as a syslog."""
    folder = Path(settings.AUDIT_HEADS)
    for path in [*sorted(folder.glob(FILES)), *others]:
        with path.open(encoding="utf-8", errors="replace") as file:
            for line in file:
                if found := LINE.search(line):
                    number, digest, at = found.groups()
                    yield AuditHead(int(number), digest, datetime.fromisoformat(at), path.name)
