from __future__ import annotations

import pytest

from tests.support.described import DescribedClient
from tests.support.factories import ResearcherFactory


@pytest.fixture
def alice() -> DescribedClient:
    """A researcher of the default project, who is not the site's administrator."""
    client = DescribedClient()
    client.default_format = "json"
    client.force_login(ResearcherFactory(username="alice", is_superuser=False))
    return client
