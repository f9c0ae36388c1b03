from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from tests.factories import ResearcherFactory


@pytest.fixture
def alice() -> APIClient:
    """A researcher of the default project, who is not the site's administrator."""
    client = APIClient()
    client.default_format = "json"
    client.force_login(ResearcherFactory(username="alice", is_superuser=False))
    return client
