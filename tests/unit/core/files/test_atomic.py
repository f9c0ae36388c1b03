"""Files are whole or not there, readable by their owner only, and on the disk before they have their name."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from core.files import writing
from core.files.writing import STDOUT, ReaderGoneError, output_path, write_file, write_whole


def test_a_file_has_its_name_only_once_it_is_whole(tmp_path):
    path = tmp_path / "labels.csv"
    with write_whole(path) as file:
        file.write(b"labels")
        assert [found.suffix for found in tmp_path.iterdir()] == [".part"]
    assert path.read_bytes() == b"labels"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_leaves_what_was_there_before(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_bytes(b"old")
    with pytest.raises(KeyError), write_whole(path) as file:
        raise KeyError(file.write(b"new"))
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_only_the_owner_may_read_it_whatever_the_umask(tmp_path):
    path = tmp_path / "labels.csv"
    before = os.umask(0)
    try:
        with write_whole(path) as file:
            file.write(b"labels")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600


def test_it_is_on_the_disk_before_it_has_its_name_and_the_name_is_too(tmp_path, monkeypatch):
    path, seen, sync = tmp_path / "labels.csv", [], os.fsync

    def note(handle: int) -> None:
        place = Path(os.readlink(f"/proc/self/fd/{handle}"))
        seen.append((place.suffix if place != tmp_path else "folder", path.exists()))
        sync(handle)

    monkeypatch.setattr(os, "fsync", note)
    with write_whole(path) as file:
        file.write(b"labels")
    assert seen == [(".part", False), ("folder", True)]


@pytest.mark.parametrize(("number", "ends"), [(errno.EINVAL, nullcontext()), (errno.EIO, pytest.raises(OSError))])
def test_a_file_system_that_cannot_sync_folders_will_do_but_a_fault_is_told(tmp_path, monkeypatch, number, ends):
    sync = os.fsync

    def refuse(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(number, os.strerror(number))
        sync(handle)

    monkeypatch.setattr(os, "fsync", refuse)
    with ends, write_whole(tmp_path / "labels.csv") as file:
        file.write(b"labels")


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_writes_is_not(tmp_path):
    (tmp_path / ".concord-killed.part").write_bytes(b"half")
    (tmp_path / ".other.part").write_bytes(b"not Concord's")
    with write_whole(tmp_path / "one") as one:
        one.write(b"1")
        with write_whole(tmp_path / "two") as two:
            two.write(b"2")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".other.part", "one", "two"]


def test_a_part_that_was_taken_for_abandoned_before_it_was_locked_is_begun_anew(tmp_path, monkeypatch):
    lock = fcntl.flock

    def lock_late(file, how: int) -> None:
        monkeypatch.setattr(fcntl, "flock", lock)
        writing.remove_abandoned(tmp_path)  # as another process does
        assert list(tmp_path.iterdir()) == []
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", lock_late)
    with write_whole(tmp_path / "labels.csv") as file:
        file.write(b"labels")
    assert (tmp_path / "labels.csv").read_bytes() == b"labels"


def test_a_pipe_is_written_to_and_stays_one(tmp_path):
    """The defect: `-o /dev/stdout` put a file in place of the device."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with write_whole(pipe) as file:
        file.write(b"item,value\n")
    assert os.read(reader, 100) == b"item,value\n"
    os.close(reader)
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_dash_is_standard_output_and_what_it_holds_already_stays(tmp_path, monkeypatch):
    """The defect: `-o -` made a file that is called `-`."""
    path = tmp_path / "all.csv"
    path.write_text("of before\n")
    with path.open("a") as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        write_file(output_path("-"), b"at once\n")
        with write_whole(output_path("-")) as file:
            file.write(b"whole\n")
    assert path.read_text() == "of before\nat once\nwhole\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_reader_of_standard_output_that_went_away(monkeypatch):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        with pytest.raises(ReaderGoneError):
            write_file(STDOUT, b"labels")


def test_a_link_stays_a_link(tmp_path):
    link, target = tmp_path / "link.csv", tmp_path / "labels.csv"
    link.symlink_to(target)
    with write_whole(link) as file:
        file.write(b"item,value\n")
    assert link.is_symlink()
    assert target.read_bytes() == b"item,value\n"
