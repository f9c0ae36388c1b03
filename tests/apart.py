"""What processes that test side by side must not share."""

from __future__ import annotations

import os


def broker_of_this_process(url: str) -> str:
    """Each process of pytest-xdist has a database of Redis of its own: a cache that one clears is not another's."""
    before, slash, number = url.rpartition("/")
    process = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    if not url.startswith("redis") or not number.isdigit() or not process.isdigit():
        return url
    return f"{before}{slash}{(int(number) + int(process)) % 16}"
