"""A folder in a ZIP file: unpacked in its place and nowhere else, or refused in words."""

from __future__ import annotations

import io
import stat
import zipfile
import zlib

import pytest

from core.errors import InputError
from core.files import archives
from core.files.input_files import InputFile


def archive(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members:
            made.writestr(name, content)
    return InputFile.from_path(path, "mine.zip")


@pytest.fixture
def place(tmp_path):
    made = tmp_path / "place"
    made.mkdir()
    return made


def test_files_and_folders_come_out_as_they_went_in(tmp_path, place):
    file = archive(tmp_path / "a.zip", [("a.json", "[]"), ("b/人.json", "{}"), ("b/", "")])
    assert archives.unpack(file, place) == place
    assert (place / "a.json").read_text() == "[]"
    assert (place / "b" / "人.json").read_text() == "{}"


def test_a_folder_that_was_packed_whole_is_where_it_starts(tmp_path, place):
    file = archive(tmp_path / "a.zip", [("set/a.json", "[]"), ("set/.DS_Store", "x"), ("__MACOSX/set/._a.json", "x")])
    assert archives.unpack(file, place) == place / "set"
    assert [one.name for one in (place / "set").iterdir()] == ["a.json"]


@pytest.mark.parametrize("name", ["../out.json", "/etc/out.json", "a/../../out.json", "..\\out.json"])
def test_a_place_outside_is_refused(tmp_path, place, name):
    with pytest.raises(InputError, match="outside") as raised:
        archives.unpack(archive(tmp_path / "a.zip", [("good.json", "[]"), (name, "x")]), place)
    assert (raised.value.file, raised.value.field) == ("mine.zip", name)
    assert [one.name for one in tmp_path.rglob("*.json")] == []


def test_a_link_is_refused(tmp_path, place):
    link = zipfile.ZipInfo("link.json")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with pytest.raises(InputError, match="plain files"):
        archives.unpack(archive(tmp_path / "a.zip", [(link, "/etc/hostname")]), place)


def test_the_same_name_twice_is_refused(tmp_path, place):
    with pytest.warns(UserWarning, match="Duplicate name"):
        file = archive(tmp_path / "a.zip", [("a.json", "1"), ("a.json", "2")])
    with pytest.raises(InputError, match="twice"):
        archives.unpack(file, place)


def test_limits(tmp_path, place, monkeypatch):
    file = archive(tmp_path / "a.zip", [("a.json", "0" * 3_000_000), ("b.json", "")])
    monkeypatch.setattr(archives, "SIZE_LIMIT", 2_000_000)
    with pytest.raises(InputError, match="2 MB, more than 1"):
        archives.unpack(file, place)
    monkeypatch.setattr(archives, "MOST_FILES", 1)
    with pytest.raises(InputError, match="2 files, more than 1"):
        archives.unpack(file, place)
    assert list(place.iterdir()) == []


def test_a_file_that_is_longer_than_it_says_is_refused(tmp_path, place):
    """A small size in the directory does not let a large file through the limit."""
    archive(tmp_path / "a.zip", [("a.json", "0" * 100_000)])
    data = (tmp_path / "a.zip").read_bytes()
    said = (100_000).to_bytes(4, "little")
    (tmp_path / "a.zip").write_bytes(data.replace(said, (10).to_bytes(4, "little")))
    with pytest.raises(InputError, match="ZIP file that can be unpacked"):
        archives.unpack(InputFile.from_path(tmp_path / "a.zip"), place)
    assert sum(one.stat().st_size for one in place.iterdir()) <= 10


def spoilt():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("a.json", "[1, 2, 3]" * 50)
    data = bytearray(buffer.getvalue())
    data[40:60] = bytes(20)
    return bytes(data)


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04" + b"x" * 50, spoilt(), zlib.compress(b"x")])
def test_what_is_no_archive_is_refused(tmp_path, place, content):
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(InputError, match="ZIP file"):
        archives.unpack(InputFile.from_path(tmp_path / "a.zip"), place)


def test_an_archive_of_nothing_is_refused(tmp_path, place):
    with pytest.raises(InputError, match="no files"):
        archives.unpack(archive(tmp_path / "a.zip", [("empty/", "")]), place)


def test_an_error_names_the_archive_and_not_where_it_lay(place):
    told = archives.name_error(
        InputError("is empty", file=f"{place}/set/a.json", line=3), place, InputFile.from_path("x", "mine.zip")
    )
    assert str(told) == "mine.zip/set/a.json, line 3: is empty"


def test_a_file_without_a_name_is_refused(tmp_path, place):
    file = archive(tmp_path / "a.zip", [("a.txt", "a")])
    content = file.path.read_bytes()
    file.path.write_bytes(content.replace(b"a.txt", b"\0.txt"))  # a name ends at a null character
    with pytest.raises(InputError, match="without a name"):
        archives.unpack(file, place)
