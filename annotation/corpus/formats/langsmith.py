"""Runs of LangSmith, as its bulk export and its SDK write them: inputs, outputs and feedback of a call.

https://docs.smith.langchain.com/reference/data_formats/run_data_format
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from annotation.corpus.formats.base import TRACES, ChatFormat, Record, Row, select
from annotation.corpus.formats.payloads import build_trace, has_conversation, parse_text, read_trace
from core.errors import gettext_noop


def recognise(row: Row) -> bool:
    return "run_type" in row and "inputs" in row


def parse(row: Row) -> Iterator[Record]:
    """A dialogue of a run that has a conversation; runs of tools and retrievers have none.

    A call of a model inside a chain repeats the chain's conversation: to have each once, keep runs without a
    `parent_run_id`, or those of one `run_type`.
    """
    turns = read_trace(row.get("inputs"), row.get("outputs"))
    if row.get("run_type") in ("tool", "retriever", "embedding", "parser") or not has_conversation(turns):
        return
    extra = read_object(row.get("extra"))
    metadata = read_object(extra.get("metadata"))
    given = read_object(extra.get("invocation_params"))
    yield build_trace(
        turns,
        id=row.get("id") or row.get("run_id"),
        model=metadata.get("ls_model_name") or given.get("model") or given.get("model_name"),
        scores=read_feedback(row.get("feedback_stats")),
        session_id=metadata.get("thread_id") or metadata.get("session_id") or metadata.get("conversation_id"),
        metadata=metadata,
        **select(row, "run_type", "name", "trace_id", "parent_run_id", "tags", "error", "start_time", "total_tokens"),
    )


def read_object(given: object) -> Mapping[str, object]:
    found = parse_text(given) if isinstance(given, str) else given
    return found if isinstance(found, Mapping) else {}


def read_feedback(given: object) -> dict[str, object]:
    """The mean of each kind of feedback: {"user_score": {"n": 1, "avg": 0.0, "values": {}}}."""
    found = {}
    for name, one in read_object(given).items():
        values = one.get("values") if isinstance(one, Mapping) else None
        mean = one.get("avg") if isinstance(one, Mapping) else one
        found[name] = next(iter(values)) if mean is None and values else mean
    return {name: value for name, value in found.items() if value is not None}


FORMAT = ChatFormat(
    "langsmith",
    "LangSmith runs",
    TRACES,
    "dialogues",
    gettext_noop(
        "Runs with inputs and outputs; feedback becomes scores. Runs of tools and retrievers hold no conversation."
    ),
    '{"id": "…", "run_type": "llm", "inputs": {"messages": [...]}, "outputs": {...}, "feedback_stats": {...}}',
    "https://docs.smith.langchain.com/reference/data_formats/run_data_format",
    recognise,
    parse,
)
