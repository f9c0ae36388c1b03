"""Lines of values inside a JSON document."""

from __future__ import annotations

import pytest

from core.files.json_text import find_line

DOCUMENT = """{
  "Task 1": {"goal": "a \\"quoted\\" brace }", "situations": {
      "Location": "Oslo, {here}",
      "Device": [1, 2,
        {"kind": "phone"}]
  }},
  "Task 2": {
    "goal": ""
  }
}"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ([], 1),
        (["Task 1"], 2),
        (["Task 1", "goal"], 2),
        (["Task 1", "situations", "Location"], 3),
        (["Task 1", "situations", "Device", 1], 4),
        (["Task 1", "situations", "Device", 2, "kind"], 5),
        (["Task 2"], 7),
        (["Task 2", "goal"], 8),
    ],
)
def test_a_path_leads_to_its_line(path, line):
    assert find_line(DOCUMENT, path) == line


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (["Task 2", "intent"], 7),
        (["Task 3"], 1),
        (["Task 1", "situations", "Device", 9], 4),
        (["Task 2", "goal", 0], 8),
    ],
)
def test_a_missing_part_is_placed_at_the_last_that_exists(path, line):
    assert find_line(DOCUMENT, path) == line


def test_empty_containers_hold_nothing():
    assert find_line('\n{"a": {},\n "b": []}', ["a", "x"]) == 2
    assert find_line('\n{"a": {},\n "b": []}', ["b", 0]) == 3
