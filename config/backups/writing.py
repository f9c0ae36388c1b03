"""Writing a backup: one moment of the database, in a file that is there whole or not at all, in a folder of them."""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO, NotRequired, TypedDict

from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Model

from annotation.corpus.models import Attachment
from annotation.corpus.services import locate
from config.backups import tables
from config.backups.encryption import Encrypting
from core.files.writing import write_whole
from core.read_snapshot import read_snapshot
from core.version import code_version

FORM = 1
MANIFEST = "manifest.json"
ATTACHMENTS = "attachments/"
"""Pictures and sounds, whose bytes lie beside the database."""


class TableManifest(TypedDict):
    rows: int
    sha256: str


class Manifest(TypedDict):
    """What a backup says of itself."""

    form: int
    made_at: str
    code_version: str
    migrations: list[str]
    tables: dict[str, TableManifest]
    left_out: object
    attachments: NotRequired[dict[str, int]]
    withdrawn_again: NotRequired[dict[str, object]]


@dataclass
class WrittenTable:
    """What a backup holds of one table."""

    rows: int = 0
    sha256: hashlib._Hash = field(default_factory=hashlib.sha256)

    def add(self, line: bytes) -> bytes:
        self.rows += 1
        self.sha256.update(line)
        return line


def write(path: Path, *, key: bytes | None, tell: Callable[[str, int], None] = lambda *_: None) -> Manifest:
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


def write_archive(file: BinaryIO | Encrypting, tell: Callable[[str, int], None]) -> Manifest:
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


def build_manifest(written: dict[str, WrittenTable]) -> Manifest:
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


def write_attachments(archive: zipfile.ZipFile) -> dict[str, int]:
    """Add the bytes of all attachments, as they are. Returns how many were written, and how many are lost."""
    written = lost = 0
    for sha256 in Attachment.objects.order_by("pk").values_list("sha256", flat=True).iterator():
        path = locate(sha256)
        if path.exists():
            archive.write(path, f"{ATTACHMENTS}{sha256}", zipfile.ZIP_STORED)
            written += 1
        else:
            lost += 1
    return {"written": written, "lost": lost}


NAME = re.compile(r"concord-(\d{8}T\d{6}Z)\.(?:backup|zip)")
STAMP = "%Y%m%dT%H%M%SZ"


def new_path(folder: Path, *, encrypted: bool) -> Path:
    """Where the next backup goes. Its name says when it was begun."""
    return folder / f"concord-{datetime.now(UTC).strftime(STAMP)}.{'backup' if encrypted else 'zip'}"


def backups(folder: Path) -> list[tuple[datetime, Path]]:
    """The backups by age, the newest first. Files with other names are not Concord's."""
    found = ((NAME.fullmatch(path.name), path) for path in folder.iterdir())
    return sorted(((parse_stamp(match[1]), path) for match, path in found if match), reverse=True)


def parse_stamp(stamp: str) -> datetime:
    return datetime.strptime(stamp, STAMP).replace(tzinfo=UTC)


def prune(folder: Path, *, keep: int | None, days: int | None) -> list[Path]:
    """Delete all backups but the newest `keep`, and those that are older than `days`. The newest one always stays."""
    oldest = datetime.now(UTC) - timedelta(days=days) if days is not None else None
    too_many = backups(folder)[keep:] if keep is not None else []
    too_old = [one for one in backups(folder)[1:] if oldest and one[0] < oldest]
    paths = [path for _, path in sorted({*too_many, *too_old})]
    for path in paths:
        path.unlink()
    return paths
