"""Reading a study's archive into a site that has other studies: all of it, or nothing.

Own rows get new numbers. What the site has already (accounts, material, judges) is used, where it is the same.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any

from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, transaction
from django.db.models import Model, Q

from annotation.studies.models.studies import Study
from config.archives import attachments, members
from config.archives.checking import MANIFEST_LIMIT, check_members, check_row, read_lines
from config.archives.writing import FORM, MANIFEST, SECRET, StudyManifest
from config.backups import tables
from config.backups.reading import BATCH, explain, preserve_timestamps
from config.backups.writing import migrations
from config.erasure import again
from core.accounts.models.projects import Project, choose_project
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.files.json_text import parse_json
from core.names import check_line
from judging.assessment.models.assessment import CalibrationRun
from judging.judges.models import Judge
from judging.runs.models.runs import JudgeRun, Judgment

NAMING = {"judging.Judgment": "details", "judging.JudgeRun": "result"}
"""Table -> column of JSON in which a row names others."""

NAMED = (User, Study, Judge)
"""Tables whose rows people name."""

LINKED: dict[str, type[Model]] = {"run": JudgeRun, "calibration": CalibrationRun}

Numbers = dict[type[Model], dict[int, int]]
"""Table -> {number of a row in the archive: its number here}."""

HERE = 0
"""Projects are the site's own: whatever project a row was of, it is now of the one that has this number."""


class RestoredManifest(StudyManifest):
    rows: dict[str, dict[str, int]]


@audited("study.restore", says=("path", "project"))
def restore(*, by: User | None, path: Path, project: Project | None = None) -> RestoredManifest:
    """Add the study of an archive to this site, to a project of it or to the only one.

    Returns the manifest, with how many rows were new and how many known, how many pictures and sounds came with it, and
    who was withdrawn and erased again.

    Raises InputError where the file is no archive, was changed or cut, or was made by a version with other tables, and
    where the site has a study of this name, or something of the same name with another content; nothing is kept then.
    """
    try:
        with zipfile.ZipFile(path) as archive, transaction.atomic():
            manifest = read_manifest(archive, path)
            tables_of = {f"{label}.jsonl" for label in manifest["tables"]}
            check_members(archive, {MANIFEST, *tables_of, *attachments.list_names(archive)}, path)
            numbers: Numbers = defaultdict(dict)
            numbers[Project] = {HERE: choose_project(by, project).pk}
            rows = {}
            for model in (*members.list_shared_tables(), *members.list_own_tables()):
                rows[model._meta.label] = table(archive, model, manifest, path, numbers)
            check_study(manifest, path, numbers)
            done_again = again.apply_to_archive(archive, numbers)
            attached = attachments.restore(archive, path, numbers)
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,
        RuntimeError,
        OSError,
    ) as error:  # how zipfile says it
        raise InputError("cannot be read as an archive: {error}", file=str(path), error=explain(error)) from error
    except (IntegrityError, DataError) as error:
        raise InputError("holds rows that cannot be here: {error}", file=str(path), error=error) from error
    return {**manifest, "rows": rows, "attachments": attached, "withdrawn_again": done_again.to_json()}


def read_manifest(archive: zipfile.ZipFile, path: Path) -> StudyManifest:
    """The manifest, if this code can read what it lists and the study is not here."""
    try:
        if archive.getinfo(MANIFEST).file_size > MANIFEST_LIMIT:
            raise ValueError("it is too large")  # noqa: TRY301 — one message for all that is no manifest
        manifest: StudyManifest = parse_json(archive.read(MANIFEST))
        form, made = manifest["form"], set(manifest["migrations"])
        name, slug, listed = str(manifest["study"]), str(manifest["slug"]), set(manifest["tables"])
        manifest["tables"] = {label: {**one, "sha256": str(one["sha256"])} for label, one in manifest["tables"].items()}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError("holds no {manifest} of a study", file=str(path), manifest=MANIFEST) from error
    here = set(migrations())
    if (
        form != FORM
        or made != here
        or listed != {one._meta.label for one in (*members.list_shared_tables(), *members.list_own_tables())}
    ):
        raise InputError(
            "was made by {manifest}, whose tables differ: restore it there, then upgrade",
            file=str(path),
            field="migrations",
            manifest=manifest.get("code_version"),
        )
    if Study.objects.filter(name=name).exists() or Study.objects.filter(slug=slug).exists():
        raise InputError("There is a study {name} here already.", file=str(path), field="study", name=name)
    return manifest


def table(
    archive: zipfile.ZipFile, model: type[Model], manifest: StudyManifest, path: Path, numbers: Numbers
) -> dict[str, int]:
    """Add the rows of one table; their hash is compared once all are read, before anything is committed."""
    label, found, made, known = model._meta.label, hashlib.sha256(), 0, 0
    name = f"{label}.jsonl"
    if name not in archive.namelist():
        raise InputError("is not in the archive", file=f"{path}:{name}")
    with archive.open(name) as file, preserve_timestamps(model):
        lines = read_hashed_lines(file, found.update)
        try:
            while batch := [renumber_row(model, parse_json(line), numbers) for line in islice(lines, BATCH)]:
                check_ids(batch, numbers[model])
                same = load_known_rows(model, batch, path, numbers[Project][HERE]) if model in members.SHARED else {}
                numbers[model].update(same)
                add(model, [row for row in batch if row["id"] not in same], numbers)
                made, known = made + len(batch) - len(same), known + len(same)
        except (KeyError, ValueError, TypeError, OverflowError, ValidationError) as error:
            if isinstance(error, InputError) and error.file:
                raise
            raise InputError(
                "is not a row of {label}: {error}",
                file=f"{path}:{name}",
                line=made + known + 1,
                label=label,
                error=error,
            ) from error
    if found.hexdigest() != manifest["tables"][label]["sha256"]:
        raise InputError("was changed or cut: its SHA-256 is not that of the manifest", file=f"{path}:{name}")
    return {"created": made, "unchanged": known}


def read_hashed_lines(file: IO[bytes], update: Callable[[bytes], None]) -> Iterator[bytes]:
    for line in read_lines(file):
        update(line)
        yield line


def check_ids(rows: list[dict[str, object]], known: dict[int, int]) -> None:
    """Raise ValueError where a number stands for two rows of a table: what refers to it could mean either."""
    numbers = [row["id"] for row in rows]
    if len(set(numbers)) < len(numbers) or known.keys() & set(numbers):
        raise ValueError("an id is there twice")


def check_study(manifest: StudyManifest, path: Path, numbers: Numbers) -> None:
    """Raise InputError unless the one study in it is the one that the manifest names."""
    found = Study.objects.filter(pk__in=numbers[Study].values()).values_list("name", "slug")
    if list(found) != [(manifest["study"], manifest["slug"])]:
        raise InputError("holds another study than its manifest names", file=str(path))


def renumber_row(model: type[Model], row: dict[str, Any], numbers: Numbers) -> dict[str, object]:
    """The row with the numbers that things have here. A link to what the archive does not hold is no link."""
    for link in members.links(model):
        old, target = row[link.attname], link.remote_field.model
        if old is not None:
            new = numbers[target].get(HERE if target is Project else old)
            if new is None and not link.null:
                raise ValueError(f"{link.name} {old} is not in the archive")
            row[link.attname] = new
    if model in NAMED:
        check_line(row.get("name") or row.get("username", ""))
        check_line(row.get("display_name", ""))
    if model is User:
        row |= {**SECRET, "password": "!", "is_researcher": False}
    return row


def load_known_rows(model: type[Model], rows: list[dict[str, Any]], path: Path, project: int) -> dict[int, int]:
    """Map the rows of a shared table that exist here: number in the archive -> number here. One query."""
    key, same = members.SHARED[model]
    own = ("project_id",) if model is Judge else ()
    like = Q()
    for name in key:
        values = {row[name] for row in rows}
        like &= Q(**{f"{name}__in": values - {None}}) | (
            Q(**{f"{name}__isnull": True}) if None in values else Q(pk=None)
        )
    here = {
        tuple(row[name] for name in key): row
        for row in model._base_manager.filter(like).values("pk", *key, *same, *own)
    }
    found: dict[int, int] = {}
    for row in rows:
        if there := here.get(tuple(row[name] for name in key)):
            if own and there["project_id"] != project:
                raise InputError(
                    "The name {row} of a {verbose_name} is taken.",
                    file=str(path),
                    row=row["name"],
                    verbose_name=model._meta.verbose_name,
                )
            for name in same:
                if there[name] != row[name]:
                    who = " ".join(str(row[part]) for part in key)
                    raise InputError(
                        "{verbose_name} {who} is here with another {name}.",
                        file=str(path),
                        verbose_name=model._meta.verbose_name,
                        who=who,
                        name=name,
                    )
            found[row["id"]] = there["pk"]
    return found


def add(model: type[Model], rows: list[dict[str, Any]], numbers: Numbers) -> None:
    old = [row["id"] for row in rows]
    made = list(tables.instances(model, (json.dumps({**row, "id": None}) for row in rows)))
    for one in made:
        check_row(one)
    for one, number in zip(model._base_manager.bulk_create(made), old, strict=True):
        numbers[model][number] = one.pk
    if column := NAMING.get(model._meta.label):
        rename(model, made, column, numbers)


def rename(model: type[Model], rows: list[Model], column: str, numbers: Numbers) -> None:
    """Put the numbers that rows have here into a column of JSON that names them."""
    changed = []
    for row in rows:
        before = getattr(row, column)
        setattr(row, column, renumber_value(before, numbers))
        if getattr(row, column) != before:
            changed.append(row)
    model._base_manager.bulk_update(changed, [column], batch_size=BATCH)


def renumber_value(value: object, numbers: Numbers) -> object:
    """The same with other numbers: of the judgments that one is made of, of the run and the calibration behind it."""
    if isinstance(value, list):
        return [renumber_value(one, numbers) for one in value]
    if not isinstance(value, dict):
        return value
    return {name: find_number(name, part, numbers) for name, part in value.items()}


def find_number(name: str, part: object, numbers: Numbers) -> object:
    if name == "members" and isinstance(part, list) and not all(isinstance(one, dict) for one in part):
        return [numbers[Judgment][whole(one)] for one in part if one in numbers[Judgment]]
    if name in LINKED and part is not None:
        return numbers[LINKED[name]].get(whole(part))
    return renumber_value(part, numbers)


def whole(number: object) -> int:
    """A number of a row. ValueError for anything else, which would be kept as it is and lead to a row of this site."""
    if type(number) is not int:
        raise ValueError(f"{number!r} is not the number of a row")
    return number
