from __future__ import annotations

import pytest
from celery import current_app

from tests.support import factories


@pytest.fixture
def sent(monkeypatch):
    """The experiments whose messages would have gone to the broker."""
    messages = []
    monkeypatch.setattr(current_app, "send_task", lambda name, args, countdown=None: messages.extend(args))
    return messages


@pytest.fixture
def alice(client):
    """A researcher, signed in."""
    alice = factories.ResearcherFactory(username="alice")
    client.force_login(alice)
    return alice
