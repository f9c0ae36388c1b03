"""Reading ahead gives the same elements, the same error, and leaves no thread behind."""

from __future__ import annotations

import threading
from contextlib import closing

import pytest

from core.files.long_files import read_ahead


def readers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "read-ahead"]


def test_the_elements_come_in_order():
    assert list(read_ahead(range(50), depth=2)) == list(range(50))


def test_the_error_is_raised_after_the_elements_before_it():
    def elements():
        yield 1
        raise ValueError("the second is bad")

    ahead = read_ahead(elements())
    assert next(ahead) == 1
    with pytest.raises(ValueError, match="the second is bad"):
        next(ahead)
    assert not readers()


def test_no_more_is_read_than_asked_for_and_closing_ends_the_thread():
    read = []

    def elements():
        for number in range(1000):
            read.append(number)
            yield number

    with closing(read_ahead(elements(), depth=2)) as ahead:
        assert next(ahead) == 0
    assert not readers()
    assert len(read) < 10
