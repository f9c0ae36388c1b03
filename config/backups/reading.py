"""Reading a backup into an empty site: everything, or nothing at all."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.color import no_style
from django.db import IntegrityError, OperationalError, connection, transaction
from django.db.models import DateField, Model

from annotation.corpus.models import Attachment
from annotation.corpus.services import locate, write_bytes
from config.backups import tables
from config.backups.encryption import open_decrypted
from config.backups.writing import ATTACHMENTS, FORM, MANIFEST, Manifest, migrations
from config.erasure import again
from core.accounts.models.projects import DEFAULT_NAME, DEFAULT_SLUG, Project
from core.audit.log import record
from core.audit.models import Act
from core.audit.queries import RESTORE
from core.batches import iterate_batches
from core.errors import InputError

BATCH = 1000


def restore(path: Path, *, tell: Callable[[str, int], None] = lambda *_: None) -> Manifest:
    """Fill an empty, migrated database with a backup. Returns the manifest, with who was withdrawn and erased again.

    The restore is the newest act then: acts that the site did after the backup are missing, and the log says why.

    Raises InputError where the file is no backup, was changed or cut, was encrypted with another key, was made by a
    version with other tables, the site is not empty, or its disk is full; nothing is kept then.
    """
    try:
        with open_backup(path) as archive, transaction.atomic():
            manifest = read_manifest(archive, path)
            check_tables(manifest, path)
            check_empty()
            for model in tables.list_models():
                tell(model._meta.label, table(archive, model, manifest, path))
            read_attachments(archive, path)
            go_on_counting()
            record(RESTORE, by=None, made_at=manifest["made_at"], acts=manifest["tables"][Act._meta.label]["rows"])
            manifest["withdrawn_again"] = again.apply_list().to_json()
    except IntegrityError as error:
        raise InputError("refers to rows that it does not hold: {error}", file=str(path), error=error) from error
    except OperationalError as error:  # a full disk, or a server that went away
        raise InputError(
            "nothing was restored, as the database refused: {error}", file=str(path), error=error
        ) from error
    return manifest


def check_readable(path: Path) -> None:
    """Raise InputError where the file is no backup, was cut, or was encrypted with another key. Needs no database."""
    with open_backup(path) as archive:
        read_manifest(archive, path)


@contextmanager
def open_backup(path: Path) -> Iterator[zipfile.ZipFile]:
    """The backup's files, decrypted as they are read. InputError where one cannot be read, now or later."""
    try:
        with path.open("rb") as file, zipfile.ZipFile(open_decrypted(file)) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
        raise InputError("cannot be read as a backup: {error}", file=str(path), error=explain(error)) from error


def explain(error: Exception) -> str:
    """What the system or the reader of ZIP files says of a file, without its number and the path again."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


def read_manifest(archive: zipfile.ZipFile, path: Path) -> Manifest:
    """The manifest, if this code knows its form."""
    try:
        manifest: Manifest = json.loads(archive.read(MANIFEST))
        form, _, _ = manifest["form"], set(manifest["migrations"]), set(manifest["tables"])
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise InputError("holds no {manifest} of a backup", file=str(path), manifest=MANIFEST) from error
    if form != FORM:
        raise InputError(
            "has form {form}; this version reads form {known}", file=str(path), field="form", form=form, known=FORM
        )
    return manifest


def check_tables(manifest: Manifest, path: Path) -> None:
    """Raise InputError where the backup has other tables than this site."""
    made, here = set(manifest["migrations"]), set(migrations())
    if made != here or set(manifest["tables"]) != {model._meta.label for model in tables.list_models()}:
        other = ", ".join(sorted(made ^ here)[:5])
        raise InputError(
            "was made by {manifest}, whose tables differ ({other}). Restore it with that version, then upgrade.",
            file=str(path),
            field="migrations",
            manifest=manifest.get("code_version"),
            other=other,
        )


def check_empty() -> None:
    """A new site has nothing but the project that it begins with, which gives way to those of the backup."""
    for model in tables.list_models():
        there = model._base_manager.all()
        if model is Project:
            there = there.exclude(slug=DEFAULT_SLUG, name=DEFAULT_NAME)
        if there.exists():
            raise InputError(
                "The site is not empty: it has rows of {label}. Restore into a new one.", label=model._meta.label
            )
    Project.objects.all().delete()


def table(archive: zipfile.ZipFile, model: type[Model], manifest: Manifest, path: Path) -> int:
    """Fill one table; its hash is compared once all of it is read, before anything is committed."""
    label, found, n = model._meta.label, hashlib.sha256(), 0
    name = f"{label}.jsonl"
    if name not in archive.namelist():
        raise InputError("is not in the backup", file=f"{path}:{name}")
    with archive.open(name) as file, preserve_timestamps(model):
        rows = tables.instances(model, read_hashed_lines(file, found.update))
        try:
            for batch in iterate_batches(rows, BATCH):
                model._base_manager.bulk_create(batch)
                n += len(batch)
        except (KeyError, ValueError, TypeError, ValidationError, RecursionError) as error:
            raise InputError(
                "is not a row of {label}: {error}", file=f"{path}:{name}", line=n + 1, label=label, error=error
            ) from error
    if found.hexdigest() != manifest["tables"][label]["sha256"]:
        raise InputError("was changed or cut: its SHA-256 is not that of the manifest", file=f"{path}:{name}")
    return n


def read_hashed_lines(file: Any, update: Callable[[bytes], None]) -> Iterator[str]:
    for line in io.BufferedReader(file):
        update(line)
        yield line.decode()


@contextmanager
def preserve_timestamps(model: type[Model]) -> Iterator[None]:
    """Moments of making and changing come from the backup, not from the clock."""
    dated = [field for field in tables.columns(model) if isinstance(field, DateField)]
    kept = [(field, field.auto_now, field.auto_now_add) for field in dated]
    for field in dated:
        field.auto_now = field.auto_now_add = False
    try:
        yield
    finally:
        for field, now, add in kept:
            field.auto_now, field.auto_now_add = now, add


def read_attachments(archive: zipfile.ZipFile, path: Path) -> None:
    """Put the bytes of the attachments that are now in the database where they belong.

    InputError where some are not what they were.
    """
    there = set(archive.namelist())
    for sha256, size in Attachment.objects.order_by("pk").values_list("sha256", "size").iterator():
        name = f"{ATTACHMENTS}{sha256}"
        if name not in there:
            continue  # lost before the backup was made, which its manifest says
        with archive.open(name) as file:
            data = file.read(size + 1)
        if hashlib.sha256(data).hexdigest() != sha256:
            raise InputError("was changed or cut: its SHA-256 is not its name", file=f"{path}:{name}")
        write_bytes(data, locate(sha256))


def go_on_counting() -> None:
    """The next row of each table gets a number that is free, where the database counts beside the table."""
    statements = connection.ops.sequence_reset_sql(no_style(), tables.list_models())
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
