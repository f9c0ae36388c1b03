"""JSON that came from outside: read, or refused in words."""

from __future__ import annotations

import pytest

from annotation.studies.parsing.guidelines import read_guideline
from core.errors import InputError
from core.files.input_files import InputFile, parse_document
from core.files.json_text import parse_json
from tests.unit.core.files.test_checking import read

DEEP = "[" * 100_000
TOO_DEEP = "lists and objects are nested more than 200 deep"


@pytest.mark.parametrize("text", ['{"a": [1, 2.5, "x", null, true]}', b'{"a": [1, 2.5, "x", null, true]}'])
def test_it_is_read(text):
    assert parse_json(text) == {"a": [1, 2.5, "x", None, True]}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (DEEP, TOO_DEEP),
        ('{"a":' * 100_000, TOO_DEEP),
        ("[" * 202 + "]" * 202, TOO_DEEP),
        ("{", "This is not JSON: EOF"),
        ("", "This is not JSON"),
        (b"\xff", "This is not JSON"),
        ("\ud800", "This is not JSON"),
        ("NaN", "This is not JSON"),
        ("1" * 5000, "This is not JSON"),
        ("[1e999]", "0 is not a finite number"),
        ("9" * 400 + ".5", "It is not a finite number"),
        ('{"a": {"b": "\\u0000"}}', "a.b holds a NUL character"),
    ],
)
def test_what_cannot_be_used_is_refused_at_its_field(text, says):
    with pytest.raises(InputError) as caught:
        parse_json(text, field="parameters")
    assert says in caught.value.message
    assert caught.value.field == "parameters"


def test_what_is_as_deep_as_may_be_is_read():
    assert parse_json("[" * 200 + "]" * 200)


@pytest.mark.parametrize("line", [DEEP, '{"id": "a", "more": ' + DEEP])
def test_a_deep_line_of_a_file_is_refused_with_its_number(tmp_path, line):
    with pytest.raises(InputError, match=rf"things.jsonl, line 2: .*{TOO_DEEP}"):
        read(tmp_path, '{"id": "b"}\n' + line)


def test_a_deep_document_is_refused_with_its_line(tmp_path):
    with pytest.raises(InputError, match=rf"things.json, line 2: .*{TOO_DEEP}"):
        parse_document(InputFile.from_path(tmp_path, "things.json"), b"\n" + DEEP.encode())


def test_a_deep_guideline_is_refused(tmp_path):
    path = tmp_path / "guideline.toml"
    path.write_text("question = " + DEEP)
    with pytest.raises(InputError, match="nested too deep"):
        read_guideline(InputFile.from_path(path))
