"""A server that is really killed (SIGKILL) under bob's hands, and started again: nothing that he pressed is lost."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ROOT, Site, free_port

pytestmark = [pytest.mark.browser, pytest.mark.long]

PASSWORD = "a-long-one-8"
PREPARE = f"""
from django.core.management import call_command
call_command("collectstatic", interactive=False, verbosity=0)
from annotation.models import Dialogue, User
from annotation.studies.services import samples, studies
from annotation.workbench.services import assignments
turns = [{{"role": "user", "content": "A table."}}, {{"role": "assistant", "content": "It is booked."}}]
for key in ("d1", "d2"):
    Dialogue.objects.create(source="test", external_id=key, content_hash="0" * 64, turns=turns)
criteria = ["task_completion", "personalization"]
study = studies.create(by=None, name="Pilot", kind="dialogue", criteria=criteria, overlap=1)
samples.draw(by=None, study=study)
bob = User.objects.create_user("bob", password="{PASSWORD}")
assignments.add_annotators(by=None, study=study, annotators=[bob])
studies.open(by=None, study=study)
"""


@dataclass
class Killable:
    """A site whose web server is started and killed at will."""

    site: Site
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, patience: float = 120) -> None:
        bind = self.site.url.removeprefix("http://")
        command = [sys.executable, "-m", "gunicorn", "config.wsgi:application", "--bind", bind, "--threads", "4"]
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        environment = self.site.environment()
        self.processes.append(
            subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True, **silent)  # type: ignore[call-overload]
        )
        end = time.monotonic() + patience
        while True:
            try:
                with urllib.request.urlopen(f"{self.site.url}/healthz", timeout=5):
                    return
            except (urllib.error.URLError, OSError):
                assert time.monotonic() < end, "the server did not start"
                time.sleep(0.1)

    def kill(self) -> None:
        """Master and workers at once, without a word."""
        while self.processes:
            process = self.processes.pop()
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def rows(self, statement: str) -> list[tuple[object, ...]]:
        with closing(sqlite3.connect(self.site.data / "concord.sqlite3")) as database:
            return database.execute(statement).fetchall()


@pytest.fixture
def killable(tmp_path: Path, migrated: Callable[[Path], None]) -> Iterator[Killable]:
    migrated(tmp_path)
    made = Killable(Site(url=f"http://127.0.0.1:{free_port()}", data=tmp_path))
    prepared = made.site.manage("shell", "-v", "0", "-c", PREPARE)
    assert prepared.returncode == 0, prepared.stderr
    made.start()
    yield made
    made.kill()


def test_presses_before_and_after_the_kill_are_there_and_count_once(killable: Killable, page: Page) -> None:
    page.goto(f"{killable.site.url}/login/?next=/work/pilot/next/")
    page.get_by_label("Username").fill("bob")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("form[data-live]")).to_be_visible()
    told = page.locator("[data-saved]")
    page.keyboard.press("n")
    expect(told).to_have_text("Saved")
    killable.kill()
    page.keyboard.press("3")
    expect(told).to_contain_text("Kept in this browser")
    address = page.url
    again = page.context.new_page()
    page.close()  # the browser went with it, and comes back to the same profile
    killable.start()
    again.goto(address)
    chosen = again.locator("input[type=radio]:checked")
    expect(chosen).to_have_count(2)
    assert [one.get_attribute("value") for one in chosen.all()] == ["no", "3"]
    expect(again.locator("[data-saved]")).to_have_text("Saved")
    assert killable.rows("SELECT count(*) FROM annotation_annotation") == [(0,)]
    killable.kill()
    again.keyboard.press("Enter")  # handed in to a server that is not there
    expect(again.locator("[data-saved]")).to_contain_text("answers are kept in this browser")
    killable.start()
    expect(again.locator("[data-saved]")).to_have_text("Saved")
    said = "SELECT value FROM annotation_annotation ORDER BY value"
    assert killable.rows(said) == [("3",), ("no",)]
    assert killable.rows("SELECT count(*) FROM annotation_assignment WHERE state = 'submitted'") == [(1,)]
