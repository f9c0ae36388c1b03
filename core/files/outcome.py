"""What an import did, as the commands print it and the pages show it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NotRequired, TypedDict

from django.conf import settings
from django.db import DataError, IntegrityError

from core.files.input_files import Problems, RefusedRecord, Source


class ImportDocument(TypedDict):
    """What an import did, as JSON: rows by kind, records set aside, and the study that was made."""

    created: dict[str, int]
    updated: dict[str, int]
    unchanged: dict[str, int]
    skipped: list[RefusedRecord]
    warnings: list[str]
    study: NotRequired[str]
    errors_file: NotRequired[str]


@dataclass
class Outcome:
    """Counts by kind of row, what was set aside, and what the reader should know."""

    kinds: tuple[str, ...]
    created: Counter[str] = field(default_factory=Counter)
    updated: Counter[str] = field(default_factory=Counter)
    unchanged: Counter[str] = field(default_factory=Counter)
    skipped: list[RefusedRecord] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    changed_items: int = 0
    raised_probabilities: int = 0
    study: str | None = None
    errors_file: str | None = None

    def add(self, kind: str, *, created: int = 0, updated: int = 0, unchanged: int = 0) -> None:
        self.created[kind] += created
        self.updated[kind] += updated
        self.unchanged[kind] += unchanged

    def include(self, other: Outcome) -> None:
        """Add what a further part of the same import did."""
        self.kinds += tuple(kind for kind in other.kinds if kind not in self.kinds)
        self.created += other.created
        self.updated += other.updated
        self.unchanged += other.unchanged
        self.warnings += other.warnings
        self.changed_items += other.changed_items
        self.raised_probabilities += other.raised_probabilities
        self.study = other.study or self.study

    def set_aside(self, problems: Problems, *, beside: Path) -> None:
        """List the bad records, and write them to `<beside>.errors.jsonl` (or into the data folder)."""
        if problems.errors:
            self.skipped = problems.to_json()
            self.errors_file = str(write_errors(problems, beside))

    def to_document(self) -> ImportDocument:
        document: ImportDocument = {
            "created": {kind: self.created[kind] for kind in self.kinds},
            "updated": {kind: self.updated[kind] for kind in self.kinds},
            "unchanged": {kind: self.unchanged[kind] for kind in self.kinds},
            "skipped": self.skipped,
            "warnings": [*self.warnings, *self.notes()],
        }
        if self.study is not None:
            document["study"] = self.study
        if self.errors_file is not None:
            document["errors_file"] = self.errors_file
        return document

    def notes(self) -> list[str]:
        n, raised = self.changed_items, self.raised_probabilities
        changed = f"{n} changed records are items of studies: labels given before are of earlier text"
        larger = (
            f"{raised} records were drawn before with a smaller inclusion probability; the larger one is kept, which "
            "is right for draws with the same seed. Items of studies keep theirs"
        )
        return [said for n, said in ((n, changed), (raised, larger)) if n]


def write_errors(problems: Problems, beside: Path) -> Path:
    """Write the bad records next to the file they came from, or into the data folder where that is read-only."""
    path = beside.with_name(f"{beside.name}.errors.jsonl")
    try:
        path.write_text(problems.to_jsonl(), encoding="utf-8")
    except OSError:
        folder = Path(settings.DATA_DIR) / "import-errors"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / path.name
        path.write_text(problems.to_jsonl(), encoding="utf-8")
    return path


@contextmanager
def explain_refusal(source: Source) -> Iterator[None]:
    """Say which file it was when the database refuses what the schema let pass."""
    try:
        yield
    except (IntegrityError, DataError) as error:
        raise source.error("the database refuses a value: {why}", why=error) from error
