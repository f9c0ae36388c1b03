"""What a format is: how its rows are known, and what they become."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from annotation.corpus.parsing.mapped_rows import order_responses
from annotation.corpus.parsing.messages import render_dialogue
from core.errors import InputError, gettext_noop
from core.hashing import content_hash

Record = dict[str, object]
"""A dialogue or pair as a line of Concord's own JSONL."""
Row = Mapping[str, Any]

ID_LENGTH = 16
TRACES, CHATS, PREFERENCES = gettext_noop("Traces"), gettext_noop("Chats"), gettext_noop("Preferences")


@dataclass(frozen=True)
class ChatFormat:
    """A format of rows.

    Attributes
    ----------
    key, title, group
        In files and commands, as people call it, and under which heading pages show it.
    kind
        What its rows become: dialogues or pairs.
    about, example
        What a file holds, and how a row looks.
    specification
        Where the format is described.
    recognise
        Whether a row is of this format.
    parse
        Yields the records of a row; none where it holds no conversation, as a span of a tool does. InputError names
        the part of the row that is wrong.
    """

    key: str
    title: str
    group: str
    kind: Literal["dialogues", "pairs"]
    about: str
    example: str
    specification: str
    recognise: Callable[[Row], bool]
    parse: Callable[[Row], Iterator[Record]]


def identify(row: Row, *names: str, content: object = None) -> str:
    """The id of a row: the first of these names that it has, else a hash of its content."""
    for name in names:
        if row.get(name) not in (None, ""):
            return str(row[name])
    return content_hash(dict(row) if content is None else content)[:ID_LENGTH]


def drop_nothing(record: Record) -> Record:
    """The record without what is empty, but for its texts."""
    kept = ("turns", "response_1", "response_2")
    return {name: value for name, value in record.items() if name in kept or value not in (None, "", [], {})}


def select(row: Row, *names: str) -> Record:
    """These parts of a row, as far as it has them."""
    return {name: row[name] for name in names if row.get(name) is not None}


Turns = Sequence[Mapping[str, object]]


def build_pair(chosen: Turns, rejected: Turns) -> Record:
    """A pair of two conversations with the same beginning. InputError where they share none."""
    alike = 0
    while alike < min(len(chosen), len(rejected)) - 1 and chosen[alike] == rejected[alike]:
        alike += 1
    if not alike:
        raise InputError("the chosen and the rejected conversation do not begin alike", field="rejected")
    question = render(chosen[:alike])
    return {"question": question, **order_responses(render(chosen[alike:]), render(rejected[alike:]))}


def render(turns: Turns) -> object:
    """Turns as one content: a single one as it is, several as a text with who speaks.

    Raises InputError for several of which one is more than text.
    """
    if len(turns) == 1:
        return turns[0]["content"]
    if any(not isinstance(turn["content"], str) for turn in turns):
        raise InputError("several turns make one text, and one of them is more than text", field="dialogue")
    return render_dialogue(turns)
