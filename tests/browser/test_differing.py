"""Alice reads why people differ in a real Chromium, at her desk and on her phone."""

from __future__ import annotations

import numpy as np
import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Page, expect

from tests.browser.faults import faults
from tests.support import drawing
from tests.support.factories import CriterionFactory, ResearcherFactory
from tests.support.labelled import judge_says, people_say, with_items

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.long]


def test_the_section_explains_on_request(live_server, page: Page, transactional_db: None) -> None:
    rng = np.random.default_rng(1)
    said = (drawing.draw(*drawing.draw_graded_model(4, 4, rng), 60, rng)[0] + 1).astype(str).T.tolist()
    criterion = CriterionFactory(study=with_items(60, slug="known"), key="suits", name="Suits")
    people_say(criterion, dict(zip(("ann", "ben", "cas"), said, strict=False)))
    judge = judge_says(criterion, "a-judge-with-a-long-name", said[3]).judge
    client = Client()
    client.force_login(ResearcherFactory(username="alice"))
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
    page.goto(f"{live_server.url}/studies/known/calibration/{judge.pk}/improve/")
    page.get_by_role("button", name="Explain").click()
    expect(page.get_by_text("Groups with different preferences")).to_be_visible()
    assert faults(page) == []
    page.set_viewport_size({"width": 390, "height": 900})
    page.emulate_media(color_scheme="dark")
    page.reload()
    assert faults(page) == []
