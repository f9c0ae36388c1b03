"""The pages that ask somebody to wait: while the database is away, and before a large study is read."""

from __future__ import annotations

import os
from collections.abc import Iterator

import psycopg
import pytest
from django.conf import settings
from django.db import OperationalError
from django.test import Client
from playwright.sync_api import Browser, Page

from core import row_counts
from core.accounts import queries
from tests.browser.conftest import Answered
from tests.browser.faults import faults, screens
from tests.support.factories import CriterionFactory, ResearcherFactory
from tests.support.labelled import judge_says, people_say, with_items

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.long]


@pytest.fixture
def rosas(live_server, chromium: Browser, answered: Answered) -> Iterator[Page]:
    """A page of somebody who is signed in; errors of the server are what is looked at."""
    client = Client()
    client.force_login(ResearcherFactory(username="rosa"))
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    context = chromium.new_context()
    context.set_default_navigation_timeout(120_000)
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
    yield context.new_page()
    context.close()
    answered.wait()


def looked_at(page: Page, name: str) -> dict[str, list[str]]:
    """What is wrong with the page on each screen. With CONCORD_PICTURES it is drawn as well."""
    found = {}
    for width, scheme in screens(page):
        found[f"{width} {scheme}"] = faults(page)
        if folder := os.environ.get("CONCORD_PICTURES"):
            page.screenshot(path=f"{folder}/{name}-{width}-{scheme}.png", full_page=True)
    return {screen: wrong for screen, wrong in found.items() if wrong}


def test_while_the_database_is_away(live_server, rosas: Page, monkeypatch) -> None:
    def restarted(*args: object) -> None:
        raise OperationalError("terminating") from psycopg.errors.AdminShutdown()

    monkeypatch.setattr(queries, "list_researched", restarted)
    answer = rosas.goto(f"{live_server.url}/projects/")
    assert answer
    assert (answer.status, answer.headers["retry-after"]) == (503, "5")
    assert looked_at(rosas, "away") == {}


def test_before_a_large_study_is_read(live_server, rosas: Page, monkeypatch) -> None:
    study = with_items(4, kind="pair", name="Suits", slug="suits", state="open")
    criterion = CriterionFactory(study=study, key="preference", preference=True)
    people_say(criterion, {"bob": ["1", "2", "tie", "1"], "dana": ["1", "2", "1", "2"]})
    judge_says(criterion, "gpt", ["1", "2", "1", "1"], order="AB")
    monkeypatch.setattr(row_counts, "LARGE", 1)
    for part in ("calibration", "quality"):
        rosas.goto(f"{live_server.url}/studies/suits/{part}/")
        rosas.get_by_role("link", name="Read them all now").wait_for()
        assert looked_at(rosas, f"large-{part}") == {}
    rosas.goto(f"{live_server.url}/studies/suits/results/agreement/")  # left to a worker
    assert looked_at(rosas, "large-agreement") == {}
