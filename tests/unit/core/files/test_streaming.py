"""Files that are handed on while they are made."""

import io
import os
import zipfile

from core.files.writing import AT_ONCE, move_below, write_zip


def test_an_archive_holds_the_files_whole():
    text, noise = b"one line\n" * 1000, os.urandom(3 * AT_ONCE)
    pieces = list(write_zip([("a.txt", [text, text]), ("deep/b.bin", [noise]), ("empty", [])]))
    with zipfile.ZipFile(io.BytesIO(b"".join(pieces))) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == {
            "a.txt": text + text,
            "deep/b.bin": noise,
            "empty": b"",
        }


def test_it_is_handed_on_before_the_next_file_is_read():
    asked = []

    def members():
        for name in ("first", "second"):
            asked.append(name)
            yield name, (os.urandom(AT_ONCE) for _ in range(4))

    pieces = write_zip(members())
    assert len(next(pieces)) >= AT_ONCE
    assert asked == ["first"]
    list(pieces)
    assert asked == ["first", "second"]


def test_files_go_into_a_folder():
    assert list(move_below("study-potato", [("config.yaml", [b"x"])])) == [("study-potato/config.yaml", [b"x"])]
