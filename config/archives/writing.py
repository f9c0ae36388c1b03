"""Writing a study's archive: one moment of the database, in a file that is there whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from django.db.models import Model

from annotation.errors import InputError
from annotation.models import Study, User
from annotation.version import code_version
from config.archives import members
from config.backups import tables
from config.backups.writing import Written, migrations, one_moment

FORM = 1
MANIFEST = "archive.json"
SECRET = {"password": "", "email": "", "last_login": None, "is_superuser": False, "is_staff": False}
"""What an account is without: nobody can sign in with an archive, or gets rights through it."""


def write(study: Study, path: Path) -> dict[str, Any]:
    """Write the study and what it rests on, beside `path` first. Returns the manifest.

    Raises InputError while a judge is at work on it, OSError where the file cannot be written.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("wb") as file:
            manifest = write_into(study, file)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
    return manifest


def write_into(study: Study, file: IO[bytes]) -> dict[str, Any]:
    """The same into an open file."""
    with one_moment(), zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        refuse_at_work(study)
        needed = members.shared_ids(study)
        written = {m._meta.label: table(archive, m, shared_rows(m, needed[m])) for m in members.shared()}
        written |= {m._meta.label: table(archive, m, own_rows(m, study)) for m in members.own()}
        manifest = manifest_of(study, written)
        archive.writestr(MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False))
    return manifest


def refuse_at_work(study: Study) -> None:
    if study.judge_runs.filter(evaluation=None, finished_at=None, stopped_at=None).exists():
        raise InputError(f"A judge is at work on {study}: wait for it, or stop it.", field="study")


def shared_rows(model: type[Model], ids: Iterable[int]) -> Iterator[dict[str, Any]]:
    for some in members.chunks(sorted(ids)):
        for line in tables.rows(model, found=model._base_manager.filter(pk__in=some)):
            row = json.loads(line)
            yield {**row, **SECRET} if model is User else row


def own_rows(model: type[Model], study: Study) -> Iterator[dict[str, Any]]:
    return map(json.loads, tables.rows(model, found=members.rows_of(model, study)))


def table(archive: zipfile.ZipFile, model: type[Model], rows: Iterable[dict[str, Any]]) -> Written:
    written = Written(sha256=hashlib.sha256())
    with archive.open(f"{model._meta.label}.jsonl", "w", force_zip64=True) as file:
        for row in rows:
            file.write(written.add((json.dumps(row, ensure_ascii=False) + "\n").encode()))
    return written


def manifest_of(study: Study, written: dict[str, Written]) -> dict[str, Any]:
    return {
        "form": FORM,
        "study": study.name,
        "slug": study.slug,
        "made_at": datetime.now(UTC).isoformat(),
        "code_version": code_version(),
        "migrations": migrations(),
        "tables": {label: {"rows": one.rows, "sha256": one.sha256.hexdigest()} for label, one in written.items()},
        "left_out": members.LEFT_OUT,
    }
