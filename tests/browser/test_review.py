"""The pages of rating and deciding in a real Chromium, at 1280 and 390 px, in light and dark."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Page, expect

from annotation.studies.models.labels import Adjudication
from annotation.studies.models.studies import Study
from annotation.workbench.services import drafts
from core.accounts.models.users import User
from tests.browser.faults import faults_on_screens
from tests.support.factories import AnnotationFactory, AssignmentFactory, CriterionFactory, ItemFactory, UserFactory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.long]


@pytest.mark.parametrize("kind", ["dialogue", "pair"])
@pytest.mark.long
def test_the_rating_pages_pass_the_accessibility_rules(rate, page: Page, kind: str) -> None:
    if kind == "pair":
        rate("pair", ["preference"], allow_tie=True, asks_strength=True)
        page.keyboard.press("d")
        page.keyboard.press("s")
    else:
        rate("dialogue", ["task_completion", "personalization"])
        page.keyboard.press("j")
        page.keyboard.press("e")
    assert faults_on_screens(page) == {}, page.url
    page.keyboard.press("p")
    expect(page.locator("[data-pause]")).to_be_visible()
    assert faults_on_screens(page) == {}, page.url


@pytest.fixture
def review(live_server, page: Page, transactional_db: None) -> Study:
    """Two people who disagree, one whose answers came too late, and alice signed in."""
    criterion = CriterionFactory(name="Personalization", key="personalization")
    study: Study = criterion.study
    for _ in range(2):
        item = ItemFactory(study=study)
        for value in ("1", "4"):
            marks = [{"part": "turn-1", "start": 0, "end": 4, "text": "Book"}]
            AnnotationFactory(
                assignment=AssignmentFactory(item=item, submitted=True, active_seconds=20.0),
                criterion=criterion,
                value=value,
                note="a note",
                evidence=marks,
            )
    slot = study.assignments.first()
    drafts.keep_late(by=UserFactory(username="erin"), assignment=slot, content={"personalization": "2"}, reason="Late.")
    client = Client()
    client.force_login(User.objects.create(username="alice", is_researcher=True))
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
    return study


@pytest.mark.long
def test_the_pages_of_deciding_pass_the_accessibility_rules(live_server, page: Page, review: Study) -> None:
    for address in ("adjudication/", "adjudication/personalization/1/", "quality/"):
        page.goto(f"{live_server.url}/studies/{review.slug}/{address}")
        assert faults_on_screens(page) == {}, page.url


def test_from_the_queue_to_the_decision_and_on(live_server, page: Page, review: Study) -> None:
    page.goto(f"{live_server.url}/studies/{review.slug}/adjudication/")
    page.locator("#disputed tbody a").first.click()
    page.get_by_label("mostly").check()
    page.get_by_role("button", name="Decide").click()
    expect(page.get_by_text("Item 1 is decided: mostly.")).to_be_visible()
    expect(page.get_by_role("heading", name="Item 2: Personalization")).to_be_visible()
    assert Adjudication.objects.get().value == "3"
    page.goto(f"{live_server.url}/studies/{review.slug}/adjudication/")
    page.get_by_role("button", name="Use").click()
    expect(page.get_by_text("The answers of erin are labels now.")).to_be_visible()
