"""Messages to who sent a form, on the page that they see next.

Kept apart from `core.errors`, which statistics and parsers use: it must not import Django.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib import messages
from django.http import HttpRequest

from core.errors import InputError


@contextmanager
def show_errors(request: HttpRequest) -> Iterator[None]:
    """Say an InputError that is raised inside on the next page; the view goes on behind."""
    try:
        yield
    except InputError as error:
        messages.error(request, error.message)
