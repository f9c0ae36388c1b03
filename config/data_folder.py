"""What settings write into the data folder before anything runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

HINT = "Set CONCORD_DATA_DIR to a folder that this user may write, on a disk that has room."


@contextmanager
def explain_unwritable(folder: Path) -> Iterator[None]:
    """Say in a sentence that the folder cannot be written, whoever loads the settings."""
    try:
        yield
    except OSError as error:
        raise ImproperlyConfigured(f"The data folder {folder} cannot be written: {error.strerror}. {HINT}") from error
