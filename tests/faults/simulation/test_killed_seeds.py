"""From seeds to a released benchmark with a worker that is killed: a small one of what `bench_seeds.py` does."""

from __future__ import annotations

import pytest

from tests.support import seed_flow
from tests.support.model_server import KEY, running
from tests.support.site import Site

pytestmark = pytest.mark.xdist_group("killed workers")


def test_nothing_is_lost_or_doubled_and_the_datasheet_is_true(tmp_path, migrated):
    site = Site(tmp_path / "data folder")
    site.folder.mkdir()
    migrated(site.folder)
    with running() as server:
        site.environment |= {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{server.url}/v1"}
        found = seed_flow.go(
            site,
            server,
            tmp_path,
            n_seeds=3,
            personas=5,
            specific=2,
            general=1,
            size=15,
            kill_after=[10],
        )
    assert found.problems == []
    assert found.pairs == 15
    assert found.sheet["counting"] + found.sheet["excluded"] == 15
    assert found.sheet["made"]["annotators"]["simulated"] == 9
