"""A study as a folder that Hugging Face's `datasets` loads: a card, and items and labels as Parquet."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from annotation.errors import InputError
from annotation.models import Study
from annotation.queries.exchange import head_of, items_of, record_of
from annotation.services.exports import FORMATS
from annotation.services.label_files import ROWS
from judging.services import exports
from judging.services.exchanging.writing import put

KEY, TITLE = "hf", "Hugging Face dataset"
ITEMS = pa.schema(
    [
        ("item_id", pa.string()),
        ("item_source", pa.string()),
        ("position", pa.int64()),
        ("stratum", pa.string()),
        ("inclusion_probability", pa.float64()),
        ("record", pa.string()),
    ]
)
"""`record` is the dialogue or pair as a line of Concord's own JSONL."""


def write(study: Study, folder: Path) -> list[Path]:
    """Write README.md, data/items.parquet and data/labels.parquet. Raises InputError where that cannot be written."""
    data = folder / "data"
    try:
        data.mkdir(parents=True, exist_ok=True)
        n_items = write_items(study, data / "items.parquet")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(folder)) from error
    labels = exports.labels_of(study)
    from_rows = data / "labels.parquet"
    write_pieces(FORMATS["parquet"].pieces(labels), from_rows)
    told = card(study, n_items, len(labels.people), len(labels.judges))
    return [put(iter([told]), folder / "README.md"), data / "items.parquet", from_rows]


def write_pieces(pieces: Iterator[bytes], path: Path) -> None:
    with path.open("wb") as file:
        file.writelines(pieces)


def write_items(study: Study, path: Path) -> int:
    """All items in their order; how many."""
    n, items = 0, items_of(study)
    with pq.ParquetWriter(path, ITEMS) as writer:
        while group := list(islice(items, ROWS)):
            n += len(group)
            rows = [
                {
                    "item_id": (record := record_of(item))["id"],
                    "item_source": record["source"],
                    "position": item.position,
                    "stratum": item.stratum,
                    "inclusion_probability": item.inclusion_probability,
                    "record": json.dumps(record, ensure_ascii=False),
                }
                for item in group
            ]
            writer.write_table(pa.Table.from_pylist(rows, schema=ITEMS))
    return n


def card(study: Study, n_items: int, n_people: int, n_judges: int) -> str:
    """The dataset's card, whose head names the two tables."""
    head = head_of(study)
    scales = [
        f"| {scale.key} | {scale.question} | {scale.level} | {', '.join(scale.values) or 'any number'} | {scale.unit} |"
        for scale in head.scales
    ]
    lines = [
        "---",
        "configs:",
        "- config_name: labels",
        "  data_files: data/labels.parquet",
        "  default: true",
        "- config_name: items",
        "  data_files: data/items.parquet",
        f"pretty_name: {json.dumps(head.name, ensure_ascii=False)}",
        "---",
        "",
        f"# {head.name}",
        "",
        head.description or "No description was given.",
        "",
        f"{n_items:,} items; {n_people:,} labels of people and {n_judges:,} of judges. `labels` has one row for each",
        "answer of one rater to one criterion; `item_id` and `item_source` name the item, whose text is in `items`.",
        "A rater whose `excluded` is true does not count in the study's figures. `rater_kind` tells people, imported",
        "and simulated annotators, judges and baselines apart. No licence is stated here: add that of the material.",
        "",
        "| criterion | question | level | values | asked of |",
        "| --- | --- | --- | --- | --- |",
        *scales,
    ]
    return "\n".join(lines) + "\n"


def zipped(study: Study, into: IO[bytes]) -> None:
    """The folder in one ZIP archive."""
    with TemporaryDirectory(prefix="concord-dataset-") as place:
        folder = Path(place)
        with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in write(study, folder):
                archive.write(path, f"{study.slug}-{KEY}/{path.relative_to(folder)}")
