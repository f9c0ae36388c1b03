"""A real worker is killed in the middle of an experiment, on the embedded database and broker; requests are counted."""

from __future__ import annotations

import json
from threading import Event

import pytest

from tests.support.model_server import KEY, MODEL, Answer, Request, running
from tests.support.site import Site, kill, wait_until

pytestmark = pytest.mark.xdist_group("killed workers")

SEATS, N_TURNS = 4, 8
PROMPT, FOREVER = 60, 600.0  # replies that come at once; seconds that the others take
PATIENCE = 120.0  # seconds

SEED = """
from tests.support.simulation import people
people(3, 4)
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory, migrated):
    site = Site(tmp_path_factory.mktemp("concord") / "data folder")
    site.folder.mkdir()
    migrated(site.folder)
    site.prepare(SEED)
    return site


def n_turns(site: Site) -> int:
    return int(site.rows("SELECT count(*) FROM simulation_turn")[0][0])


def is_finished(site: Site) -> bool:
    return bool(site.rows("SELECT finished_at FROM simulation_experiment")[0][0])


def test_it_resumes_without_a_turn_asked_for_twice(site):
    with running() as server:
        stuck = Event()
        stuck.set()

        def reply(request: Request) -> Answer:
            """At once for a while, and then not before the worker is gone."""
            late = stuck.is_set() and len(server.asked) > PROMPT
            return Answer(text=f"Number {len(server.asked)} says something.", delay=FOREVER if late else 0.0)

        server.by_default = reply
        server.models = [MODEL, "another"]
        site.environment |= {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{server.url}/v1"}
        site.environment["CONCORD_WORKER_GONE_SECONDS"] = "30"  # on a busy machine a live worker is silent for 2
        given = json.dumps({"concurrency": SEATS, "max_retries": 0})
        asked = ["--users", "all", "--tasks", "all", "--condition", "base", "base+I", "--no-wait"]
        asked += ["--user-agent", f"openai_compatible:{MODEL} {given}", "--max-turns", str(N_TURNS)]
        asked += ["--assistant", f"openai_compatible:another {given}", "--max-turns-multi", str(N_TURNS), "--json"]
        begun = json.loads(site.manage("simulate", *asked).stdout)
        assert begun["counts"]["dialogues"] == 24
        with site.worker() as worker:
            wait_until(lambda: n_turns(site) == PROMPT and server.in_flight, seconds=PATIENCE)
            kill(worker)
            stuck.clear()
        assert not is_finished(site), "killed in the middle"
        with site.worker():
            wait_until(lambda: is_finished(site), seconds=PATIENCE)
        asked_for = len(server.asked)

    assert n_turns(site) == 24 * N_TURNS
    per_turn = site.rows("SELECT count(*) FROM simulation_turn GROUP BY simulated_id, number")
    assert per_turn == [(1,)] * 24 * N_TURNS
    again = asked_for - 24 * N_TURNS
    assert 0 < again <= 2 * SEATS, "only what two models had in flight when the worker was killed"
    endings = dict(site.rows("SELECT ending, count(*) FROM simulation_simulateddialogue GROUP BY ending"))
    assert endings == {"limit": 24}
    assert site.rows("SELECT count(*) FROM annotation_dialogue") == [(24,)]
