"""Alice reads what runs found in a real Chromium, at her desk and on her phone, in light and in dark."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Page, expect

from judging.runs.models.runs import JudgeRun
from judging.runs.services import panels
from tests.browser.faults import faults_on_screens
from tests.support.factories import DialogueFactory, ItemFactory, ResearcherFactory
from tests.support.judging import dialogue_study, judged, scripted

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TALK = [{"role": role, "content": f"{role} {n}"} for n in range(3) for role in ("user", "assistant")]


@pytest.fixture
def addresses(transactional_db: None) -> list[str]:
    """A run on turns, a panel, and where panels are made."""
    study = dialogue_study(3, name="Suits", slug="suits")
    ItemFactory(study=study, dialogue=DialogueFactory(turns=TALK))
    turns = judged(study, scripted(otherwise="2"), every_turn=True)
    members = [judged(study, scripted(otherwise=value)) for value in ("1", "2", "2")]
    panel = panels.combine(by=None, name="Jury", runs=members, method="dawid_skene")
    judgment = JudgeRun.objects.get(pk=turns.pk).judgments.filter(turn=4).order_by("pk").first()
    return [
        f"runs/{turns.pk}/scores/",
        f"runs/{turns.pk}/",
        f"runs/{panel.pk}/",
        f"runs/{panel.pk}/scores/?by=assistant_model",
        "studies/suits/panels/",
        "studies/suits/judges/",
        f"judgments/{judgment.pk}/",
    ]


@pytest.fixture
def alice(live_server, page: Page, transactional_db: None) -> Page:
    client = Client()
    client.force_login(ResearcherFactory(username="alice"))
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
    return page


@pytest.mark.long
def test_pages_fit_and_pass_the_accessibility_rules(live_server, alice: Page, addresses) -> None:
    for address in addresses:
        alice.goto(f"{live_server.url}/{address}")
        assert faults_on_screens(alice) == {}, address


def test_a_panel_is_made_by_keyboard(live_server, alice: Page, addresses) -> None:
    alice.goto(f"{live_server.url}/studies/suits/panels/")
    alice.get_by_label("Name").fill("Second jury")
    boxes = alice.get_by_role("checkbox")
    for place in range(3):
        boxes.nth(place).focus()
        alice.keyboard.press("Space")
    alice.get_by_role("button", name="Combine").focus()
    alice.keyboard.press("Enter")

    expect(alice.get_by_role("heading", name="Members")).to_be_visible()
    expect(alice.get_by_role("link", name="Results", exact=True).first).to_be_visible()
