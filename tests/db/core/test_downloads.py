"""Answers that are files: what is sent, and under which name."""

import io
import zipfile

import pytest

from core.downloads import stream_file, stream_zip

pytestmark = pytest.mark.django_db


def test_a_file():
    answer = stream_file(iter([b"a,b\n", b"1,2\n"]), name="it.csv")
    assert b"".join(answer) == b"a,b\n1,2\n"
    assert answer["Content-Disposition"] == 'attachment; filename="it.csv"'
    assert answer["Content-Type"] == "text/csv; charset=utf-8"


def test_several_files_in_one():
    answer = stream_zip([("a.txt", [b"a"]), ("b.txt", [b"b"])], name="both.zip")
    with zipfile.ZipFile(io.BytesIO(b"".join(answer))) as archive:
        assert [archive.read(name) for name in ("a.txt", "b.txt")] == [b"a", b"b"]
    assert answer["Content-Type"] == "application/zip"


def test_what_goes_wrong_on_the_way_is_not_taken_for_the_end():
    def broken():
        yield b"a"
        raise OSError("the other side is gone")

    with pytest.raises(OSError, match="gone"):
        b"".join(stream_file(broken(), name="it.csv"))
