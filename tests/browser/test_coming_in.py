"""A stranger follows a link in a real Chromium: account, consent, rating, code; Prolific; declining; withdrawing."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.recruitment.models import ConsentDecision, DemographicAnswer, Participation
from annotation.recruitment.services import completions, consents, demographics, enrolment
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Study
from annotation.studies.services import samples, studies
from core.accounts.models.users import User
from tests.browser.faults import faults, screens
from tests.browser.waiting import saved
from tests.support.factories import DialogueFactory, ResearcherFactory, UserFactory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.long]

PASSWORD = "a-long-enough-one"
TEXT = "You rate dialogues for research.\n\nYou can stop at any time, and have erased what you gave."
PICTURES = os.environ.get("CONCORD_PICTURES")


@pytest.fixture
def study(transactional_db: None) -> Study:
    alice = ResearcherFactory(username="alice")
    DialogueFactory.create_batch(2)
    study = studies.create(by=alice, name="Pilot", kind="dialogue", criteria=["task_completion"], overlap=2)
    samples.draw(by=alice, study=study)
    studies.open(by=alice, study=study)
    consents.set_text(by=alice, study=study, text=TEXT)
    completions.set_intake(by=alice, study=study, is_public=True, completion_code="C0DE-7")
    return study


@pytest.fixture
def look(page: Page) -> Callable[[str], None]:
    """Holds the page to the rules of accessibility and to its width, at both widths; keeps a picture if asked to."""

    def at(name: str) -> None:
        for width, _ in screens(page):
            assert faults(page) == [], name
            if PICTURES:
                page.screenshot(path=Path(PICTURES) / f"{name}-{width}.png", full_page=True)

    return at


def link(study: Study, live_server, **more) -> str:
    return f"{live_server.url}/join/{enrolment.create(by=None, study=study, **more).token}/"


def rate_all(page: Page, items: int) -> None:
    for _ in range(items):
        expect(page.locator("[data-criterion][data-active]")).to_be_visible()  # the script listens
        before = page.locator("[data-where]").inner_text()
        page.keyboard.press("y")
        page.keyboard.press("Enter")
        page.wait_for_function("before => document.querySelector('[data-where]')?.innerText !== before", arg=before)
        if page.locator("[data-where]").count():  # the next item may be shown before the last is saved
            saved(page)


def test_from_the_link_to_the_code(study: Study, live_server, page: Page, look) -> None:
    page.goto(link(study, live_server, max_uses=1))
    look("join")
    page.get_by_label("Name").fill("dora")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password confirmation").fill(PASSWORD)
    page.get_by_role("button", name="Make an account and join").click()
    expect(page.get_by_text("You rate dialogues for research.")).to_be_visible()
    look("consent")
    assert not Annotation.objects.exists()
    page.get_by_role("button", name="I agree to take part").click()
    rate_all(page, 2)
    expect(page.get_by_text("C0DE-7")).to_be_visible()
    look("done")
    part = Participation.objects.get()
    assert (part.annotator.username, part.completion_code) == ("dora", "C0DE-7")
    assert Annotation.objects.only_counting().count() == 2
    assert ConsentDecision.objects.get().decision == "agreed"


def test_from_prolific_and_back_in_another_browser(study: Study, live_server, page: Page, chromium, look) -> None:
    said = urlencode({"PROLIFIC_PID": "60aa", "STUDY_ID": "s1", "SESSION_ID": "x1"})
    address = f"{link(study, live_server, platform='prolific')}?{said}"
    page.goto(address)
    look("prolific")
    page.get_by_role("button", name="Begin").click()
    told = page.get_by_text("Your return code is").first.inner_text()
    look("return-code")
    page.get_by_role("button", name="I agree to take part").click()
    rate_all(page, 1)
    with chromium.new_context() as context:
        other = context.new_page()
        other.goto(address)
        other.get_by_label("Return code").fill(re.search(r"(?:[A-Z2-7]{4}-){3}[A-Z2-7]{4}", told)[0])
        other.get_by_role("button", name="Go on where you were").click()
        expect(other.locator("[data-where]")).to_have_text(re.compile(r"2\s*/\s*2"))
        rate_all(other, 1)
        finish = other.get_by_role("link", name="Finish")
        assert finish.get_attribute("href") == "https://app.prolific.com/submissions/complete?cc=C0DE-7"
    assert User.objects.filter(username__startswith="prolific-").count() == 1


def test_declining_and_thinking_again(study: Study, live_server, page: Page, look) -> None:
    page.goto(f"{live_server.url}/register/pilot/")
    page.get_by_label("Name").fill("dora")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password confirmation").fill(PASSWORD)
    page.get_by_role("button", name="Make an account and join").click()
    page.get_by_role("button", name="I do not agree").click()
    expect(page.get_by_text("You declined")).to_be_visible()
    look("declined")
    page.goto(f"{live_server.url}/work/")
    page.get_by_role("button", name="Rate the first item").click()
    expect(page.get_by_role("heading", name="Taking part in Pilot")).to_be_visible()
    page.get_by_role("button", name="I agree to take part").click()
    expect(page.get_by_role("form", name="Rate")).to_be_visible()


def test_withdrawing(study: Study, live_server, page: Page, look) -> None:
    said = urlencode({"workerId": "A1", "assignmentId": "3X", "hitId": "H1", "turkSubmitTo": "https://www.mturk.com"})
    address = f"{link(study, live_server, platform='mturk')}?{said}"
    page.goto(address)
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("button", name="I agree to take part").click()
    rate_all(page, 1)
    page.goto(f"{live_server.url}/work/")
    look("my-work")
    page.get_by_role("link", name="Taking part").click()
    page.get_by_role("link", name="withdraw").click()
    expect(page.get_by_text("One label, with its note")).to_be_visible()
    look("withdraw")
    page.get_by_role("button", name="Withdraw and erase").click()
    expect(page.get_by_text("Labels erased: 1")).to_be_visible()
    assert not Annotation.objects.exists()
    page.goto(address)
    page.get_by_role("button", name="Go on where you were").click()
    expect(page.get_by_text("You have withdrawn from this study")).to_be_visible()
    look("refused")


def test_a_researcher_makes_the_link(study: Study, live_server, page: Page, look) -> None:
    User.objects.filter(username="alice").get()
    page.goto(f"{live_server.url}/login/?next=/studies/pilot/coming-in/")
    page.get_by_label("Username").fill("alice")
    page.get_by_label("Password").fill("pw")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_label("For", exact=True).select_option("prolific")
    page.get_by_role("button", name="Make a link").click()
    address = page.locator("[data-link]").inner_text()
    assert "PROLIFIC_PID={{%PROLIFIC_PID%}}" in address
    look("coming-in")
    page.goto(address.replace("{{%PROLIFIC_PID%}}", "60aa").split("&")[0])
    expect(page.get_by_text("Somebody else is signed in")).to_be_visible()
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_role("heading", name="Taking part in Pilot")).to_be_visible()


def test_questions_about_me_are_asked_after_consent(study: Study, live_server, page: Page, look) -> None:
    demographics.add_question(by=None, study=study, text="How old are you?", options=["18-44", "45+"], key="age")
    said = urlencode({"PROLIFIC_PID": "60aa", "STUDY_ID": "s1", "SESSION_ID": "x1"})
    page.goto(f"{link(study, live_server, platform='prolific')}?{said}")
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("button", name="I agree to take part").click()
    expect(page.get_by_label("Prefer not to say")).to_be_checked()
    look("about-me")
    page.get_by_label("45+").check()
    page.get_by_role("button", name="Keep and go on").click()
    rate_all(page, 2)
    expect(page.get_by_text("C0DE-7")).to_be_visible()
    assert DemographicAnswer.objects.get().value == "45+"


def test_a_researcher_follows_the_study(study: Study, live_server, page: Page, look) -> None:
    page.goto(f"{live_server.url}/login/?next=/studies/pilot/")
    page.get_by_label("Username").fill("alice")
    page.get_by_label("Password").fill("pw")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="Annotators").click()
    expect(page.get_by_text(re.compile("ratings (is|are) missing"))).to_be_visible()
    look("progress-empty")
    now = timezone.now()
    people = UserFactory.create_batch(2)
    criterion = study.criteria.get()
    for place, slot in enumerate(study.assignments.order_by("slot", "rank")[:3]):
        slot.annotator, slot.state = people[slot.slot - 1], "submitted"
        slot.submitted_at = now - timedelta(hours=9 - 3 * place)
        slot.save()
        Annotation.objects.create(assignment=slot, criterion=criterion, value="yes" if place else "no")
    page.reload()
    expect(page.get_by_text(re.compile("ratings (is|are) missing"))).to_be_visible()
    assert page.locator(".figure__wide svg").count() == 3
    look("progress")
