"""Parquet files. They need pyarrow, which an image may leave out: no other package takes as much room."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from core.errors import InputError
from core.files.streaming import Pieces

AT_ONCE = 10_000
"""Rows in a row group of a streamed file."""
WAITING = 1_000
"""The same of a file that rows are added to, whose values are longer."""

Columns = Sequence[tuple[str, str]]
"""Name and type of each column: a type of Arrow by its name, or one of those below."""
TIME, TEXTS = "time", "texts"


def load_arrow() -> Any:
    """Return pyarrow with its Parquet module. Raises InputError where the package is not installed."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        message = "Parquet files and packed logs need the Python package pyarrow, which is not installed here"
        raise InputError(message) from error
    return pyarrow


def build_schema(columns: Columns) -> Any:
    """Return the columns as Arrow has them. Raises InputError without pyarrow."""
    arrow = load_arrow()
    own = {TIME: arrow.timestamp("us", tz="UTC"), TEXTS: arrow.list_(arrow.string())}
    return arrow.schema([(name, own.get(kind, kind)) for name, kind in columns])


def table_pieces(rows: Iterable[Sequence[Any]], columns: Columns) -> Iterator[bytes]:
    """Return the file, a row group at a time. Raises InputError, before the first is asked for, without pyarrow."""
    return _row_groups(rows, build_schema(columns))


def _row_groups(rows: Iterable[Sequence[Any]], schema: Any) -> Iterator[bytes]:
    arrow, into, left = load_arrow(), Pieces(), iter(rows)
    with arrow.parquet.ParquetWriter(into, schema) as writer:
        while group := list(islice(left, AT_ONCE)):
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
        self.arrow, self.schema, self.waiting = load_arrow(), build_schema(columns), list[Mapping[str, Any]]()
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

    def add(self, row: Mapping[str, Any]) -> None:
        self.waiting.append(row)
        if len(self.waiting) >= WAITING:
            self.flush()

    def flush(self) -> None:
        if self.waiting:
            self.writer.write_table(self.arrow.Table.from_pylist(self.waiting, schema=self.schema))
            self.waiting = []
