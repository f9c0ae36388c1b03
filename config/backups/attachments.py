"""Pictures and sounds in a backup: their bytes, which lie beside the database."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

from annotation.corpus.models import Attachment
from annotation.corpus.services.attachments import locate, write_bytes
from core.errors import InputError

FOLDER = "attachments/"


def write_attachments(archive: zipfile.ZipFile) -> dict[str, int]:
    """Add the bytes of all attachments, as they are. Returns how many were written, and how many are lost."""
    written = lost = 0
    for sha256 in Attachment.objects.order_by("pk").values_list("sha256", flat=True).iterator():
        path = locate(sha256)
        if path.exists():
            archive.write(path, f"{FOLDER}{sha256}", zipfile.ZIP_STORED)
            written += 1
        else:
            lost += 1
    return {"written": written, "lost": lost}


def read_attachments(archive: zipfile.ZipFile, path: Path) -> None:
    """Put the bytes of the attachments that are now in the database where they belong.

    InputError where some are not what they were.
    """
    there = set(archive.namelist())
    for sha256, size in Attachment.objects.order_by("pk").values_list("sha256", "size").iterator():
        name = f"{FOLDER}{sha256}"
        if name not in there:
            continue  # lost before the backup was made, which its manifest says
        with archive.open(name) as file:
            data = file.read(size + 1)
        if hashlib.sha256(data).hexdigest() != sha256:
            raise InputError("was changed or cut: its SHA-256 is not its name", file=f"{path}:{name}")
        write_bytes(data, locate(sha256))
