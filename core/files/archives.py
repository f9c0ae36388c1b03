"""ZIP files from outside, unpacked within limits."""

from __future__ import annotations

import shutil
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from core.errors import InputError
from core.files.input_files import MEGABYTE, InputFile

SIZE_LIMIT = 1024 * MEGABYTE
MOST_FILES = 50_000
STRAY = ("__MACOSX", ".DS_Store")
"""What a desktop adds to an archive that it makes."""


def unpack(file: InputFile, into: Path) -> Path:
    """Unpack the ZIP file `file` below the empty folder `into`, and say where its content starts: in `into`, or in the
    only folder that lies there. InputError where it is no ZIP file, has more than 1 GB or 50,000 files unpacked, names
    a place outside, or holds anything but plain files."""
    try:
        with zipfile.ZipFile(file.path) as archive:
            listed = archive.infolist()
            if not all(one.filename for one in listed):
                raise file.error("holds a file without a name")
            members = [one for one in listed if not one.is_dir() and not is_stray(one.filename)]
            check_members(file, members)
            for member in members:
                write_member(file, archive, member, into)
    except InputError:
        raise
    except (OSError, ValueError, NotImplementedError, RuntimeError, EOFError, zipfile.BadZipFile, zlib.error) as why:
        raise file.error("is not a ZIP file that can be unpacked: {why}", why=why) from why
    inside = list(into.iterdir())
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else into


def is_stray(name: str) -> bool:
    return any(part in STRAY for part in PurePosixPath(name).parts)


def check_members(file: InputFile, members: list[zipfile.ZipInfo]) -> None:
    if not members:
        raise file.error("holds no files")
    if len(members) > MOST_FILES:
        raise file.error("holds {n:,} files, more than {most:,}", n=len(members), most=MOST_FILES)
    size = sum(one.file_size for one in members)
    if size > SIZE_LIMIT:
        raise file.error(
            "holds {size:,} MB, more than {most:,}: import it by a command",
            size=size // MEGABYTE,
            most=SIZE_LIMIT // MEGABYTE,
        )
    for one in members:
        path = PurePosixPath(one.filename)
        mode = one.external_attr >> 16
        if path.is_absolute() or ".." in path.parts or "\\" in one.filename:
            raise file.error("names a place outside of itself", field=one.filename)
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            raise file.error("holds something else than plain files", field=one.filename)


def write_member(file: InputFile, archive: zipfile.ZipFile, member: zipfile.ZipInfo, into: Path) -> None:
    """One file of the archive. zipfile itself reads no more than the size that was checked."""
    target = into / member.filename
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        raise file.error("holds the same name twice", field=member.filename)
    with archive.open(member) as source, target.open("xb") as sink:
        shutil.copyfileobj(source, sink)


def name_error(error: InputError, folder: Path, file: InputFile) -> InputError:
    """The error with the name under which the archive was given instead of the place where it was unpacked."""
    return InputError(error.message, file=to_given(error.file, folder, file), line=error.line, field=error.field)


def to_given(name: str | None, folder: Path, file: InputFile) -> str | None:
    return name and name.replace(str(folder), file.name)


def is_archive(file: InputFile) -> bool:
    """Whether it is a ZIP file of other things than a workbook."""
    if not file.path.is_file() or not zipfile.is_zipfile(file.path):
        return False
    with zipfile.ZipFile(file.path) as archive:
        return not any(name.startswith("xl/") for name in archive.namelist())
