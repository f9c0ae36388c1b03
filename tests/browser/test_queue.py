"""Training, qualification, checks and repeats in a real Chromium, and the quality page with known truth."""

from __future__ import annotations

import re

import numpy as np
import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, Page, expect

from annotation.quality.models import Admission
from annotation.quality.services import gold_questions, qualification
from annotation.quality.services.gold_questions import GoldAnswer, GoldEntry
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Study
from annotation.studies.services import samples, studies
from annotation.workbench.services import annotations, assignments
from core.accounts.models.users import User
from tests.browser.faults import faults, screens
from tests.browser.waiting import next_ready, saved
from tests.db.annotation.quality.queries.test_quality import ITEMS, SKILL, answers, say
from tests.support.factories import DialogueFactory, ResponsePairFactory, UserFactory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.long]
RIGHT = {"task_completion": "yes", "personalization": "1", "naturalness_assistant": "1"}
RATED = ["task_completion", "personalization"]
CRITERIA = ["personalization", "naturalness_assistant"]


def signed_in(page: Page, live_server, person: User) -> None:
    client = Client()
    client.force_login(person)
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])


def made(bob: User, *, items: int, **rules) -> Study:
    DialogueFactory.create_batch(items)
    study = studies.create(by=None, name="Pilot", kind="dialogue", criteria=RATED, overlap=1)
    samples.draw(by=None, study=study)
    assignments.add_annotators(by=None, study=study, annotators=[bob])
    studies.open(by=None, study=study)
    if rules:
        gold_questions.set_rules(by=None, study=study, **rules)
    return study


def name(study: Study, purpose: str, number: int) -> None:
    asked = study.criteria.values_list("key", flat=True)
    right = {key: GoldAnswer(RIGHT[key], explanation=f"Because of the {key}.") for key in asked}
    entries = [GoldEntry(one.external_id, right) for one in DialogueFactory.create_batch(number)]
    gold_questions.add(by=None, study=study, purpose=purpose, entries=entries, origin="stated")


def test_from_training_to_the_work_by_keyboard(live_server, page: Page, bob: User) -> None:
    study = made(bob, items=2)
    name(study, "training", 1)
    name(study, "qualification", 1)
    signed_in(page, live_server, bob)
    page.goto(f"{live_server.url}/work/pilot/next/")
    expect(page.get_by_role("heading", name="Pilot · training")).to_be_visible()
    for key in ("n", "4", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_role("heading", name="Training 1 of 1")).to_be_visible()
    expect(page.get_by_text("Because of the personalization.")).to_be_visible()
    assert faults(page) == [], page.url
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Pilot · qualification")).to_be_visible()
    expect(page.locator("form[data-live]")).to_be_visible()
    for key in ("y", "1", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_text("You passed: 2 of 2 answers are right.")).to_be_visible()
    page.get_by_text("The conversation").click()
    expect(page.get_by_role("list", name="Dialogue")).to_be_visible()
    assert faults(page) == [], page.url
    page.get_by_role("link", name="Begin rating").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 / 2")).to_be_visible()
    assert Assignment.objects.get(state="leased", number=1).purpose == "rating"


def test_the_same_without_a_script_on_a_phone(live_server, chromium: Browser, bob: User) -> None:
    study = made(bob, items=1)
    name(study, "training", 1)
    name(study, "qualification", 1)
    context = chromium.new_context(viewport={"width": 390, "height": 800}, java_script_enabled=False)
    page = context.new_page()
    signed_in(page, live_server, bob)
    page.goto(f"{live_server.url}/work/pilot/next/")
    for right in (False, False):
        page.locator(f"input[name=task_completion][value={'yes' if right else 'no'}]").check(force=True)
        page.locator("input[name=personalization][value='4']").check(force=True)
        page.get_by_role("button", name="Submit").click()
        if page.url.endswith("/answer/"):
            expect(page.get_by_text("Not quite.")).to_be_visible()
            page.get_by_role("link", name="Go on").click()
    expect(page.get_by_text("0 of 2 answers are right; 80 % are asked for.")).to_be_visible()
    assert Admission.objects.get().outcome == "failed"
    page.goto(f"{live_server.url}/work/pilot/next/")
    expect(page).to_have_url(re.compile("/work/pilot/qualification/$"))
    context.close()


def test_checks_and_repeats_look_like_all_others(live_server, page: Page, bob: User) -> None:
    study = made(bob, items=12, check_every=4, repeat_every=4, repeat_after=2)
    name(study, "check", 4)
    signed_in(page, live_server, bob)
    page.goto(f"{live_server.url}/work/pilot/next/")
    where = page.locator("[data-where]")
    total = int(where.inner_text().split("/")[1])
    for number in range(1, 11):
        expect(where).to_have_text(f"{number} / {total}")
        assert re.search(r"/work/items/[a-z]{10}/$", page.url)
        next_ready(page)
        for key in ("y", "2", "Enter"):
            page.keyboard.press(key)
        expect(where).to_have_text(f"{number + 1} / {total}")
        saved(page)
    expect(page.locator("[data-pace]")).to_have_text(re.compile(rf"{total - 10} left"))
    page.reload()
    expect(where).to_have_text(f"11 / {total}")
    expect(page.locator("[data-pace]")).to_have_text(re.compile(rf"{total - 10} left"))
    given = list(Assignment.objects.filter(state="submitted").order_by("number").values_list("purpose", flat=True))
    assert len(given) == 10
    assert {"rating", "check", "repeat"} == set(given)


@pytest.fixture
def simulated(transactional_db: None, live_server, page: Page) -> Study:
    """Four simulated annotators of stated skill, a careless and an inverted one; alice looks."""
    DialogueFactory.create_batch(ITEMS)
    study = studies.create(by=None, name="Pilot", kind="dialogue", criteria=CRITERIA, overlap=6, seed=5)
    samples.draw(by=None, study=study)
    people = [
        UserFactory(username=f"{name}@pilot", display_name=f"{name.title()} Doe", kind="simulated")
        for name in (*SKILL, "careless", "inverted")
    ]
    assignments.add_annotators(by=None, study=study, annotators=people)
    studies.open(by=None, study=study)
    rng = np.random.default_rng(20261121)
    for criterion in study.criteria.all():
        values = criterion.values
        truth = rng.integers(len(values), size=ITEMS)
        for place, person in enumerate(people, start=1):
            drawn = answers(person.username.removesuffix("@pilot"), truth, len(values), rng)
            say(study, criterion, person, place, [values[code] for code in drawn])
    signed_in(page, live_server, User.objects.create(username="alice", is_researcher=True))
    return study


def test_the_quality_page_names_exactly_the_careless_and_the_inverted(
    live_server, page: Page, simulated: Study
) -> None:
    page.goto(f"{live_server.url}/studies/pilot/quality/")
    expect(page.get_by_text("Careless Doe, Inverted Doe should be looked at.")).to_be_visible()
    table = page.get_by_role("table", name="Annotators, those with signs first")
    rows = table.locator("tbody tr")
    expect(rows).to_have_count(6)
    signs = {
        row.locator("th").inner_text().split("\n")[0].removesuffix("simulated").strip(): row.locator(
            "td"
        ).first.inner_text()
        for row in rows.all()
    }
    assert {who for who, text in signs.items() if text.strip() != "none"} == {"Careless Doe", "Inverted Doe"}
    assert "run against those of the others" in signs["Inverted Doe"]
    assert "hardly more than chance" in signs["Careless Doe"]
    expect(table.get_by_text("simulated", exact=True)).to_have_count(6)


@pytest.mark.long
def test_the_researchers_pages_pass_the_accessibility_rules(live_server, page: Page, simulated: Study) -> None:
    name(simulated, "check", 30)
    name(simulated, "qualification", 2)
    gold_questions.set_rules(by=None, study=simulated, check_every=2, pass_mark=None)
    people = list(simulated.annotators.order_by("username"))
    for person in people[:2]:
        rate_checks(simulated, person)
    page.goto(f"{live_server.url}/studies/pilot/quality/")
    row = page.get_by_role("table", name="Annotators, those with signs first").locator("tbody tr").first
    for screen in screens(page):
        expect(page.get_by_role("heading", name="Checks and repeats")).to_be_visible()
        assert row.bounding_box()["height"] < 160, "no tall empty rows"
        assert faults(page) == [], screen
    page.goto(f"{live_server.url}/studies/pilot/queue/")
    row = page.get_by_role("table", name="Items with known answers").locator("tbody tr").first
    for width, scheme in screens(page):
        assert row.bounding_box()["height"] < 160, "nor here"
        if width < 1100:
            row.locator("summary").click()
        expect(row.get_by_text("Because of the", exact=False).first).to_be_visible()
        assert faults(page) == [], (width, scheme)
        if width < 1100:
            row.locator("summary").click()


def test_failing_and_trying_again_with_another_pair(live_server, page: Page, bob: User) -> None:
    ResponsePairFactory.create_batch(2)
    study = studies.create(by=None, name="Pilot", kind="pair", criteria=["preference"])
    samples.draw(by=None, study=study)
    assignments.add_annotators(by=None, study=study, annotators=[bob])
    studies.open(by=None, study=study)
    for number in (1, 2):
        entries = [
            GoldEntry(ResponsePairFactory().external_id, {"preference": GoldAnswer("1", explanation="It is Thai.")})
        ]
        gold_questions.add(
            by=None, study=study, purpose="qualification", entries=entries, origin="stated", number=number
        )
    study.refresh_from_db()
    page.set_viewport_size({"width": 390, "height": 844})
    signed_in(page, live_server, bob)
    for right, heading in ((False, "Pilot · qualification"), (True, "Pilot · qualification, round 2")):
        page.goto(f"{live_server.url}/work/pilot/next/")
        expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
        expect(page.locator("form[data-live]")).to_be_visible()
        slot = Assignment.objects.get(state="leased")
        page.keyboard.press("a" if (slot.sides["A"] == "1") is right else "b")
        page.keyboard.press("Enter")
        expect(page.get_by_text(f"{int(right)} of 1 answers")).to_be_visible()
        page.get_by_text("Question and responses").click()
        expect(page.get_by_text("It is Thai.")).to_be_visible()
        assert faults(page) == [], page.url
        if not right:
            alice = User.objects.create(username="alice", is_researcher=True)
            qualification.try_again(by=alice, study=study, annotator=bob, reason="We talked.")
    page.get_by_role("link", name="Begin rating").click()
    expect(page.get_by_text("1 / 2")).to_be_visible()


def rate_checks(study: Study, person: User) -> None:
    """Fifteen checks answered, as if among the work."""
    for place, one in enumerate(study.known_items.filter(purpose="check")[:15], start=1):
        slot = Assignment.objects.create(
            study=study,
            item=one.item,
            known=one,
            purpose="check",
            slot=1,
            rank=1,
            number=place,
            annotator=person,
            state="leased",
            leased_until="2030-01-01T00:00Z",
        )
        annotations.submit(by=person, assignment=slot, values=dict.fromkeys(CRITERIA, "1" if place % 3 else "4"))
