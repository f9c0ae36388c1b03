"""Pictures and sounds in a study's archive: their bytes, and which dialogue or pair shows them."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from django.conf import settings
from django.db.models import Model

from annotation.corpus.models import Attachment, AttachmentUse, Dialogue, ResponsePair
from annotation.corpus.services import locate, store_attachment
from config.archives.checking import read_lines
from config.archives.members import AT_ONCE
from core.batches import iterate_batches
from core.errors import InputError
from core.files.input_files import MEGABYTE
from core.files.json_text import parse_json
from core.files.writing import Member

FOLDER, USES = "attachments/", "attachments.jsonl"
NAME = re.compile(r"attachments/[0-9a-f]{64}")
SHOWN_BY: Mapping[str, type[Model]] = {"dialogue": Dialogue, "pair": ResponsePair}
PIECE = MEGABYTE


def list_uses(needed: Mapping[type[Model], Iterable[int]]) -> list[tuple[str, str, int]]:
    """Which of these dialogues and pairs shows which attachment, by hash."""
    return [
        (sha256, name, pk)
        for name, model in SHOWN_BY.items()
        for some in iterate_batches(sorted(needed[model]), AT_ONCE)
        for sha256, pk in AttachmentUse.objects.filter(**{f"{name}__in": some})
        .order_by("pk")
        .values_list("attachment__sha256", name)
    ]


def files(needed: Mapping[type[Model], Iterable[int]]) -> Iterator[Member]:
    """The archive's files of attachments. What is lost on this site is missing there too."""
    uses = list_uses(needed)
    lines = ({"sha256": sha256, "shown_by": name, "id": pk} for sha256, name, pk in uses)
    yield USES, (json.dumps(line).encode() + b"\n" for line in lines)
    for sha256 in dict.fromkeys(sha256 for sha256, _, _ in uses):
        if (path := locate(sha256)).exists():
            yield f"{FOLDER}{sha256}", read_pieces(path)


def read_pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece


def list_names(archive: zipfile.ZipFile) -> set[str]:
    """The names in an archive that an attachment may have."""
    return {name for name in archive.namelist() if name == USES or NAME.fullmatch(name)}


def restore(archive: zipfile.ZipFile, path: Path, numbers: Mapping[type[Model], Mapping[int, int]]) -> dict[str, int]:
    """Store the attachments and note what shows them here. Archives of before hold none.

    Returns how many were stored, and how many the archive names and does not hold. InputError where one is not what its
    name says, is too large, or is no picture or sound.
    """
    uses = list(read_uses(archive, path, numbers)) if USES in archive.namelist() else []
    asked = dict.fromkeys(sha256 for sha256, _, _ in uses)
    if others := list_names(archive) - {USES, *(f"{FOLDER}{sha256}" for sha256 in asked)}:
        raise InputError("holds {others}, which nothing shows", file=str(path), others=min(others))
    there = {sha256: read_one(archive, path, sha256) for sha256 in asked if f"{FOLDER}{sha256}" in archive.namelist()}
    AttachmentUse.objects.bulk_create(
        (AttachmentUse(attachment=there[sha256], **{f"{name}_id": pk}) for sha256, name, pk in uses if sha256 in there),
        ignore_conflicts=True,  # other studies of this site may show the same dialogue
    )
    return {"stored": len(there), "lost": len(asked) - len(there)}


def read_uses(
    archive: zipfile.ZipFile, path: Path, numbers: Mapping[type[Model], Mapping[int, int]]
) -> Iterator[tuple[str, str, int]]:
    """Hash, what shows it, and that row's id here. InputError for a line that names something else."""
    with archive.open(USES) as file:
        for number, line in enumerate(read_lines(file), start=1):
            try:
                one = parse_json(line)
                name = str(one["shown_by"])
                yield str(one["sha256"]), name, numbers[SHOWN_BY[name]][one["id"]]
            except (ValueError, KeyError, TypeError) as error:
                raise InputError("is not a use of an attachment", file=f"{path}:{USES}", line=number) from error


def read_one(archive: zipfile.ZipFile, path: Path, sha256: str) -> Attachment:
    """Store one. Its bytes are looked at as those of an upload are."""
    name = f"{FOLDER}{sha256}"
    with archive.open(name) as file:
        data = file.read(settings.MAX_ATTACHMENT_BYTES + 1)
    stored = store_attachment(data, name=sha256)
    if stored.sha256 != sha256:
        raise InputError("was changed or cut: its SHA-256 is not its name", file=f"{path}:{name}")
    return stored
