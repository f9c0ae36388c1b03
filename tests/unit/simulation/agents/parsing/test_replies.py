"""Replies of the kinds that strong models write, each with the turn that is in it (the folder `replies`).

A block begins with `===`, the side, the language, and what is expected beside the turn: `cut`, `ended`, a problem, or
`terminate` where that is the mark. Without a part `--- turn` the whole reply is the turn.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from simulation.agents.parsing.speech import PROBLEMS, parse_turn

FOLDER = Path(__file__).parent / "replies"
MARKS = {False: "[END]", True: "TERMINATE"}


@dataclass(frozen=True)
class Case:
    kind: str
    side: str
    language: str
    expected: frozenset[str]
    reply: str
    turn: str
    heard: str | None


def cases() -> Iterator[Case]:
    for path in sorted(FOLDER.glob("*.txt")):
        for block in re.split(r"^=== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            head, _, body = block.partition("\n")
            side, language, *expected = head.split()
            reply, *parts = re.split(r"^--- ", body, flags=re.MULTILINE)
            named = {name: text.strip() for name, _, text in (part.partition("\n") for part in parts)}
            turn = named.get("turn", reply.strip())
            yield Case(path.stem, side, language, frozenset(expected), reply, turn, named.get("heard"))


CASES = list(cases())


@pytest.mark.parametrize("kind", sorted({case.kind for case in CASES}))
def test_every_turn_is_whole_and_the_side_s_own(kind):
    for case in CASES:
        if case.kind != kind:
            continue
        found = parse_turn(case.reply, side=case.side, mark=MARKS["terminate" in case.expected], heard=case.heard)
        noted = {name for name, is_so in (("cut", found.cut), ("ended", found.ended)) if is_so}
        noted |= {found.problem} - {""}
        assert (found.text, noted) == (case.turn, case.expected - {"terminate"}), case.reply


def test_the_set_is_as_large_and_as_varied_as_it_should_be():
    kinds = Counter(case.kind for case in CASES)
    languages = Counter(case.language for case in CASES)

    assert len(CASES) >= 300
    assert min(kinds.values()) >= 15
    assert {"en", "zh", "de", "ar", "ja"} <= {language for language, n in languages.items() if n >= 8}
    assert {word for case in CASES for word in case.expected} <= {"cut", "ended", "terminate", *PROBLEMS}
