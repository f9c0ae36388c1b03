"""Attachments that come with records: in a folder beside them, in an archive with them, or within the records."""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path

from annotation.corpus.models import Attachment
from annotation.corpus.parsing.contents import ATTACHED, Part
from annotation.corpus.parsing.records import DialogueRecord, PairRecord, Record
from annotation.corpus.services import attachments
from core.errors import InputError


def list_parts(record: Record) -> Iterator[Part]:
    """The parts of a record that are pictures or sounds."""
    if isinstance(record, DialogueRecord):
        found = [part for turn in record.turns for part in turn.parts]
    elif isinstance(record, PairRecord):
        found = [part for parts in record.parts.values() for part in parts]
        found += [part for one in record.further for part in one.parts]
    else:
        found = []
    return (part for part in found if part.kind in ATTACHED)


def store_attachments(record: Record, folder: Path | None) -> None:
    """Store what the record brings along, and name it in the record by its hash. InputError for what is not taken."""
    for part in list_parts(record):
        stored = store_part(part, folder)
        part.sha256, part.type, part.file, part.data = stored.sha256, stored.type, "", ""


def store_part(part: Part, folder: Path | None) -> Attachment:
    if part.data:
        return attachments.store(decode(part.data), kind=part.kind, name=part.name, declared=part.type)
    if part.file:
        return attachments.store_file(find_file(part.file, folder), kind=part.kind, name=part.file)
    known = Attachment.objects.filter(sha256=part.sha256).first()
    if known is None:
        raise InputError(f"the attachment {part.name or part.sha256[:12]} is not on this site", field="parts")
    return known


def decode(data: str) -> bytes:
    """The bytes of a text in base64; too many are refused before they are decoded."""
    attachments.check_size(len(data) * 3 // 4 - 2)
    try:
        return b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InputError(f"an attachment is not in base64: {error}", field="parts") from error


def find_file(name: str, folder: Path | None) -> Path:
    """The file that a record names, within the folder given for attachments. InputError where there is none."""
    if folder is None:
        told = f"{name} is a file beside the records: give the folder, or a ZIP file of the records with it"
        raise InputError(told, field="parts")
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise InputError(f"{name} lies outside of the attachments", field="parts")
    if not path.is_file():
        raise InputError(f"{name} is missing among the attachments", field="parts")
    return path


def list_hashes(record: Record) -> list[str]:
    """The hashes of what a record shows, once its attachments are stored."""
    return [part.sha256 for part in list_parts(record)]
