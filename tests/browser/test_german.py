"""An annotator whose browser asks for German, and a researcher whose browser does, in a real Chromium."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, Page, expect

from annotation.studies.models.labels import Annotation
from core.accounts.models.users import User
from tests.browser.conftest import Answered
from tests.browser.faults import faults_on_screens
from tests.support.factories import ResearcherFactory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.long]
CRITERIA = ["task_completion", "personalization"]

SAVED = re.compile(r"^\s*(Gespeichert|Letzte Aufgabe gespeichert: .*)\s*$")
ENGLISH = re.compile(
    r"\b(the|and|of|you|your|item|items|rate|rating|saved|saving|missing|skip|submit|flag|ask|note|evidence|keys|"
    r"left|turn|guideline|cannot|judge|sign|work|study|studies|response|question|choose|show|theme|auto theme|draft|"
    r"not|with|this|mark|words|back|close|next|previous|context|state|number)\b",
    re.IGNORECASE,
)

OWN_WORDS = """() => {
  const found = [];
  const data = [
    "[data-part]", ".content", "[dir=auto]", ".rating__question", ".rating__name", ".rating__help", ".key__label",
    ".key__guide", "[data-guideline] dl", ".bar__brand", ".bar__name", ".facts dd", "kbd", "[lang=en]",
    ".rate__head h2", ".worklist h2", "script", "noscript", ".context dt",
  ].join(", ");
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    if (node.data.trim() && (node.parentElement.closest("dialog") || !node.parentElement.closest(data))
        && !node.parentElement.closest("script, kbd")) found.push(node.data.trim());
  for (const one of document.querySelectorAll("[aria-label], [placeholder], [title]"))
    if (!one.matches("[data-control], [data-answer], .bar__name")) found.push(
      ...["aria-label", "placeholder", "title"].map((name) => one.getAttribute(name)).filter(Boolean));
  return found;
}"""
"""The interface's own texts, seen and read aloud: not those of the study, its criteria and its material."""


@pytest.fixture
def page(chromium: Browser, answered: Answered) -> Iterator[Page]:
    """As the page of all browser tests, in a browser that prefers German."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, locale="de-DE")
    opened = context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("console", lambda told: errors.append(told.text) if told.type == "error" else None)
    yield opened
    context.close()
    answered.wait()
    assert errors == []


def english(page: Page) -> list[str]:
    return [text for text in page.evaluate(OWN_WORDS) if ENGLISH.search(text)]


def test_an_annotator_reads_only_german_and_english_once_chosen(rate, live_server, page: Page) -> None:
    rate("dialogue", CRITERIA, items=3)
    page.goto(f"{live_server.url}/work/")
    expect(page.get_by_role("heading", name="Meine Arbeit")).to_be_visible()
    assert page.locator("html").get_attribute("lang") == "de"
    assert english(page) == []
    assert faults_on_screens(page) == {}
    page.get_by_role("button", name="Erste Aufgabe bewerten").press("Enter")
    status = page.locator("[data-saved]")
    expect(page.locator("form[data-live]")).to_be_visible()
    assert page.title().startswith("Aufgabe 1 · ")
    assert english(page) == []
    page.keyboard.press("y")
    page.keyboard.press("Enter")
    expect(status).to_have_text("Es fehlt: Personalization")
    assert english(page) == []
    assert faults_on_screens(page) == {}
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    expect(page.locator("[data-where]")).to_have_text("2 / 3")
    expect(status).to_have_text(SAVED)
    expect(page.locator("[data-announce]")).to_have_text(re.compile("^(Aufgabe 2 von 3.)?$"))
    page.keyboard.press("f")
    expect(status).to_have_text("Dem Forschungsteam gemeldet.")
    page.keyboard.press("?")
    assert english(page) == []
    page.keyboard.press("Escape")
    assert sorted(Annotation.objects.values_list("value", flat=True)) == ["3", "yes"]

    page.get_by_role("button", name="English").click()
    expect(page.get_by_role("button", name="Submit")).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Submit")).to_be_visible()
    assert page.locator("html").get_attribute("lang") == "en"
    assert User.objects.get(username="bob").language == "en"
    page.keyboard.press("Enter")
    expect(status).to_have_text("Missing: Task completion and 1 more")


def test_responses_beside_each_other(rate, page: Page) -> None:
    rate("pair", ["preference"])
    expect(page.locator("form[data-live]")).to_be_visible()
    assert english(page) == []
    assert faults_on_screens(page) == {}
    page.keyboard.press("d")
    expect(page.locator("[data-difference-count]")).to_have_text(re.compile(r"Unterschied|Alles ist anders"))
    page.keyboard.press("a")
    page.keyboard.press("Enter")
    expect(page.locator("[data-where]")).to_have_text("2 / 2")


def test_pages_work_without_the_texts_of_scripts(rate, page: Page) -> None:
    page.route(
        "**/language/texts.js*", lambda route: route.fulfill(status=200, content_type="text/javascript", body="")
    )
    rate("dialogue", CRITERIA)
    page.keyboard.press("Enter")
    expect(page.locator("[data-saved]")).to_have_text("Missing: Task completion and 1 more")
    expect(page.get_by_role("button", name="Abgeben")).to_be_visible()


def test_my_items_and_taking_part(rate, live_server, page: Page) -> None:
    rate("dialogue", CRITERIA)
    for key in ("y", "3", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("[data-where]")).to_have_text("2 / 2")
    expect(page.locator("[data-saved]")).to_have_text(SAVED)
    for address in ("/work/pilot/items/", "/work/pilot/consent/", "/work/pilot/withdraw/", "/account/"):
        page.goto(live_server.url + address)
        expect(page.locator("html")).to_have_attribute("lang", "de")
        assert english(page) == [], address
    page.goto(f"{live_server.url}/work/pilot/items/")
    expect(page.get_by_role("columnheader")).to_have_text(["Aufgabe", "Text", "Stand"])


def test_a_researchers_pages_stay_english(live_server, page: Page, transactional_db: None) -> None:
    client = Client()
    client.force_login(ResearcherFactory(username="alice"))
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
    for address, heading in (("/studies/", "Studies"), ("/material/", "Datasets"), ("/account/", "Your account")):
        page.goto(live_server.url + address)
        expect(page.locator("html")).to_have_attribute("lang", "en")
        expect(page.get_by_role("heading", name=heading, level=1)).to_be_visible()
