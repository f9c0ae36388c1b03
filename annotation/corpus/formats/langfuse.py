"""Traces and observations of Langfuse, as its export and its API write them, with their scores.

https://langfuse.com/docs/observability/data-model, https://api.reference.langfuse.com (GET /api/public/traces)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from annotation.corpus.formats.base import TRACES, ChatFormat, Record, Row, select
from annotation.corpus.formats.payloads import build_trace, has_conversation, read_trace
from core.errors import gettext_noop

TELLING = ("sessionId", "session_id", "observations", "scores", "htmlPath", "traceId", "trace_id", "projectId")


def recognise(row: Row) -> bool:
    return "id" in row and "input" in row and "output" in row and any(name in row for name in TELLING)


def parse(row: Row) -> Iterator[Record]:
    """The dialogue of a trace: its own input and output, else those of its last generation with a conversation."""
    generations = [one for one in row.get("observations") or [] if is_generation(one)]
    turns = read_trace(row.get("input"), row.get("output"))
    found = [turns, *(read_trace(one.get("input"), one.get("output")) for one in reversed(generations))]
    turns = next(filter(has_conversation, found), [])
    if not turns:
        return
    models = [str(one["model"]) for one in (row, *generations) if one.get("model")]
    yield build_trace(
        turns,
        id=row["id"],
        model=next(iter(models), ""),
        scores=read_scores(row.get("scores")),
        session_id=row.get("sessionId") or row.get("session_id"),
        trace_id=row.get("traceId") or row.get("trace_id"),
        **select(row, "name", "tags", "metadata", "version", "release", "environment", "timestamp", "latency"),
    )


def is_generation(one: object) -> bool:
    return isinstance(one, Mapping) and one.get("type") == "GENERATION"


def read_scores(given: Iterable[object] | None) -> dict[str, object]:
    """Scores by name: their number, or their text where they are categories."""
    if isinstance(given, Mapping):  # columns of the table's export
        return dict(given)
    found = {}
    for one in given or []:
        if isinstance(one, Mapping) and one.get("name"):
            text = one.get("stringValue") if one.get("dataType") == "CATEGORICAL" else None
            found[str(one["name"])] = one.get("value") if text is None else text
    return found


FORMAT = ChatFormat(
    "langfuse",
    "Langfuse traces",
    TRACES,
    "dialogues",
    gettext_noop(
        "Traces with input, output and scores; where they have no conversation, that of their last generation."
    ),
    '{"id": "…", "input": {"messages": [...]}, "output": "…", "sessionId": "…", "scores": [...]}',
    "https://api.reference.langfuse.com",
    recognise,
    parse,
)
