"""The signing key: made once, kept in the data folder, readable by its owner only."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def secret_key(folder: Path) -> str:
    """The key kept in `folder`, made on first use. Two processes that start together get the same one."""
    path = folder / "secret_key"
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        key = path.read_text().strip()
        return key or _rewrite(path)
    with os.fdopen(handle, "w") as file:
        key = secrets.token_urlsafe(50)
        file.write(key)
    return key


def _rewrite(path: Path) -> str:
    """Replace an empty key file, which a crash between creating and writing it leaves behind."""
    key = secrets.token_urlsafe(50)
    path.write_text(key)
    return key
