"""Some hundred spoilt replies; `python scripts/fuzz_imports.py --replies` tries twenty thousand."""

from __future__ import annotations

import pytest

from judging.judges import parsing as judges_parsing
from tests.support import fuzzed_replies as fuzzed

LARGEST = 2000


@pytest.mark.parametrize("name", list(fuzzed.READERS))
def test_twice_the_text_takes_at_most_two_and_a_half_times_as_long(name):
    assert [str(slow) for slow in fuzzed.slow_readers(LARGEST, {name: fuzzed.READERS[name]})] == []


@pytest.mark.long
def test_no_spoilt_reply_crashes_a_reader():
    assert fuzzed.crashes(150, 20261123) == []


@pytest.mark.parametrize("text", ["{" * 200_000, "_" * 200_000, '{"a":' * 40_000, "\n" * 200_000])
def test_replies_that_held_a_worker_for_half_a_minute_are_read_at_once(text):
    assert fuzzed.seconds(lambda text: judges_parsing.parse(text, scale=fuzzed.SCALE), text) < 3
