"""The formats that can be read by name, one a line. The first that recognises the rows of a file is proposed for it."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.corpus.formats import (
    anthropic,
    langfuse,
    langsmith,
    lmsys,
    mlflow_traces,
    openai,
    opentelemetry,
    sharegpt,
    ultrafeedback,
    wildchat,
)
from annotation.corpus.formats.base import ChatFormat, Row
from core.errors import InputError

CHAT_FORMATS: dict[str, ChatFormat] = {
    one.key: one
    for one in (
        opentelemetry.FORMAT,
        langsmith.FORMAT,
        mlflow_traces.FORMAT,
        langfuse.FORMAT,
        wildchat.FORMAT,
        lmsys.FORMAT,
        lmsys.PAIRS,
        ultrafeedback.FORMAT,
        anthropic.PAIRS,
        openai.PAIRS,
        sharegpt.FORMAT,
        anthropic.FORMAT,
        openai.FORMAT,
    )
}


def find_format(key: str) -> ChatFormat:
    """The format of that key. InputError, naming those that there are, without one."""
    if key not in CHAT_FORMATS:
        raise InputError(
            "there is no format {key!r}; there are {chat_formats}",
            field="format",
            key=key,
            chat_formats=", ".join(CHAT_FORMATS),
        )
    return CHAT_FORMATS[key]


def recognise_format(rows: Sequence[Row]) -> ChatFormat | None:
    """The format of which all of these rows are; None where there is none, or no row."""
    return next((one for one in CHAT_FORMATS.values() if rows and all(one.recognise(row) for row in rows)), None)
