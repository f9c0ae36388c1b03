"""Spoilt files: each is looked at and checked, or refused in words; nothing else comes out."""

from __future__ import annotations

import random

import pytest

from annotation.corpus.imports.surveys import look
from core.errors import InputError
from core.files.input_files import InputFile
from core.files.tables.layout import Layout
from judging.runs.imports.mapped import survey
from tests.support import messy_files

N = 60


def spoil(content: bytes, chance: random.Random) -> bytes:
    """The same with bytes changed, cut, doubled or put in."""
    data = bytearray(content)
    for _ in range(chance.randint(1, 6)):
        place, kind = chance.randrange(len(data) + 1), chance.randrange(5)
        if kind == 0 and place < len(data):
            data[place] = chance.randrange(256)
        elif kind == 1:
            del data[place : place + chance.randint(1, 40)]
        elif kind == 2:
            data[place:place] = data[place : place + 60]
        elif kind == 3:
            data[place:place] = chance.choice(
                [b'"', b"\n", b"\0", b"\xff\xfe", b"{", b"]", b";", b"\xf0\x9f", b"1e999"]
            )
        elif len(data) > 1:
            data = data[:place] or data
    return bytes(data)


@pytest.mark.parametrize("make", [*messy_files.ALL])
def test_every_spoilt_file_is_checked_or_refused_in_words(make, tmp_path):
    name, content = make() if make is not messy_files.long_jsonl else messy_files.long_jsonl(20)
    chance = random.Random(20261124)
    told = {"looked at": 0, "refused": 0}
    for _ in range(N):
        path = tmp_path / name
        path.write_bytes(spoil(content, chance))
        try:
            shown = look(InputFile(path, name), Layout())
            survey(InputFile(path, name), shown.guess.check())
        except InputError:
            told["refused"] += 1
        else:
            told["looked at"] += 1
    assert sum(told.values()) == N
    assert told["looked at"]
