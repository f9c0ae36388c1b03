"""Texts in files that an option names."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from core.errors import InputError


def read_text(path: Path, *, field: str | None = None) -> str:
    """What is in the file. InputError where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path), field=field) from error
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8", file=str(path), field=field) from error


def read_named_texts(given: Iterable[str], *, field: str) -> dict[str, str]:
    """The texts in files that are given as NAME=FILE, by name."""
    pairs = [part.partition("=") for part in given]
    if wrong := [name for name, _, path in pairs if not path]:
        raise InputError(f"{wrong[0]!r}: say NAME=FILE.", field=field)
    return {name.strip(): read_text(Path(path), field=field) for name, _, path in pairs}
