"""What the apps that made a study's material have to say of it and of its judges. They register here; reports ask.

Kept apart from the reports: apps register as the site starts, before anything of a report is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from django.utils.module_loading import import_string

from annotation.studies.models.studies import Study
from judging.judges.models import Judge

MaterialWarnings = Callable[[Study, Sequence[Judge]], list[str]]

_SOURCES: list[str] = []


def register(path: str) -> None:
    """Add a function by its dotted path, which is imported when a report is made."""
    if path not in _SOURCES:
        _SOURCES.append(path)


def load_material_warnings(study: Study, judges: Sequence[Judge]) -> list[str]:
    """Load the warnings of every registered function, in sentences."""
    sources: list[MaterialWarnings] = [import_string(path) for path in _SOURCES]
    return [sentence for source in sources for sentence in source(study, judges)]
