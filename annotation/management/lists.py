"""Lists on the command line: `--criteria a b` and `--criteria a,b` mean the same."""

from __future__ import annotations

from collections.abc import Iterable


def split_names(given: Iterable[str] | str | None) -> list[str]:
    """The names in one text or several, split at commas."""
    texts = [given] if isinstance(given, str) else given or []
    return [name.strip() for text in texts for name in text.split(",") if name.strip()]
