"""Cases and personas as Parquet, written in groups of rows so that any number of them needs little memory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 1000

TEXT, COUNT = pa.string(), pa.int32()
CASES = pa.schema(
    [
        ("id", TEXT),
        ("kind", TEXT),
        ("tier", TEXT),
        ("user_id", TEXT),
        ("persona", TEXT),
        ("question", TEXT),
        ("context", TEXT),
        ("chosen", TEXT),
        ("reject", TEXT),
        ("votes_chosen", COUNT),
        ("votes_reject", COUNT),
        ("votes_tie", COUNT),
        ("kappa", pa.float64()),
        ("history", TEXT),
    ]
)
PERSONAS = pa.schema(
    [
        ("user_id", TEXT),
        ("name", TEXT),
        ("persona", TEXT),
        ("demographics", TEXT),
        ("preferences", TEXT),
        ("interests", TEXT),
        ("interactions", TEXT),
        ("memories", pa.list_(TEXT)),
        ("other", TEXT),
    ]
)


class Rows:
    """A Parquet file that rows are added to: `with Rows(path, CASES) as file: file.add(row)`."""

    def __init__(self, path: Path, schema: Any) -> None:
        self.schema, self.waiting = schema, list[Mapping[str, Any]]()
        path.parent.mkdir(parents=True, exist_ok=True)
        self.writer = pq.ParquetWriter(path, schema)

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
        if len(self.waiting) >= ROWS:
            self.flush()

    def flush(self) -> None:
        if self.waiting:
            self.writer.write_table(pa.Table.from_pylist(self.waiting, schema=self.schema))
            self.waiting = []


def case_row(record: Mapping[str, Any], persona: str) -> dict[str, Any]:
    """A line of the release as a row: votes by chosen and reject, `persona` its text."""
    votes = record["votes"]
    chosen, reject = record["gold"] or "1", "1" if record["gold"] == "2" else "2"
    return {
        **{name: record[name] for name in ("id", "kind", "tier", "user_id", "question", "context", "kappa")},
        "persona": persona,
        "chosen": record["chosen"],
        "reject": record["reject"],
        "votes_chosen": votes and votes[chosen],
        "votes_reject": votes and votes[reject],
        "votes_tie": votes and votes["tie"],
        "history": as_json(record["history"]),
    }


def persona_row(record: Mapping[str, Any]) -> dict[str, Any]:
    """A persona as a row; what is nested is JSON text."""
    nested = {name: as_json(record[name]) for name in ("demographics", "preferences", "interests", "interactions")}
    memories = [one if isinstance(one, str) else as_json(one) for one in record["memories"]]
    plain = {name: record[name] for name in ("user_id", "name", "persona")}
    return {**plain, **nested, "memories": memories, "other": as_json(record["extra"])}


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
