"""Labels as Parquet, made piece by piece so that a study of any size needs little memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from annotation.packing import Pieces
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
        ("model_tier", TEXT),
        *((name, pa.float64()) for name in ("difficulty", "p_easy", "p_medium", "p_hard", "p_contested")),
    ]
)
"""The columns of a label; evidence is JSON text, empty where there is none."""

SHARES = ("p_easy", "p_medium", "p_hard", "p_contested")
TIERS = pa.schema(
    [
        ("item", TEXT),
        ("position", WHOLE),
        ("n_ratings", WHOLE),
        ("kappa", pa.float64()),
        *((name, TEXT) for name in ("tier", "computed_tier", "reason")),
        ("stability", pa.float64()),
        *((name, pa.float64()) for name in ("difficulty", "low", "high", *SHARES)),
        ("model_tier", TEXT),
        ("clear", pa.bool_()),
    ]
)
"""The columns of an item's tiers on one criterion, counted and by the difficulty model."""

EVIDENCE = LabelRow._fields.index("evidence")


def parquet_pieces(rows: Iterable[LabelRow]) -> Iterator[bytes]:
    """The file, a row group at a time."""
    return table_pieces(map(typed, rows), LABELS)


def table_pieces(rows: Iterable[Sequence[Any]], schema: pa.Schema) -> Iterator[bytes]:
    """Rows, each with a value for each column, as Parquet, a row group at a time."""
    into, left = Pieces(), iter(rows)
    with pq.ParquetWriter(into, schema) as writer:
        while group := list(islice(left, ROWS)):
            columns = zip(zip(*group, strict=True), schema, strict=True)
            writer.write_table(pa.table([pa.array(column, field.type) for column, field in columns], schema=schema))
            yield into.taken()
    yield into.taken()


def typed(row: LabelRow) -> tuple[Any, ...]:
    """The row as the columns have it."""
    evidence = json.dumps(list(row.evidence), ensure_ascii=False) if row.evidence else ""
    return (*row[:EVIDENCE], evidence, *row[EVIDENCE + 1 :])
