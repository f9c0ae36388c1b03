"""HH-RLHF: a chosen and a rejected conversation, each as one text with Human and Assistant.

https://huggingface.co/datasets/Anthropic/hh-rlhf
"""

from __future__ import annotations

from collections.abc import Iterator

from annotation.corpus.formats.base import PREFERENCES, ChatFormat, Record, Row, build_pair, identify
from annotation.corpus.parsing.messages import is_transcript, parse_transcript


def recognise(row: Row) -> bool:
    return all(isinstance(row.get(name), str) and is_transcript(row[name]) for name in ("chosen", "rejected"))


def parse(row: Row) -> Iterator[Record]:
    """The pair; what both conversations begin with is its question."""
    chosen, rejected = (parse_transcript(row[name]) for name in ("chosen", "rejected"))
    rest = {name: value for name, value in row.items() if name not in ("chosen", "rejected", "id")}
    yield {**rest, "id": identify(row, "id"), **build_pair(chosen, rejected)}


FORMAT = ChatFormat(
    "hh_rlhf",
    "HH-RLHF",
    PREFERENCES,
    "pairs",
    "A chosen and a rejected conversation on each line. Which of them is response 1 is drawn by their texts.",
    r'{"chosen": "\n\nHuman: …\n\nAssistant: …", "rejected": "\n\nHuman: …\n\nAssistant: …"}',
    "https://huggingface.co/datasets/Anthropic/hh-rlhf",
    recognise,
    parse,
)
