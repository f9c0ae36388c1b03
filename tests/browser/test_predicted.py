"""Alice reads predicted difficulty in a real Chromium, at her desk and on her phone."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Page, expect

from tests.browser.faults import faults
from tests.support.factories import ResearcherFactory
from tests.support.labelled import judge_says
from tests.support.predictable import study_of_pairs

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.long]


def test_the_page_fits_and_leads_on(live_server, page: Page, transactional_db: None) -> None:
    judge_says(study_of_pairs(100, rated=80), "a-judge-with-a-long-name-on-preference", ["1", "2"] * 50)
    client = Client()
    client.force_login(ResearcherFactory(username="alice"))
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
    page.goto(f"{live_server.url}/studies/alike/tiers/")
    page.get_by_role("link", name="Predict the difficulty of items without ratings").click()
    expect(page.get_by_text("Difficulty can be predicted here.")).to_be_visible()
    assert faults(page) == []
    page.set_viewport_size({"width": 390, "height": 900})
    page.emulate_media(color_scheme="dark")
    page.reload()
    assert faults(page) == []
