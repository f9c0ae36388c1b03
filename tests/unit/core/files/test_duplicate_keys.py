"""A key that stands twice in one object of a JSON text, and where."""

from __future__ import annotations

import pytest

from core.errors import InputError
from core.files.input_files import InputFile, parse_document
from core.files.json_text import key_twice


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', None),
        ('[{"a": 1}, {"a": 1}]', None),
        ('{"a": {"a": ["a", "a"]}, "b": "\\"a\\": 1, \\"a\\": 2"}', None),
        ('{"a": 1, "a": 1}', ("a", 1)),
        ('{\n"a": 1,\n"b": {"c": {"a": 1}},\n"a" : 2}', ("a", 4)),
        ('[1, {"x": {"k": 1,\n"k": 2}, "x": 3}]', ("k", 2)),
        ('{"\\u0061": 1, "a": 2}', ("a", 1)),
        ('{"城": 1,\n "城": 2}', ("城", 2)),
        ('{"a": ' + "9" * 5000 + ', "a": NaN}', ("a", 1)),
    ],
)
def test_the_key_and_the_line_of_its_second_place(text: str, found) -> None:
    assert key_twice(text) == found


def test_a_document_names_file_line_and_key(tmp_path) -> None:
    with pytest.raises(InputError) as wrong:
        parse_document(InputFile(tmp_path / "x.json", "x.json"), b'{"u1": {},\n"u2": {},\n"u1": {}}')
    assert str(wrong.value).startswith("x.json, line 3, field u1: is there twice")
