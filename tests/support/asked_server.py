"""A service for models that tests of providers ask."""

from __future__ import annotations

import pytest

from tests.support.model_server import KEY, running


@pytest.fixture
def server(monkeypatch):
    """A service for models, to which the environment points."""
    with running() as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        yield server
