"""Writing a backup: one moment of the database, in a file that is there whole or not at all."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Model

from config.backups import tables
from config.backups.attachments import write_attachments
from config.backups.encryption import Encrypting
from core.files.atomic import write_whole
from core.read_snapshot import read_snapshot
from core.version import code_version

FORM = 1
MANIFEST = "manifest.json"


@dataclass
class WrittenTable:
    """What a backup holds of one table."""

    rows: int = 0
    sha256: Any = field(default_factory=hashlib.sha256)

    def add(self, line: bytes) -> bytes:
        self.rows += 1
        self.sha256.update(line)
        return line


def write(path: Path, *, key: bytes | None, tell: Callable[[str, int], None] = lambda *_: None) -> dict[str, Any]:
    """Write all tables as they are at one moment, encrypted where there is a key. Returns the manifest.

    OSError where the file cannot be written.
    """
    with write_whole(path) as file, read_snapshot():
        if key is None:
            return write_archive(file, tell)
        encrypting = Encrypting(file, key)
        manifest = write_archive(encrypting, tell)
        encrypting.finish()
    return manifest


def write_archive(file: BinaryIO | Encrypting, tell: Callable[[str, int], None]) -> dict[str, Any]:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        manifest = build_manifest({model._meta.label: table(archive, model, tell) for model in tables.list_models()})
        manifest["attachments"] = write_attachments(archive)
        archive.writestr(MANIFEST, json.dumps(manifest, indent=2))
    return manifest


def table(archive: zipfile.ZipFile, model: type[Model], tell: Callable[[str, int], None]) -> WrittenTable:
    written = WrittenTable()
    with archive.open(f"{model._meta.label}.jsonl", "w", force_zip64=True) as file:
        for line in tables.rows(model):
            file.write(written.add(line.encode()))
    tell(model._meta.label, written.rows)
    return written


def build_manifest(written: dict[str, WrittenTable]) -> dict[str, Any]:
    return {
        "form": FORM,
        "made_at": datetime.now(UTC).isoformat(),
        "code_version": code_version(),
        "migrations": migrations(),
        "tables": {label: {"rows": one.rows, "sha256": one.sha256.hexdigest()} for label, one in written.items()},
        "left_out": tables.LEFT_OUT,
    }


def migrations() -> list[str]:
    """List the applied migrations of the tables in a backup."""
    apps = {model._meta.app_label for model in tables.list_models()}
    return sorted(f"{app}.{name}" for app, name in MigrationRecorder(connection).applied_migrations() if app in apps)
