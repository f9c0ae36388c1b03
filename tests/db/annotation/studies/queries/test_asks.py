"""Keys of categories: none of them does something else on the rating page."""

from __future__ import annotations

import re

import pytest

from annotation.studies.queries.asks import COMMANDS, FREE_KEYS, keycaps
from tests.support.paths import ROOT

SCRIPT = ROOT / "annotation" / "static" / "annotation" / "rate.js"


def test_every_command_of_the_page_is_kept_free():
    """A name of several letters is that of a key such as the arrows, which no category has."""
    commands = SCRIPT.read_text().partition("const commands = {")[2].partition("\n  };")[0]
    keys = {quoted or plain for quoted, plain in re.findall(r'^    (?:"(.)"|(\w+)): ', commands, re.MULTILINE)}
    assert {"g", "f", "v", "?", "backspace"} <= keys
    assert {key for key in keys if len(key) == 1} <= COMMANDS
    assert not COMMANDS & set(FREE_KEYS)


@pytest.mark.parametrize(
    ("values", "caps"),
    [
        (["yes", "no"], ["y", "n"]),
        (["1", "2", "3"], ["1", "2", "3"]),
        (["low", "medium", "high"], ["1", "2", "3"]),
        (["fluent", "wrong"], ["1", "2"]),
        (["a", "quiet"], ["a", "1"]),
    ],
)
def test_a_letter_of_a_command_is_given_to_no_category(values, caps):
    assert keycaps(values) == caps
