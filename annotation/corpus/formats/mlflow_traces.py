"""Traces of MLflow 3, as `Trace.to_json` and `mlflow.search_traces` write them, with assessments as scores.

https://mlflow.org/docs/latest/genai/tracing/, https://mlflow.org/docs/latest/api_reference/python_api/mlflow.entities.html
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from annotation.corpus.formats.base import TRACES, ChatFormat, Record, Row, select
from annotation.corpus.formats.payloads import build_trace, has_conversation, read_trace
from core.errors import InputError, gettext_noop
from core.files.json_text import parse_json

INPUTS, OUTPUTS = "mlflow.spanInputs", "mlflow.spanOutputs"
SESSION, MODEL = "mlflow.trace.session", "mlflow.chat.model"


def recognise(row: Row) -> bool:
    info, data = row.get("info"), row.get("data")
    whole = isinstance(info, Mapping) and isinstance(data, Mapping) and "spans" in data
    return whole or ("trace_id" in row and "request" in row and "response" in row)


def parse(row: Row) -> Iterator[Record]:
    """The dialogue of a trace: what its root span was given and gave back."""
    if isinstance(row.get("info"), Mapping):
        info, spans = row["info"], row["data"].get("spans") or []
        asked, answered = read_root(spans)
    else:
        info, spans = row, row.get("spans") or []
        asked, answered = row.get("request"), row.get("response")
    turns = read_trace(asked, answered)
    if not has_conversation(turns):
        return
    metadata = info.get("trace_metadata") or info.get("request_metadata") or {}
    tags = info.get("tags") if isinstance(info.get("tags"), Mapping) else {}
    yield build_trace(
        turns,
        id=info.get("trace_id") or info.get("request_id"),
        model=find_model(spans),
        scores=read_assessments(info.get("assessments")),
        session_id=metadata.get(SESSION) if isinstance(metadata, Mapping) else None,
        tags={name: value for name, value in (tags or {}).items() if not name.startswith("mlflow.")},
        **select(info, "state", "request_time", "execution_duration"),
    )


def read_root(spans: Sequence[Mapping[str, object]]) -> tuple[object, object]:
    """What went into the span without a parent, and what came out of it."""
    roots = [one for one in spans if not (one.get("parent_span_id") or one.get("parent_id"))]
    about = attributes(roots[0] if roots else spans[0]) if spans else {}
    return parse_attribute(about.get(INPUTS)), parse_attribute(about.get(OUTPUTS))


def parse_attribute(value: object) -> object:
    """The value of an attribute, which MLflow writes as JSON text, also where it is a text itself."""
    if not isinstance(value, str):
        return value
    try:
        return parse_json(value)
    except InputError:
        return value


def attributes(span: Mapping[str, object]) -> Mapping[str, object]:
    """The attributes of a span, whose values are JSON texts."""
    found = span.get("attributes")
    return found if isinstance(found, Mapping) else {}


def find_model(spans: list[object]) -> str:
    """The model of the first call of one."""
    for span in spans:
        about = attributes(span) if isinstance(span, Mapping) else {}
        asked = parse_attribute(about.get(INPUTS))
        named = about.get(MODEL) or (asked.get("model") if isinstance(asked, Mapping) else None)
        if isinstance(named, str) and named:
            return named.strip('"')
    return ""


def read_assessments(given: Iterable[object] | None) -> dict[str, object]:
    """Assessments by name: the value of their feedback or expectation."""
    found = {}
    for one in given or []:
        about = one if isinstance(one, Mapping) else {}
        name = str(about.get("assessment_name") or about.get("name") or "")
        said = about.get("feedback") or about.get("expectation") or {} if name else {}
        if "value" in said:
            found[name] = said["value"]
    return found


FORMAT = ChatFormat(
    "mlflow",
    "MLflow traces",
    TRACES,
    "dialogues",
    gettext_noop("Traces with what their root span was given and gave back; assessments become scores."),
    '{"info": {"trace_id": "tr-…", "assessments": [...]}, "data": {"spans": [...]}}',
    "https://mlflow.org/docs/latest/genai/tracing/",
    recognise,
    parse,
)
