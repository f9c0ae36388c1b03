"""What alice decides of an annotator, in a real Chromium and by keyboard: left out, taken in, trying once more."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Locator, Page, expect

from annotation.quality.models import Admission
from annotation.quality.services import gold_questions
from annotation.quality.services.gold_questions import GoldAnswer, GoldEntry
from annotation.studies.models.studies import Study
from annotation.workbench.services import annotations, assignments
from core.accounts.models.users import User
from tests.browser.faults import faults
from tests.support.factories import CriterionFactory, DialogueFactory, StudyFactory
from tests.support.labelled import people_say, with_items

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.long]

SAME = ["1", "2", "3", "4", "1", "2", "3", "4"]


@pytest.fixture
def alices(live_server, page: Page, transactional_db: None) -> Page:
    client = Client()
    client.force_login(User.objects.create(username="alice", is_researcher=True))
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
    return page


def decide(page: Page, field: Locator, reason: str, button: str) -> None:
    """Write the reason and go on to the button by Tab alone."""
    field.focus()
    page.keyboard.type(reason)
    for _ in range(3):
        page.keyboard.press("Tab")
        if button in page.locator(":focus").inner_text():
            break
    expect(page.get_by_role("button", name=button)).to_be_focused()
    page.keyboard.press("Enter")


def test_somebody_is_left_out_and_taken_in_again(live_server, alices: Page) -> None:
    study = with_items(8, name="Pilot", slug="pilot")
    criterion = CriterionFactory(study=study, key="warm", name="Warmth")
    people_say(criterion, {"bob": SAME, "dana": SAME, "erin": list(reversed(SAME))})
    study.annotators.set(User.objects.filter(username__in=["bob", "dana", "erin"]))
    quality, results = (f"{live_server.url}/studies/pilot/{name}/" for name in ("quality", "results"))
    said = alices.locator("main p.text").first
    alices.goto(results)
    expect(said).to_contain_text("agreement of three people")
    alices.goto(quality)
    alices.locator("summary", has_text="Exclude an annotator").focus()
    alices.keyboard.press("Enter")
    decide(alices, alices.get_by_label("Reason for excluding erin"), "Rated upside down.", "Exclude erin")
    expect(alices.get_by_text("by alice: Rated upside down.")).to_be_visible()
    assert faults(alices) == []
    alices.goto(results)
    expect(said).to_contain_text("agreement of two people is almost perfect")
    alices.goto(quality)
    decide(alices, alices.get_by_label("Reason for including erin again"), "It was the form.", "Include again")
    expect(alices.get_by_text("included again by alice (It was the form.)")).to_be_visible()
    alices.goto(results)
    expect(said).to_contain_text("agreement of three people")


@pytest.fixture
def failed(alices: Page) -> Study:
    """Bob gave a wrong answer to the only item of the qualification."""
    study = StudyFactory(name="Pilot", slug="pilot", state="open")
    CriterionFactory(study=study, key="warm", name="Warmth")
    bob = User.objects.create(username="bob")
    assignments.add_annotators(by=None, study=study, annotators=[bob])
    for number in (1, 2):
        entries = [GoldEntry(DialogueFactory().external_id, {"warm": GoldAnswer("1")})]
        gold_questions.add(
            by=None, study=study, purpose="qualification", entries=entries, origin="stated", number=number
        )
    study.refresh_from_db()
    slot = assignments.lease_next(by=bob, study=study)
    assert slot is not None
    annotations.submit(by=bob, assignment=slot, values={"warm": "4"})
    assert assignments.lease_next(by=bob, study=study) is None
    return study


def test_somebody_may_try_once_more(live_server, alices: Page, failed: Study) -> None:
    alices.goto(f"{live_server.url}/studies/pilot/queue/")
    alices.locator("summary", has_text="Let somebody through").focus()
    alices.keyboard.press("Enter")
    field = alices.get_by_label("Why bob may rate or try again")
    decide(alices, field, "The guideline has a new example.", "Let bob try again")
    expect(alices.get_by_text("bob may try once more.")).to_be_visible()
    results = alices.get_by_role("table", name="Results of the qualification")
    expect(results).to_contain_text("may try again, round 2")
    expect(results).to_contain_text("The guideline has a new example.")
    assert faults(alices) == []
    assert [one.outcome for one in Admission.objects.order_by("pk")] == ["failed", "again"]
