"""Labels as Parquet, made piece by piece so that a study of any size needs little memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from annotation.studies.queries.labels import LabelRow
from core.files.writing import TIME, table_pieces

TEXT, WHOLE, NUMBER = "string", "int64", "float64"
LABELS = [
    ("study", TEXT),
    ("item_id", TEXT),
    ("item_source", TEXT),
    ("position", WHOLE),
    ("stratum", TEXT),
    ("inclusion_probability", NUMBER),
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
    ("submitted_at", TIME),
    ("judge_run", WHOLE),
    ("excluded", "bool"),
    ("strength", TEXT),
    ("evidence", TEXT),
    ("active_seconds", NUMBER),
    ("turn", WHOLE),
    ("purpose", TEXT),
    ("content_form", TEXT),
    ("model_tier", TEXT),
    *((name, NUMBER) for name in ("difficulty", "p_easy", "p_medium", "p_hard", "p_contested")),
    ("content", TEXT),
]
"""The columns of a label; evidence and content are JSON text, empty where there is none."""

SHARES = ("p_easy", "p_medium", "p_hard", "p_contested")
TIERS = [
    ("item", TEXT),
    ("position", WHOLE),
    ("n_ratings", WHOLE),
    ("kappa", NUMBER),
    *((name, TEXT) for name in ("tier", "computed_tier", "reason")),
    ("stability", NUMBER),
    *((name, NUMBER) for name in ("difficulty", "low", "high", *SHARES)),
    ("model_tier", TEXT),
    ("clear", "bool"),
]
"""The columns of an item's tiers on one criterion, counted and by the difficulty model."""

EVIDENCE, CONTENT = LabelRow._fields.index("evidence"), LabelRow._fields.index("content")


def parquet_pieces(rows: Iterable[LabelRow]) -> Iterator[bytes]:
    """The file, a row group at a time."""
    return table_pieces(map(to_typed_row, rows), LABELS)


def to_typed_row(row: LabelRow) -> tuple[object, ...]:
    """The row as the columns have it."""
    evidence = json.dumps(list(row.evidence), ensure_ascii=False) if row.evidence else ""
    content = json.dumps(row.content, ensure_ascii=False) if row.content is not None else ""
    return (*row[:EVIDENCE], evidence, *row[EVIDENCE + 1 : CONTENT], content)
