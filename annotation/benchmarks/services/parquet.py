"""Cases and personas as rows of Parquet files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from core.files.parquet import TEXTS

TEXT, COUNT = "string", "int32"
CASES = [
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
    ("kappa", "float64"),
    ("history", TEXT),
]
PERSONAS = [
    ("user_id", TEXT),
    ("name", TEXT),
    ("persona", TEXT),
    ("demographics", TEXT),
    ("preferences", TEXT),
    ("interests", TEXT),
    ("interactions", TEXT),
    ("memories", TEXTS),
    ("other", TEXT),
]


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
        "history": to_json(record["history"]),
    }


def persona_row(record: Mapping[str, Any]) -> dict[str, Any]:
    """A persona as a row; what is nested is JSON text."""
    nested = {name: to_json(record[name]) for name in ("demographics", "preferences", "interests", "interactions")}
    memories = [one if isinstance(one, str) else to_json(one) for one in record["memories"]]
    plain = {name: record[name] for name in ("user_id", "name", "persona")}
    return {**plain, **nested, "memories": memories, "other": to_json(record["extra"])}


def to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
