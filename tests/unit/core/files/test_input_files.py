"""Files are read within limits, and what cannot be read says why."""

from __future__ import annotations

import pytest

from core.errors import InputError
from core.files.input_files import InputFile, Problems, lines, not_utf8, read_document


def written(tmp_path, data: bytes) -> InputFile:
    path = tmp_path / "f.jsonl"
    path.write_bytes(data)
    return InputFile.from_path(path, "f.jsonl")


def test_lines_are_numbered_and_blank_ones_left_out(tmp_path):
    file = written(tmp_path, b'\xef\xbb\xbf{"a": 1}\r\n\n  {"b": 2}')
    assert list(lines(file, Problems())) == [(1, b'{"a": 1}'), (3, b'{"b": 2}')]


def test_a_byte_order_mark_is_no_part_of_a_document(tmp_path):
    assert read_document(written(tmp_path, b"\xef\xbb\xbf{}")) == b"{}"


def test_a_line_above_the_limit_is_refused_and_can_be_passed_over(tmp_path):
    file = written(tmp_path, b"1" * 50 + b"\n22\n")
    with pytest.raises(InputError, match=r"f.jsonl, line 1: is longer than"):
        list(lines(file, Problems(), limit=20))
    problems = Problems("skip")
    assert list(lines(file, problems, limit=20)) == [(2, b"22")]
    assert problems.to_json()[0]["line"] == 1


def test_two_gigabytes_are_refused_without_being_read(tmp_path):
    """A sparse file: nothing is written to the disk, and reading it would take seconds and 2 GB."""
    path = tmp_path / "large.json"
    with path.open("wb") as stream:
        stream.truncate(2 * 1024**3)
    with pytest.raises(InputError, match=r"large.json: is 2048 MB, and a JSON document may have 256 MB"):
        read_document(InputFile.from_path(path, "large.json"))
    with pytest.raises(InputError, match=r"large.json, line 1: is longer than 16 MB"):
        list(lines(InputFile.from_path(path, "large.json"), Problems()))


@pytest.mark.parametrize("data", [b"", b"  \n ", b"\xef\xbb\xbf"])
def test_an_empty_document_says_so(tmp_path, data):
    with pytest.raises(InputError, match="is empty"):
        read_document(written(tmp_path, data))


def test_a_missing_file_and_a_folder_say_so(tmp_path):
    with pytest.raises(InputError, match=r"nothing.json: does not exist"):
        read_document(InputFile.from_path(tmp_path / "nothing.json", "nothing.json"))
    with pytest.raises(InputError, match="is a folder; a file is expected"):
        list(lines(InputFile.from_path(tmp_path, "folder"), Problems()))


def test_the_first_byte_that_is_not_utf8_is_found():
    assert not_utf8("小明\n".encode()) is None
    assert not_utf8("a\nb\nné".encode("latin-1")) == ("is not UTF-8 (byte 0xe9); save it with that encoding", 3)
