"""Files that are written: whole or not at all, piece by piece while they are sent, and as Parquet.

Parquet needs pyarrow, which an image may leave out: no other package takes as much room.
"""

from __future__ import annotations

import errno
import fcntl
import io
import os
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, BinaryIO, Self

from core.batches import iterate_batches
from core.errors import InputError

if TYPE_CHECKING:
    import pyarrow
    from _typeshed import ReadableBuffer

PREFIX, SUFFIX = ".concord-", ".part"
"""Prefix of a file's name while it is written. Its writer holds a lock on it."""


STDOUT = Path("/dev/stdout")
"""Standard output, as a place to write to."""


class ReaderGoneError(Exception):
    """Nobody reads standard output any more, such as behind `head`."""


def output_path(given: str) -> Path:
    """Read what is given as the place of an output, where `-` is standard output."""
    return STDOUT if given == "-" else Path(given)


def refuse_stdout(path: Path | None, kind: str) -> None:
    """Raise InputError for standard output where only a file or a folder, as `kind` says, can be written."""
    if path == STDOUT:
        raise InputError("This is written to a {kind}, not to standard output: name one.", field="output", kind=kind)


@contextmanager
def open_as_it_is(path: Path) -> Iterator[BinaryIO]:
    """Open a file, a pipe, a device or standard output. Raises OSError, of standard output also ReaderGoneError."""
    if path != STDOUT:
        with path.open("wb") as file:
            yield file
        return
    try:
        with open(sys.stdout.fileno(), "wb", closefd=False) as file:  # by its path, what it holds would be cut off
            yield file
    except BrokenPipeError as error:
        raise ReaderGoneError from error


def write_file(path: Path, content: bytes) -> None:
    """Write a file at once. Raises InputError where the place cannot be written."""
    try:
        with open_as_it_is(path) as file:
            file.write(content)
    except OSError as error:
        raise InputError("cannot be written: {strerror}", file=str(path), strerror=error.strerror) from error


@contextmanager
def write_whole(path: Path) -> Iterator[BinaryIO]:
    """Open a file that gets its name once it is complete and on the disk. OSError where it cannot be written.

    What a killed process left in the same folder is removed. A pipe or a device is written to as it is.
    """
    if path == STDOUT or (path.exists() and not path.is_file()):
        with open_as_it_is(path) as file:
            yield file
        return
    path = path.resolve()  # a link keeps its target
    remove_abandoned(path.parent)
    part, whole = start_part(path.parent)
    try:
        with whole:
            yield whole
            whole.flush()
            os.fsync(whole.fileno())
            part.replace(path)
        sync_folder(path.parent)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def start_part(folder: Path) -> tuple[Path, BinaryIO]:
    """Make a new file in the folder, which only its owner may read, and lock it."""
    while True:
        handle, name = tempfile.mkstemp(prefix=PREFIX, suffix=SUFFIX, dir=folder)
        file = os.fdopen(handle, "w+b")
        fcntl.flock(file, fcntl.LOCK_EX)
        if Path(name).exists():
            return Path(name), file
        file.close()  # another process took it for abandoned just before it was locked


def remove_abandoned(folder: Path) -> None:
    """Remove the parts that no process holds a lock on."""
    for part in folder.glob(f"{PREFIX}*{SUFFIX}"):
        # Another process writes it, has just finished it, or it is of another account.
        with suppress(BlockingIOError, FileNotFoundError, PermissionError), part.open("rb+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            part.unlink()


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder are on the disk too."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in {errno.EBADF, errno.EINVAL}:  # network file systems that cannot sync a folder
            raise
    finally:
        os.close(handle)


AT_ONCE = 2**16
"""Bytes that are handed on together, at least."""

Member = tuple[str, Iterable[bytes]]
"""A file of an archive: its name, and its pieces."""


class Pieces(io.RawIOBase):
    """What is written to it, handed on a piece at a time."""

    def __init__(self) -> None:
        self.waiting: list[bytes] = []
        self.told = self.size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer) -> int:
        piece = bytes(data)
        self.waiting.append(piece)
        self.told += len(piece)
        self.size += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self.told

    def take(self) -> bytes:
        pieces, self.waiting, self.size = self.waiting, [], 0
        return b"".join(pieces)


def write_zip(members: Iterable[Member]) -> Iterator[bytes]:
    """A ZIP archive of files, which are read one after the other, each as it is needed."""
    into = Pieces()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, pieces in members:
            with archive.open(name, "w", force_zip64=True) as file:
                for piece in pieces:
                    file.write(piece)
                    if into.size >= AT_ONCE:
                        yield into.take()
    yield into.take()


def move_below(folder: str, members: Iterable[Member]) -> Iterator[Member]:
    """The same files in a folder of that name."""
    return ((f"{folder}/{name}", pieces) for name, pieces in members)


ROWS_AT_ONCE = 10_000
"""Rows in a row group of a streamed file."""
WAITING = 1_000
"""The same of a file that rows are added to, whose values are longer."""

Columns = Sequence[tuple[str, str]]
"""Name and type of each column: a type of Arrow by its name, or one of those below."""
TIME, TEXTS = "time", "texts"


def load_arrow() -> ModuleType:
    """Return pyarrow with its Parquet module. Raises InputError where the package is not installed."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise InputError(
            "Parquet files and packed logs need the Python package pyarrow, which is not installed here"
        ) from error
    arrow: ModuleType = pyarrow
    return arrow


def build_schema(columns: Columns) -> pyarrow.Schema:
    """Return the columns as Arrow has them. Raises InputError without pyarrow."""
    arrow = load_arrow()
    own = {TIME: arrow.timestamp("us", tz="UTC"), TEXTS: arrow.list_(arrow.string())}
    return arrow.schema([(name, own.get(kind, kind)) for name, kind in columns])


def table_pieces(rows: Iterable[Sequence[object]], columns: Columns) -> Iterator[bytes]:
    """Return the file, a row group at a time. Raises InputError, before the first is asked for, without pyarrow."""
    return _row_groups(rows, build_schema(columns))


def _row_groups(rows: Iterable[Sequence[object]], schema: pyarrow.Schema) -> Iterator[bytes]:
    arrow, into = load_arrow(), Pieces()
    with arrow.parquet.ParquetWriter(into, schema) as writer:
        for group in iterate_batches(rows, ROWS_AT_ONCE):
            columns = zip(zip(*group, strict=True), schema, strict=True)
            arrays = [arrow.array(column, field.type) for column, field in columns]
            writer.write_table(arrow.table(arrays, schema=schema))
            yield into.take()
    yield into.take()


class ParquetRows:
    """A Parquet file that rows are added to: `with Rows(path, CASES) as file: file.add(row)`.

    Written in groups of rows so that any number of them needs little memory.
    """

    def __init__(self, path: Path, columns: Columns) -> None:
        self.arrow, self.schema, self.waiting = load_arrow(), build_schema(columns), list[Mapping[str, object]]()
        path.parent.mkdir(parents=True, exist_ok=True)
        self.writer = self.arrow.parquet.ParquetWriter(path, self.schema)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.flush()
        self.writer.close()

    def add(self, row: Mapping[str, object]) -> None:
        self.waiting.append(row)
        if len(self.waiting) >= WAITING:
            self.flush()

    def flush(self) -> None:
        if self.waiting:
            self.writer.write_table(self.arrow.Table.from_pylist(self.waiting, schema=self.schema))
            self.waiting = []
