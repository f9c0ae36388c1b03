"""Callers of the API: alice researches, bob annotates, charlie has nothing to do here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from core.accounts.services import tokens
from tests.support.described import DescribedClient

Caller = Callable[..., APIClient]


@pytest.fixture
def caller() -> Caller:
    """A client with a token of somebody's, of these scopes."""

    def made(user: Any, *scopes: str) -> APIClient:
        _, text = tokens.make(by=user, name="test", scopes=scopes)
        client = DescribedClient()
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
        client.default_format = "json"
        return client

    return made


@pytest.fixture
def rosa(alice: Any, caller: Caller) -> APIClient:
    """Alice's token that may read and research."""
    return caller(alice, "read", "research")
