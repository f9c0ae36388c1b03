"""Real workers are killed in the middle of real runs, on the embedded database and broker."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from pathlib import Path

import pytest

from tests.support.model_server import KEY, MODEL, Answer, running, verdict
from tests.support.site import Site, kill, wait_until

pytestmark = pytest.mark.xdist_group("killed workers")

N_ITEMS = 200
SLOW = {"otherwise": "1", "delay": 0.12, "concurrency": 2}


@pytest.fixture(scope="module")
def site(tmp_path_factory, migrated):
    site = Site(tmp_path_factory.mktemp("concord") / "data folder")
    site.folder.mkdir()
    migrated(site.folder)
    site.prepare()
    return site


def start(site: Site, name: str) -> int:
    judge = ["--judge", name, "--provider", "scripted", "--parameters", json.dumps(SLOW)]
    return int(site.judge(*judge, "--criteria", "personalization", "--no-wait")["run"])


def test_a_worker_takes_up_at_once_what_a_killed_one_held(site):
    """Long before that one counts as gone: else a kill now and then would let nothing progress."""
    run = start(site, "predecessor")
    patient = {**site.environment, "CONCORD_WORKER_GONE_SECONDS": "3600"}
    hurried, site.environment = site.environment, patient
    try:
        with site.worker() as worker:
            wait_until(lambda: in_work(site, run) and site.judged(run))
            kill(worker)
        assert not site.is_finished(run)
        with site.worker():
            wait_until(lambda: site.is_finished(run))
    finally:
        site.environment = hurried

    per_item = site.rows("SELECT count(*) FROM judging_judgment WHERE run_id = ? GROUP BY item_id, criterion_id", run)
    assert per_item == [(1,)] * N_ITEMS


def test_a_run_outlives_one_of_the_worker_s_processes(site):
    run = start(site, "child")
    with site.worker() as worker:
        wait_until(lambda: site.judged(run) >= 10 and in_work(site, run))
        os.kill(a_child_of(worker.pid), signal.SIGKILL)
        wait_until(lambda: site.is_finished(run))

    assert site.judged(run) == N_ITEMS


def test_a_worker_told_to_end_hands_its_part_back(site):
    """Left alone, it would work on for a quarter of a minute, and Celery would wait for it."""
    run = start(site, "told")
    with site.worker() as worker:
        wait_until(lambda: site.judged(run) >= 10 and in_work(site, run))
        worker.terminate()
        worker.wait(timeout=60)

    assert site.judged(run) < N_ITEMS
    assert not in_work(site, run)
    assert set(site.rows("SELECT attempts FROM judging_judgechunk WHERE run_id = ? AND finished_at IS NULL", run)) == {
        (0,)
    }


def test_lost_messages_are_sent_again(site):
    run = start(site, "lost")
    for message in (site.folder / "broker" / "queue").iterdir():
        message.unlink()

    with site.worker():
        wait_until(lambda: site.is_finished(run))

    assert site.judged(run) == N_ITEMS


@pytest.mark.timeout(900)  # seven processes are started, each for up to half a minute of a core that others want too
def test_worker_and_web_server_killed_at_random_moments(site):
    """What is paid twice is at most what was in flight. `make bench ARGS=judge` does it ten times, on 1,000 items."""
    rng, seats, kills = random.Random(4), 8, 3
    given = json.dumps({"concurrency": seats, "max_retries": 0})
    with running() as server:
        server.by_default = lambda request: Answer(text=verdict("2"), delay=0.2)
        site.environment |= {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
        site.environment["CONCORD_WORKER_GONE_SECONDS"] = "30"  # on a busy machine a live worker is silent for 2
        judge = ["--judge", "paid", "--provider", "anthropic", "--model", MODEL, "--parameters", given]
        run = int(site.judge(*judge, "--criteria", "personalization", "--no-cache", "--no-wait")["run"])
        for _ in range(kills):
            with site.worker() as worker, site.web() as web:
                before = site.judged(run)
                wait_until(lambda: site.judged(run) > before)  # noqa: B023
                time.sleep(rng.uniform(0.1, 0.8))
                kill(worker)
                kill(web)
        with site.worker():
            wait_until(lambda: site.is_finished(run))
        asked = len(server.asked)

    per_item = site.rows("SELECT count(*) FROM judging_judgment WHERE run_id = ? GROUP BY item_id, criterion_id", run)
    assert per_item == [(1,)] * N_ITEMS
    assert asked <= N_ITEMS + kills * seats


def test_a_worker_killed_while_it_hands_in_a_batch(site):
    """The provider has the batch and the database does not know its name: it is found, and not handed in again."""
    with running() as server:
        server.batch_delay = 60.0
        site.environment |= {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
        judge = ["--judge", "bulk", "--provider", "anthropic", "--model", MODEL, "--batch"]
        run = int(site.judge(*judge, "--criteria", "personalization", "--no-cache", "--no-wait")["run"])
        with site.worker() as worker:
            wait_until(lambda: server.batches)
            kill(worker)
        assert site.rows("SELECT external_id FROM judging_judgebatch") == [("",)]
        server.batch_delay = 0.0

        with site.worker():
            [name] = server.batches
            wait_until(lambda: site.rows("SELECT 1 FROM judging_judgebatch WHERE external_id = ?", name))
            server.finish(name, {})
            wait_until(lambda: site.is_finished(run))
        assert len(server.batches) == 1

    assert site.judged(run) == N_ITEMS


def in_work(site: Site, run: int) -> bool:
    held = "SELECT 1 FROM judging_judgechunk WHERE run_id = ? AND worker_id IS NOT NULL AND finished_at IS NULL"
    return bool(site.rows(held, run))


def a_child_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
