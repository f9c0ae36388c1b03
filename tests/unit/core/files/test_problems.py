"""Bad records stop an import, or are set aside with their place."""

from __future__ import annotations

import json

import pytest

from core.errors import InputError
from core.files.input_files import Problems


def test_stop_raises_the_first():
    with pytest.raises(InputError, match="f, line 3: no"):
        Problems("stop").add(InputError("no", file="f", line=3))


def test_skip_writes_one_line_each():
    problems = Problems("skip")
    problems.add(InputError("is missing", file="f", line=3, field="id"), '{"名": 1}'.encode())
    problems.add(InputError("is empty", file="g"))
    rows = [json.loads(line) for line in problems.to_jsonl().splitlines()]
    assert rows[0] == {"file": "f", "line": 3, "field": "id", "message": "is missing", "record": '{"名": 1}'}
    assert rows[1] == {"file": "g", "line": None, "field": None, "message": "is empty", "record": ""}
