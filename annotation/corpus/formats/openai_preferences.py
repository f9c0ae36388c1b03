"""OpenAI's files for direct preference optimisation: an input, and a preferred and another output.

https://platform.openai.com/docs/guides/direct-preference-optimization
"""

from __future__ import annotations

from collections.abc import Iterator

from annotation.corpus.formats.base import PREFERENCES, ChatFormat, Record, Row, build_pair, identify
from annotation.corpus.parsing.messages import to_turns

OUTPUTS = ("preferred_output", "non_preferred_output")


def recognise(row: Row) -> bool:
    return isinstance(row.get("input"), dict) and all(isinstance(row.get(name), list) for name in OUTPUTS)


def parse(row: Row) -> Iterator[Record]:
    """The pair; its question is the input."""
    asked = to_turns(row["input"]["messages"])
    preferred, other = ([*asked, *to_turns(row[name])] for name in OUTPUTS)
    yield {"id": identify(row, "id"), **build_pair(preferred, other)}


FORMAT = ChatFormat(
    "openai_preferences",
    "OpenAI preferences",
    PREFERENCES,
    "pairs",
    "Files for direct preference optimisation: an input with a preferred and a non-preferred output.",
    '{"input": {"messages": [...]}, "preferred_output": [...], "non_preferred_output": [...]}',
    "https://platform.openai.com/docs/guides/direct-preference-optimization",
    recognise,
    parse,
)
