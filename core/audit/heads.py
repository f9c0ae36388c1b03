"""What proves that the audit log is whole: keyed digests, and a second place where its newest act is written down.

HMAC-SHA-256 under a key that follows by HKDF (RFC 5869) from a secret that the database does not hold. The first of
`settings.AUDIT_SECRETS` makes new digests; the others check those made before a change. Each row names its key.

Each host and account appends to a file of its own in `settings.AUDIT_HEADS`; where `CONCORD_AUDIT_SYSLOG` names a
syslog, the same line goes there. Whoever cuts the log or writes it anew would have to change those lines too.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import re
import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

PURPOSE = b"concord: audit log"
ID_LENGTH = 8


class UnknownKeyError(Exception):
    """The site does not have the key with which a digest was made."""


def compute_digest(content: bytes, *, key_id: str) -> str:
    """The HMAC-SHA-256 of the content, in hexadecimal. UnknownKeyError where no secret of the site has this id."""
    for secret in settings.AUDIT_SECRETS:
        if name_key(secret) == key_id:
            return hmac.new(derive_key(secret), content, hashlib.sha256).hexdigest()
    raise UnknownKeyError(key_id)


def current_key_id() -> str:
    """The id of the key for new digests."""
    return name_key(settings.AUDIT_SECRETS[0])


@cache
def name_key(secret: str) -> str:
    """What a row calls the key of this secret: a few digits of its SHA-256, which do not lead back to it."""
    return hashlib.sha256(derive_key(secret)).hexdigest()[:ID_LENGTH]


@cache
def derive_key(secret: str) -> bytes:
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=PURPOSE).derive(secret.encode())


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
