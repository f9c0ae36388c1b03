"""Waiting for a site that starts, on a machine that is slow or whose web server ends."""

from __future__ import annotations

import http.server
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from config import supervision


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def log(settings, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path
    return supervision.logs() / "supervisord.log"


@pytest.fixture
def slow_site() -> Iterator[str]:
    """An address at which nobody answers before a second and a half have passed."""
    port = free_port()

    class Healthy(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    servers: list[http.server.HTTPServer] = []

    def serve() -> None:
        time.sleep(1.5)
        servers.append(http.server.HTTPServer(("127.0.0.1", port), Healthy))
        servers[0].serve_forever(poll_interval=0.05)

    thread = threading.Thread(target=serve)
    thread.start()
    yield f"127.0.0.1:{port}"
    servers[0].shutdown()
    thread.join()
    servers[0].server_close()


@pytest.mark.long
def test_a_slow_start_is_waited_for(log: Path, slow_site: str) -> None:
    log.write_text("spawned: 'web' with pid 7\n")
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(f"http://{slow_site}/healthz", timeout=5)
    supervision.wait_until_answering(slow_site, 30)
    with urllib.request.urlopen(f"http://{slow_site}/healthz", timeout=5) as answer:
        assert answer.status == 200


@pytest.mark.parametrize("noted", ["exited: web (exit status 3; not expected)", "gave up: web entered FATAL state"])
def test_a_web_server_that_ended_is_not_waited_for(log: Path, noted: str) -> None:
    old = f"2026-11-22 INFO {noted}\n"
    log.write_text(old)
    assert not supervision.has_ended(len(old)), "that was the time before"
    log.write_text(old + old)
    began = time.monotonic()
    with pytest.raises(supervision.SupervisionError, match=r"ended while it started; see .*web\.log"):
        supervision.wait_until_answering(f"127.0.0.1:{free_port()}", 60, since=len(old))
    assert time.monotonic() - began < 30


def test_a_log_that_was_begun_anew_is_read_from_its_start(log: Path) -> None:
    log.write_text("exited: web (exit status 3; not expected)\n")
    assert supervision.has_ended(10_000)
    log.unlink()
    assert not supervision.has_ended(0)


@pytest.mark.long
def test_nobody_waits_for_ever(log: Path) -> None:
    with pytest.raises(supervision.SupervisionError, match="did not answer within 1 s"):
        supervision.wait_until_answering(f"127.0.0.1:{free_port()}", 1)
