"""A real Chromium against a real site: gunicorn, a Celery worker, SQLite and the file broker, set up by `demo`."""

from __future__ import annotations

from tests.support.django_setup import pytest_configure  # noqa: F401  a hook; what follows needs Django

# isort: split
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Thread, current_thread, main_thread

import pytest
from django.conf import settings
from django.core.signals import request_finished, request_started
from django.test import Client
from playwright.sync_api import Browser, Page, expect, sync_playwright

from annotation.studies.models.studies import Study
from annotation.studies.services import samples, studies
from annotation.workbench.services import assignments
from core.accounts.models.users import User
from tests.support.factories import DialogueFactory, ResearcherFactory, ResponsePairFactory, UserFactory
from tests.support.paths import ROOT

# Playwright's event loop stays in this thread; Django would refuse every query made there from then on.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "1")

expect.set_options(timeout=30_000)  # milliseconds: what comes at once on a quiet machine may take long on a busy one

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass(frozen=True)
class Site:
    """A running site: its address, its data folder, and a way to run its commands."""

    url: str
    data: Path

    def environment(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("DJANGO_SETTINGS")}
        return {
            **kept,
            "CONCORD_DATA_DIR": str(self.data),
            "CONCORD_PORT": self.url.rsplit(":", 1)[1],
            "DATABASE_URL": "",
            "CELERY_BROKER_URL": "",
        }

    def manage(self, *args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "manage.py", *args],
            cwd=ROOT,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=280,
            umask=0,  # of whoever starts it; Concord sets its own
        )


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, with_demo: Callable[[Path], None]) -> Iterator[Site]:
    """The demo, started as `make demo` starts it, in a folder of its own with a space in its name."""
    running = Site(url=f"http://127.0.0.1:{free_port()}", data=tmp_path_factory.mktemp("demo site"))
    with_demo(running.data)
    started = running.manage("demo", "--start", "--no-model")
    assert started.returncode == 0, started.stdout + started.stderr
    yield running
    stopped = running.manage("serve", "--stop")
    assert stopped.returncode == 0, stopped.stderr


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")  # lightest first
    executable = next((path for path in map(shutil.which, names) if path), None)
    if executable is None:
        pytest.skip("no Chromium on this machine (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


class Answered:
    """Knows which threads of the live server are answering a request: tables are not emptied under their hands."""

    def __init__(self) -> None:
        self.busy: set[Thread] = set()
        request_started.connect(self.begins)
        request_finished.connect(self.ends)

    def begins(self, **signal: object) -> None:
        if current_thread() is not main_thread():
            self.busy.add(current_thread())

    def ends(self, **signal: object) -> None:
        self.busy.discard(current_thread())

    def wait(self, seconds: float = 10) -> None:
        """A thread whose browser went away in the middle ends without a word."""
        end = time.monotonic() + seconds
        while any(thread.is_alive() for thread in set(self.busy)) and time.monotonic() < end:
            time.sleep(0.01)
        self.busy.clear()


@pytest.fixture(scope="session")
def answered() -> Answered:
    return Answered()


@pytest.fixture
def page(chromium: Browser, answered: Answered) -> Iterator[Page]:
    """A fresh browser profile at 1280 px; a script error or a failed request of the site fails the test."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_navigation_timeout(120_000)  # milliseconds
    opened = context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("response", lambda response: errors.append(response.url) if response.status >= 500 else None)
    yield opened
    context.close()
    answered.wait()
    assert errors == []


@pytest.fixture
def bob(transactional_db: None) -> User:
    return UserFactory(username="bob")


@pytest.fixture
def rate(live_server, page: Page, bob: User) -> Callable[..., Study]:
    """Opens the page of bob's next item in a new study."""

    def start(kind: str, criteria: list[str], *, items: int = 2, material: dict | None = None, **given) -> Study:
        alice = ResearcherFactory(username="alice")
        (DialogueFactory if kind == "dialogue" else ResponsePairFactory).create_batch(items, **(material or {}))
        study = studies.create(by=alice, name="Pilot", kind=kind, criteria=criteria, overlap=1, **given)
        samples.draw(by=alice, study=study)
        assignments.add_annotators(by=alice, study=study, annotators=[bob])
        studies.open(by=alice, study=study)
        client = Client()
        client.force_login(bob)
        session = client.cookies[settings.SESSION_COOKIE_NAME].value
        page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
        page.goto(f"{live_server.url}/work/pilot/next/")
        return study

    return start
