"""Alice makes a study in four steps in a real Chromium, with scripts and without."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, Page, expect

from annotation.studies.models.studies import Study
from tests.browser.conftest import Answered
from tests.browser.faults import faults_on_screens
from tests.support.factories import DialogueFactory, ResearcherFactory, ResponsePairFactory, UserFactory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.long]


@pytest.fixture
def plain(chromium: Browser, answered: Answered) -> Iterator[Page]:
    """A browser that runs no scripts."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, java_script_enabled=False)
    yield context.new_page()
    context.close()
    answered.wait()


@pytest.fixture
def begin(live_server, transactional_db) -> Callable[[Page], None]:
    """Signs alice in and opens the first step, on a site with dialogues and pairs."""
    alice = ResearcherFactory(username="alice")
    UserFactory(username="bob")
    DialogueFactory(turns=[{"role": "user", "content": "Two tickets to Leeds."}], source="rail")
    DialogueFactory(turns=[{"role": "user", "content": "A table for two."}], source="food")
    ResponsePairFactory()
    client = Client()
    client.force_login(alice)
    session = client.cookies[settings.SESSION_COOKIE_NAME].value

    def start(page: Page) -> None:
        page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
        page.goto(f"{live_server.url}/studies/new/")

    return start


def go_on(page: Page) -> None:
    page.locator(".form__actions").get_by_role("button", name="Next").click()


def test_without_scripts_each_step_is_a_page(begin, plain: Page) -> None:
    begin(plain)
    go_on(plain)
    expect(plain.locator("#id_name_error")).to_contain_text("This field is required.")
    plain.get_by_label("Name").fill("My pilot")
    plain.get_by_label("rail").check()
    plain.get_by_role("button", name="Show what changed").click()
    expect(plain.locator("#preview")).to_contain_text("Two tickets to Leeds.")
    go_on(plain)
    expect(plain.locator("#preview")).to_contain_text("Task completion")
    plain.get_by_label("Single criteria, chosen below").check()
    plain.get_by_label("Personalization", exact=True).check()
    go_on(plain)
    plain.get_by_label("Annotators per item", exact=True).fill("2")
    plain.get_by_role("button", name="Back").click()
    expect(plain.get_by_label("Personalization", exact=True)).to_be_checked()
    go_on(plain)
    expect(plain.get_by_label("Annotators per item", exact=True)).to_have_value("2")
    plain.get_by_label("bob").check()
    go_on(plain)
    expect(plain.locator(".facts").first).to_contain_text("1 of 1 dialogues")
    plain.get_by_role("button", name="Create the draft").click()
    expect(plain.get_by_role("heading", level=1)).to_have_text("My pilot")
    study = Study.objects.get()
    assert (study.overlap, study.items.count()) == (2, 1)
    assert [one.key for one in study.criteria.all()] == ["personalization"]
    assert list(study.annotators.values_list("username", flat=True)) == ["bob"]


def test_with_scripts_the_preview_follows_the_form(begin, page: Page) -> None:
    begin(page)
    page.get_by_label("Name").fill("My pilot")
    page.get_by_label("food").check()
    expect(page.locator("#preview")).to_contain_text("A table for two.")
    page.keyboard.press("Enter")
    page.wait_for_url("**/?step=criteria")
    page.get_by_label("Factuality").check()
    expect(page.locator("#preview")).not_to_contain_text("Task completion")
    page.go_back()
    expect(page.get_by_label("Name")).to_have_value("My pilot")
    page.get_by_role("button", name="Response pairs").click()
    expect(page.locator("#preview")).to_contain_text("Response A")
    expect(page.get_by_label("Name")).to_have_value("My pilot")


@pytest.mark.long
def test_each_step_keeps_the_rules_of_accessibility_on_each_screen(begin, page: Page, live_server) -> None:
    begin(page)
    for step in ("items", "criteria", "people", "check"):
        page.goto(f"{live_server.url}/studies/new/?step={step}")
        assert faults_on_screens(page) == {}, step
