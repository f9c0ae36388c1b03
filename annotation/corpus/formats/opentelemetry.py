"""Spans of OpenTelemetry with the semantic conventions for generative AI, exported as OTLP JSON.

https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding,
https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/

Messages are read from the attributes `gen_ai.system_instructions`, `gen_ai.input.messages` and
`gen_ai.output.messages` of a span or of its event `gen_ai.client.inference.operation.details`, and from the older
events `gen_ai.user.message`, …, `gen_ai.choice`. A span whose messages another span of the trace goes on from, as in
the loop of an agent, is part of that one. Events `gen_ai.evaluation.result` are scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from annotation.corpus.formats.base import TRACES, ChatFormat, Record, Row
from annotation.corpus.formats.payloads import build_trace, has_conversation, parse_text
from annotation.corpus.parsing.messages import plain, split_message, to_turns
from core.errors import gettext_noop

RESOURCES = ("resourceSpans", "resource_spans")
INPUT, OUTPUT, SYSTEM = "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions"
DETAILS, EVALUATION, CHOICE = "gen_ai.client.inference.operation.details", "gen_ai.evaluation.result", "gen_ai.choice"
OLD_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    CHOICE: "assistant",
}


def recognise(row: Row) -> bool:
    return any(isinstance(row.get(name), list) for name in RESOURCES)


def parse(row: Row) -> Iterator[Record]:
    """A dialogue for each span with a conversation that no other span of its trace goes on from."""
    found = [(span, read_attributes(span), read_turns(span)) for span in iterate_spans(row)]
    talks = [(span, about, turns) for span, about, turns in found if has_conversation(turns)]
    for span, about, turns in talks:
        if not any(goes_on(other, other_turns, span, turns) for other, _, other_turns in talks):
            yield build_span(span, about, turns, read_scores(span))


def goes_on(other: Row, other_turns: list[dict[str, object]], span: Row, turns: list[dict[str, object]]) -> bool:
    """Whether another span of the same trace begins with all turns of this one, and has more."""
    same = other.get("traceId", other.get("trace_id")) == span.get("traceId", span.get("trace_id"))
    return same and len(other_turns) > len(turns) and other_turns[: len(turns)] == turns


def iterate_spans(row: Row) -> Iterator[Row]:
    """The spans of an export, in their order."""
    for name in RESOURCES:
        for resource in row.get(name) or []:
            for scope in resource.get("scopeSpans") or resource.get("scope_spans") or []:
                yield from scope.get("spans") or []


def read_attributes(given: Row) -> dict[str, object]:
    """Attributes of a span or event as plain values by key."""
    return {one["key"]: read_value(one.get("value")) for one in given.get("attributes") or []}


def read_value(value: object) -> object:
    """A value of OTLP (`AnyValue`) as JSON has it. 64-bit integers are written as texts."""
    if not isinstance(value, Mapping) or not value:
        return None
    kind, inner = next(iter(value.items()))
    if kind == "arrayValue":
        return [read_value(one) for one in inner.get("values") or []]
    if kind == "kvlistValue":
        return {one["key"]: read_value(one.get("value")) for one in inner.get("values") or []}
    return int(inner) if kind == "intValue" else inner


def read_turns(span: Row) -> list[dict[str, object]]:
    """The messages of a span, in the order in which they were said."""
    sources = [read_attributes(span)]
    sources += [read_attributes(one) for one in span.get("events") or [] if one.get("name") == DETAILS]
    for about in sources:
        if about.get(INPUT) or about.get(OUTPUT):
            return [
                *read_system(about.get(SYSTEM)),
                *read_messages(about.get(INPUT)),
                *read_messages(about.get(OUTPUT)),
            ]
    old = [one for one in span.get("events") or [] if one.get("name") in OLD_EVENTS]
    messages = [to_old_message(one["name"], read_attributes(one)) for one in old]
    return to_turns(messages) if any(one["role"] in ("user", "assistant") for one in messages) else []


def read_messages(given: object) -> list[dict[str, object]]:
    """Turns of messages that are a list, or its JSON text."""
    found = parse_text(given) if isinstance(given, str) else given
    return [turn for one in found for turn in split_message(drop_reason(one))] if isinstance(found, list) else []


def drop_reason(message: Mapping[str, object]) -> dict[str, object]:
    """A message without the reason why it ended."""
    return {name: value for name, value in message.items() if name != "finish_reason"}


def read_system(given: object) -> list[dict[str, object]]:
    found = parse_text(given) if isinstance(given, str) else given
    said = plain(found) if isinstance(found, list) else given if isinstance(given, str) else ""
    return [{"role": "system", "content": said}] if said else []


def to_old_message(name: str, about: Mapping[str, object]) -> dict[str, object]:
    """A message of an event: its attributes, or those of `message` in a choice, some of them as JSON text."""
    inner = about.get("message") if name == CHOICE else None
    found = parse_text(inner) if isinstance(inner, str) else inner
    given = {**about, **found} if isinstance(found, Mapping) else dict(about)
    calls = given.get("tool_calls")
    kept: dict[str, object] = {"role": OLD_EVENTS[name], "content": given.get("content") or ""}
    if isinstance(calls, str):
        calls = parse_text(calls)
    if calls:
        kept["tool_calls"] = calls
    return {**kept, "tool_call_id": given["id"]} if given.get("id") and OLD_EVENTS[name] == "tool" else kept


def read_scores(span: Row) -> dict[str, object]:
    """The evaluations of a span by name: their number, else their label."""
    found = {}
    for event in span.get("events") or []:
        if event.get("name") == EVALUATION:
            about = read_attributes(event)
            name = str(about.get("gen_ai.evaluation.name") or "score")
            found[name] = about.get("gen_ai.evaluation.score.value", about.get("gen_ai.evaluation.score.label"))
    return found


def build_span(
    span: Row, about: Mapping[str, object], turns: list[dict[str, object]], scores: dict[str, object]
) -> Record:
    trace = str(span.get("traceId") or span.get("trace_id") or "")
    identity = str(span.get("spanId") or span.get("span_id") or "")
    return build_trace(
        turns,
        id=f"{trace}-{identity}".strip("-"),
        model=about.get("gen_ai.response.model") or about.get("gen_ai.request.model"),
        trace_id=trace,
        session_id=about.get("gen_ai.conversation.id"),
        agent=about.get("gen_ai.agent.name"),
        name=span.get("name"),
        scores=scores,
    )


FORMAT = ChatFormat(
    "opentelemetry",
    "OpenTelemetry GenAI spans",
    TRACES,
    "dialogues",
    gettext_noop(
        "OTLP JSON with the conventions for generative AI: each span with messages is a dialogue, "
        "evaluations are scores."
    ),
    '{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "…", "attributes": [...]}]}]}]}',
    "https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/",
    recognise,
    parse,
)
