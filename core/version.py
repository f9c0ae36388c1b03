"""Which code computed a result: the release, and the commit where it is known."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path

RELEASE = "0.1.0"


@cache
def code_version() -> str:
    """For example `0.1.0+3f2c1ab`; the release alone where this is no git checkout. An image is told by its build."""
    if told := os.environ.get("CONCORD_COMMIT"):
        return f"{RELEASE}+{told}"
    root = Path(__file__).resolve().parent.parent
    if not (root / ".git").exists():
        return RELEASE
    try:
        asked = subprocess.run(  # noqa: S603
            # A lab's checkout belongs to root, and the site runs as another user: git must be told that this is meant.
            ["git", "-c", f"safe.directory={root}", "-C", str(root), "rev-parse", "--short", "HEAD"],  # noqa: S607
            capture_output=True,
            text=True,
            check=True,
            timeout=5,
        )
    except (OSError, subprocess.SubprocessError):
        return RELEASE
    return f"{RELEASE}+{asked.stdout.strip()}"
