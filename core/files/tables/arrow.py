"""Parquet files, and folders that Hugging Face's `datasets` saved or its hub serves: batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import InputError
from core.files.input_files import InputFile
from core.files.json_text import parse_json
from core.files.tables.rows import TableRow
from core.files.writing import load_arrow

if TYPE_CHECKING:
    import pyarrow

AT_ONCE = 500
SPLIT = "split"


def read_parquet(file: InputFile, path: Path | None = None, first: int = 1) -> Iterator[TableRow]:
    """Yield the rows of a Parquet file, numbered from `first`."""
    arrow = load_arrow()
    try:
        with arrow.parquet.ParquetFile(path or file.path) as table:
            yield from number_rows(table.iter_batches(batch_size=AT_ONCE), first)
    except (OSError, arrow.ArrowException) as error:
        raise file.error("is not a Parquet file that can be read: {why}", why=error) from error


def read_arrow(file: InputFile, path: Path | None = None, first: int = 1) -> Iterator[TableRow]:
    """Yield the rows of an Arrow file as `save_to_disk` writes it (a stream), or of the file format."""
    arrow = load_arrow()
    place = path or file.path
    try:
        with arrow.memory_map(str(place)) as source:
            try:
                batches = arrow.ipc.open_stream(source)
            except arrow.ArrowInvalid:
                reader = arrow.ipc.open_file(source)
                batches = (reader.get_batch(place) for place in range(reader.num_record_batches))
            yield from number_rows((piece for one in batches for piece in slice_batch(one)), first)
    except (OSError, arrow.ArrowException) as error:
        raise file.error("is not an Arrow file that can be read: {why}", why=error) from error


def slice_batch(batch: pyarrow.RecordBatch) -> Iterator[pyarrow.RecordBatch]:
    """A batch of a saved dataset may hold all rows; only some become Python objects at once."""
    for start in range(0, batch.num_rows, AT_ONCE):
        yield batch.slice(start, AT_ONCE)


def number_rows(batches: Iterable[pyarrow.RecordBatch], first: int) -> Iterator[TableRow]:
    number = first
    for batch in batches:
        for row in batch.to_pylist():
            yield TableRow(number, {name: to_plain(value) for name, value in row.items()})
            number += 1


def to_plain(value: object) -> object:
    """A value of Arrow as JSON has it. Bytes, which are no text of a dialogue, are left out."""
    if isinstance(value, dict):
        return {name: to_plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [to_plain(part) for part in value]
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return str(value)
    if isinstance(value, Decimal):
        return float(value)
    return None if isinstance(value, bytes) else value


def read_folder(file: InputFile) -> Iterator[TableRow]:
    """Yield the rows of a folder of `datasets`, or of one of its Arrow files; `split` names the part of each."""
    if file.path.is_file():
        yield from read_arrow(file)
        return
    parts = list(list_parts(file))
    if not parts:
        raise file.error(
            "holds neither Arrow nor Parquet files, as a dataset of Hugging Face does; "
            "records with pictures or sounds beside them are imported as a known format, dialogues or response pairs"
        )
    first = 1
    for split, path in parts:
        read = read_arrow if path.suffix == ".arrow" else read_parquet
        number = first - 1
        for number, values in read(file, path, first):
            yield TableRow(number, values if not split or SPLIT in values else {**values, SPLIT: split})
        first = number + 1


def list_parts(file: InputFile) -> Iterator[tuple[str, Path]]:
    """Split and path of each file of rows, in the order in which the dataset has them."""
    folder = file.path
    splits = read_json_file(file, folder / "dataset_dict.json").get("splits")
    if isinstance(splits, list):
        for split in splits:
            for path in list_saved(file, folder / str(split)):
                yield str(split), path
        return
    if (folder / "state.json").is_file():
        for path in list_saved(file, folder):
            yield "", path
        return
    for path in sorted(folder.rglob("*.parquet")):
        yield path.stem.partition("-0")[0], path


def list_saved(file: InputFile, folder: Path) -> list[Path]:
    """The Arrow files that `state.json` of a saved dataset names."""
    named = read_json_file(file, folder / "state.json").get("_data_files") or []
    paths = [folder / Path(str(one.get("filename"))).name for one in named if isinstance(one, dict)]
    if missing := [path for path in paths if not path.is_file()]:
        raise file.error("names {name}, which is not there", field="state.json", name=missing[0].name)
    return paths


def read_json_file(file: InputFile, path: Path) -> dict[str, Any]:
    """A small JSON file of the folder; empty where there is none."""
    if not path.is_file():
        return {}
    try:
        found = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, InputError) as error:
        raise file.error("cannot be read: {why}", field=path.name, why=error) from error
    return found if isinstance(found, dict) else {}
