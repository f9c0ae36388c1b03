"""Uploads that wait to be looked at: whose they are, how long they stay, and what is packed in them."""

from __future__ import annotations

import io
import os
import time
import zipfile
from pathlib import Path

import pytest

from core.errors import InputError
from core.files.input_files import InputFile
from core.files.staging import find_staged, find_staging_folder, remove_staged, stage, unpack_staged
from tests.support import messy_files


@pytest.fixture(autouse=True)
def folder(settings, tmp_path):
    settings.DATA_DIR = tmp_path


def pack(*names: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in names:
            archive.writestr(name, "a,b\n1,2\n")
    return packed.getvalue()


def test_only_its_owner_finds_it_under_its_name():
    key = stage([b"a", b"b"], name="数据.csv", owner=7)
    found = find_staged(key, owner=7)
    assert (found.path.read_bytes(), found.name) == (b"ab", "数据.csv")
    assert find_staged(key, owner=8) is None
    assert oct(found.path.stat().st_mode & 0o077) == "0o0"


@pytest.mark.parametrize("key", ["", "..", "../secret_key", "a" * 32, "A" * 32, "0" * 31])
def test_what_is_no_key_finds_nothing(key):
    assert find_staged(key, owner=7) is None
    remove_staged(key)


def test_the_next_upload_removes_what_is_older_than_a_day():
    old = stage([b"a"], name="a", owner=7)
    for path in find_staging_folder().glob("*"):
        os.utime(path, (time.time() - 90_000,) * 2)
    new = stage([b"b"], name="b", owner=7)
    assert find_staged(old, owner=7) is None
    remove_staged(new)
    assert list(find_staging_folder().glob("*")) == []


def write(folder: Path, content: bytes) -> InputFile:
    path = folder / "given"
    path.write_bytes(content)
    return InputFile(path, "given.zip")


def test_an_archive_of_one_file_is_that_file(tmp_path):
    with unpack_staged(write(tmp_path, pack("data/only.csv"))) as found:
        assert (found.name, found.path.read_text()) == ("given.zip: only.csv", "a,b\n1,2\n")
    assert not found.path.exists()


def test_an_archive_of_several_is_their_folder_and_a_workbook_is_itself(tmp_path):
    with unpack_staged(write(tmp_path, pack("a.csv", "b.csv"))) as found:
        assert found.path.is_dir()
    file = write(tmp_path, messy_files.excel_dates()[1])
    with unpack_staged(file) as found:
        assert found == file


def test_an_archive_that_names_a_place_outside_is_refused(tmp_path):
    with (
        pytest.raises(InputError, match="names a place outside of itself"),
        unpack_staged(write(tmp_path, pack("../evil.csv"))),
    ):
        pass
