"""Labels as Parquet, made piece by piece so that a study of any size needs little memory."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from annotation.queries.labels import LabelRow

ROWS = 10_000
"""In a row group."""

TEXT, WHOLE = pa.string(), pa.int64()
LABELS = pa.schema(
    [
        ("study", TEXT),
        ("item_id", TEXT),
        ("item_source", TEXT),
        ("position", WHOLE),
        ("stratum", TEXT),
        ("inclusion_probability", pa.float64()),
        ("criterion", TEXT),
        ("rater", TEXT),
        ("rater_kind", TEXT),
        ("value", TEXT),
        ("unscored_reason", TEXT),
        ("order", TEXT),
        ("slot", WHOLE),
        ("repeat", WHOLE),
        ("note", TEXT),
        ("guideline_version", WHOLE),
        ("submitted_at", pa.timestamp("us", tz="UTC")),
        ("judge_run", WHOLE),
        ("excluded", pa.bool_()),
        ("strength", TEXT),
        ("evidence", TEXT),
        ("active_seconds", pa.float64()),
        ("turn", WHOLE),
        ("purpose", TEXT),
    ]
)
"""The columns of a label; evidence is JSON text, empty where there is none."""


class Pieces(io.RawIOBase):
    """What is written to it, handed on a piece at a time."""

    def __init__(self) -> None:
        self.waiting: list[bytes] = []
        self.told = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        piece = bytes(data)
        self.waiting.append(piece)
        self.told += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self.told

    def taken(self) -> bytes:
        pieces, self.waiting = self.waiting, []
        return b"".join(pieces)


def parquet_pieces(rows: Iterable[LabelRow]) -> Iterator[bytes]:
    """The file, a row group at a time."""
    into, left = Pieces(), iter(rows)
    writer = pq.ParquetWriter(into, LABELS)
    while group := list(islice(left, ROWS)):
        writer.write_table(pa.Table.from_pylist([typed(row) for row in group], schema=LABELS))
        yield into.taken()
    writer.close()
    yield into.taken()


def typed(row: LabelRow) -> dict[str, Any]:
    evidence = json.dumps(list(row.evidence), ensure_ascii=False) if row.evidence else ""
    return {**row._asdict(), "evidence": evidence}
