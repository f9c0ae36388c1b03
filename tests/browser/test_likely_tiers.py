"""Rosa reads accuracy by likely tier in a real Chromium, at her desk and on her phone."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Page, expect

from judging.judges.evaluation_settings import Setting
from tests.browser.faults import faults
from tests.support.evaluated import benchmark_with, evaluated
from tests.support.factories import ResearcherFactory
from tests.support.judging import scripted

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.long]


@pytest.mark.long
def test_the_table_fits(live_server, page: Page, transactional_db: None) -> None:
    benchmark = benchmark_with("1212")
    evaluation = evaluated(benchmark, scripted(otherwise="1"), Setting(), Setting("memories", k=1))
    benchmark.made = {"tiers": "model", "model": {"sure": 0.7}}
    benchmark.save()
    for number, case in enumerate(benchmark.cases.all()):
        odds = {"easy": 0.2 * number, "medium": 0.1, "hard": 0.9 - 0.2 * number, "contested": 0.0}
        case.tier = "hard" if number < 2 else "easy"
        case.history = [{"step": "tier by the difficulty model", "outcome": case.tier, "tiers": odds}]
        case.save()
    client = Client()
    client.force_login(ResearcherFactory(username="rosa"))
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
    page.goto(f"{live_server.url}/evaluations/{evaluation.pk}/results/")
    section = page.locator("#likely")
    expect(section.get_by_role("heading", name="Accuracy by likely tier")).to_be_visible()
    section.screenshot(path="/tmp/likely_1280.png")
    assert faults(page) == []
    page.set_viewport_size({"width": 390, "height": 900})
    page.reload()
    section.screenshot(path="/tmp/likely_390.png")
    assert faults(page) == []
