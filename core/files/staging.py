"""Uploads as files: of one request, or looked at before they are imported and kept for a day."""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from core.files.archives import is_archive, unpack
from core.files.input_files import InputFile
from core.files.writing import write_whole

KEY = re.compile(r"[0-9a-f]{32}")
LONGEST_NAME = 200
KEPT_SECONDS = 24 * 3600.0
OF_DATASETS = (".parquet", ".arrow")
"""A folder of one of these is read as a dataset, as it would be unpacked."""


def find_staging_folder() -> Path:
    """Where the uploads lie. config.data_folder and config.retention know it too."""
    return Path(settings.DATA_DIR) / "import-files"


def stage(chunks: Iterable[bytes], *, name: str, owner: int) -> str:
    """Keep an upload of an account, and return its key. What is older than a day is removed."""
    folder = find_staging_folder()
    folder.mkdir(parents=True, exist_ok=True)
    remove_old(folder)
    key = uuid.uuid4().hex
    with write_whole(folder / key) as file:
        file.writelines(chunks)
    with write_whole(folder / f"{key}.json") as file:
        file.write(json.dumps({"name": name[:LONGEST_NAME], "owner": owner}).encode())
    return key


def remove_old(folder: Path) -> None:
    limit = time.time() - KEPT_SECONDS
    for path in folder.glob("*"):
        if path.stat().st_mtime < limit:
            path.unlink(missing_ok=True)


def find_staged(key: str, *, owner: int) -> InputFile | None:
    """The upload with that key, under the name that it was given with; None where the account has none (any more)."""
    path = find_staging_folder() / key
    about = path.with_suffix(".json")
    if not KEY.fullmatch(key) or not path.is_file() or not about.is_file():
        return None
    told = json.loads(about.read_text(encoding="utf-8"))
    return InputFile(path, told["name"]) if told["owner"] == owner else None


def remove_staged(key: str) -> None:
    """Remove an upload with all that was written beside it, if it is still there."""
    if KEY.fullmatch(key):
        for path in find_staging_folder().glob(f"{key}*"):
            path.unlink(missing_ok=True)


@contextmanager
def unpack_staged(file: InputFile) -> Iterator[InputFile]:
    """Give the file, or what is packed in it: of a ZIP file that is no workbook its only file, else its folder."""
    if not is_archive(file):
        yield file
        return
    with TemporaryDirectory(prefix="concord-unpacked-") as place:
        found = unpack(file, Path(place))
        inside = [path for path in found.rglob("*") if path.is_file()]
        only = inside[0] if len(inside) == 1 and inside[0].suffix not in OF_DATASETS else None
        yield InputFile(only, f"{file.name}: {only.name}") if only else InputFile(found, file.name)


@contextmanager
def save_upload(upload: UploadedFile) -> Iterator[InputFile]:
    """The upload as a file under its own name, gone afterwards."""
    with TemporaryDirectory(prefix="concord-upload-") as folder:
        path = Path(folder) / "upload"
        with path.open("wb") as stream:
            stream.writelines(upload.chunks())
        yield InputFile(path, upload.name or "the file")
