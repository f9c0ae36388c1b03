"""Writing a study's archive: one moment of the database, in a file that is there whole or not at all."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from django.db.models import Model

from annotation.studies.models.studies import Study
from config.archives import attachments, members
from config.backups import tables
from config.backups.writing import Manifest, WrittenTable, migrations
from core.accounts.models.users import User
from core.batches import iterate_batches
from core.errors import InputError
from core.files.writing import Member, write_whole, write_zip
from core.read_snapshot import read_snapshot
from core.version import code_version

FORM = 1
MANIFEST = "archive.json"
SECRET = {"password": "", "email": "", "last_login": None, "is_superuser": False, "is_staff": False}
"""What an account is without: nobody can sign in with an archive, or gets rights through it."""


class StudyManifest(Manifest):
    study: str
    slug: str


def write(study: Study, path: Path) -> StudyManifest:
    """Write the study and what it rests on. Returns the manifest.

    Raises InputError while a judge is at work on it, OSError where the file cannot be written.
    """
    with write_whole(path) as file:
        with read_snapshot():
            file.writelines(write_zip(files(study)))
        with zipfile.ZipFile(file) as archive:
            manifest: StudyManifest = json.loads(archive.read(MANIFEST))
    return manifest


def files(study: Study) -> Iterator[Member]:
    """The archive's files: shared tables, the study's own, pictures and sounds, and what was written in all of them."""
    refuse_at_work(study)
    written: dict[str, WrittenTable] = {}
    needed = members.collect_shared_ids(study)
    tables_of = [(model, iterate_shared_rows(model, needed[model])) for model in members.list_shared_tables()]
    tables_of += [(model, iterate_own_rows(model, study)) for model in members.list_own_tables()]
    for model, rows in tables_of:
        one = written[model._meta.label] = WrittenTable()
        yield f"{model._meta.label}.jsonl", map(one.add, map(str.encode, rows))
    yield from attachments.files(needed)
    yield MANIFEST, [json.dumps(build_manifest(study, written), indent=2, ensure_ascii=False).encode()]


def refuse_at_work(study: Study) -> None:
    """Raises InputError while a judge is at work on it."""
    if study.judge_runs.filter(evaluation=None, finished_at=None, stopped_at=None).exists():
        raise InputError("A judge is at work on {study}: wait for it, or stop it.", field="study", study=study)


def iterate_shared_rows(model: type[Model], ids: Iterable[int]) -> Iterator[str]:
    for some in iterate_batches(sorted(ids), members.AT_ONCE):
        for line in tables.rows(model, found=model._base_manager.filter(pk__in=some)):
            yield drop_secrets(line) if model is User else line


def drop_secrets(line: str) -> str:
    return json.dumps({**json.loads(line), **SECRET}, ensure_ascii=False) + "\n"


def iterate_own_rows(model: type[Model], study: Study) -> Iterator[str]:
    return tables.rows(model, found=members.select_own_rows(model, study))


def build_manifest(study: Study, written: dict[str, WrittenTable]) -> StudyManifest:
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
