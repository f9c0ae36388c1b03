"""Lines of JSONL checked against a schema."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ConfigDict

from core.errors import InputError
from core.files.input_files import InputFile, Problems, read_jsonl


class Thing(BaseModel):
    model_config = ConfigDict(extra="allow")

    id: str
    numbers: list[int] = []


def read(tmp_path, text: str | bytes, on_error="stop"):
    path = tmp_path / "things.jsonl"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    problems = Problems(on_error)
    things = list(read_jsonl(InputFile.from_path(path, "things.jsonl"), Thing, problems, id_of=lambda thing: thing.id))
    return things, problems


def test_good_lines_come_with_their_number_and_unknown_keys(tmp_path):
    things, _ = read(tmp_path, '{"id": "a", "城市": "上海"}\n\n{"id": "b", "numbers": [1]}\n')
    assert [(line, thing.id) for line, thing in things] == [(1, "a"), (3, "b")]
    assert things[0][1].model_extra == {"城市": "上海"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "b"', "things.jsonl, line 2: not JSON: EOF while parsing an object"),
        ("[1, 2]", "things.jsonl, line 2: one JSON object is expected on each line"),
        ('{"numbers": []}', "things.jsonl, line 2, field id: is missing"),
        ('{"id": 7}', "things.jsonl, line 2, field id: should be text, not 7"),
        ('{"id": "b", "numbers": [1, "x"]}', "things.jsonl, line 2, field numbers.1: should be a valid integer"),
        ('{"id": "a"}', "things.jsonl, line 2, field id: the id 'a' is on line 1 already"),
        ('{"id": "b", "more": [NaN]}', "things.jsonl, line 2, field more.0: is not a finite number"),
        ('{"id": "b", "more": 1e999}', "things.jsonl, line 2, field more: is not a finite number"),
        ('{"id": "b", "more": "x\\u0000"}', "things.jsonl, line 2, field more: holds a NUL character"),
        ('{"id": "b", "id": "c"}', "things.jsonl, line 2, field id: is there twice in one object"),
        ('{"id": "b", "more": [{"k": 1, "k": 1}]}', "things.jsonl, line 2, field k: is there twice"),
        (b'{"id": "caf\xe9"}', "things.jsonl, line 2: is not UTF-8 (byte 0xe9)"),
    ],
)
def test_a_bad_line_names_file_line_and_field(tmp_path, line, message):
    line = line if isinstance(line, bytes) else line.encode()
    with pytest.raises(InputError) as caught:
        read(tmp_path, b'{"id": "a"}\n' + line + b"\n")
    assert str(caught.value).startswith(message)


def test_text_that_only_looks_like_nan_is_text(tmp_path):
    things, _ = read(tmp_path, '{"id": "NaN", "more": "Infinity 1e999 \\\\u0000"}')
    assert things[0][1].id == "NaN"


def test_skip_keeps_the_good_rest_and_the_text_of_the_bad(tmp_path):
    things, problems = read(tmp_path, '{"id": "a"}\nnonsense\n{"id": "b"}\n', on_error="skip")
    assert [thing.id for _, thing in things] == ["a", "b"]
    assert problems.records == ["nonsense"]
    assert [error["line"] for error in problems.to_json()] == [2]


def test_a_file_without_records_is_empty(tmp_path):
    with pytest.raises(InputError, match=r"things.jsonl: is empty"):
        read(tmp_path, "\n \n")
