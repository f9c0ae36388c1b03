"""The context of an item is searched, highlighted and put back, and folds stay as somebody left them."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.faults import faults
from tests.browser.waiting import next_ready, saved

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.long]

KNOWN = {
    "scenario__profile__preferences": {
        "Restaurants": {"Cuisine": ["Thai"], "Café": ["quiet"]},
        "Hotels": {"Room": ["double"]},
    },
    "scenario__profile__interactions": {
        "Restaurants": "Asked for a Thai place twice.",
        "Hotels": "Never booked one.",
    },
}


def visible(page: Page) -> list[str]:
    terms = page.locator(".context dt")
    return [terms.nth(k).inner_text() for k in range(terms.count()) if terms.nth(k).is_visible()]


@pytest.fixture
def rated(rate, page: Page):
    rate("dialogue", ["task_completion"], material=KNOWN)
    next_ready(page)
    return page


def test_a_search_shows_what_holds_the_words_and_nothing_else(rated: Page) -> None:
    before = visible(rated)
    rated.keyboard.press("/")
    rated.keyboard.type("cafe")  # without the accent
    assert visible(rated) == ["Restaurants · Café"]
    rated.keyboard.press("ControlOrMeta+a")
    rated.keyboard.type("y thai")
    expect(rated.locator("[data-find-count]")).to_have_text("Nothing found")
    rated.keyboard.press("ControlOrMeta+a")
    rated.keyboard.type("thai")
    expect(rated.locator("[data-find-count]")).to_have_text("2 found")
    assert visible(rated) == ["Restaurants · Cuisine", "Restaurants"]
    assert rated.evaluate("CSS.highlights.get('found').size") == 2
    assert rated.locator("input[type=radio]:checked").count() == 0  # the letter y was typed, not rated
    assert faults(rated) == []
    rated.keyboard.press("Escape")
    assert visible(rated) == before
    assert rated.evaluate("CSS.highlights.get('found').size") == 0
    rated.keyboard.press("y")
    assert rated.locator("input[type=radio]:checked").count() == 1


@pytest.mark.parametrize(
    ("typed", "highlighted"),
    [("cafe", "Café"), ("CAFÉ", "Café"), ("istanbul", "İstanbul"), ("bosphorus", "Bosphorus"), ("\u0301", None)],
)
def test_what_is_found_is_what_is_highlighted(rate, page: Page, typed: str, highlighted: str | None) -> None:
    known = {"Trips": {"Place": ["İİ İstanbul, Cafe\u0301 on the Bosphorus"], "Food": ["Café"]}}
    rate("dialogue", ["task_completion"], material={"scenario__profile__preferences": known})
    page.keyboard.press("/")
    page.keyboard.insert_text(typed)
    found = page.evaluate("[...CSS.highlights.get('found')].map((range) => range.toString().normalize())")
    assert set(found) == ({highlighted} if highlighted else set())


def test_what_is_highlighted_stays_so_when_another_part_of_the_page_comes(rated: Page) -> None:
    rated.keyboard.press("/")
    rated.keyboard.type("thai")
    rated.evaluate("document.querySelector('main').dispatchEvent(new CustomEvent('htmx:load', { bubbles: true }))")
    assert rated.evaluate("CSS.highlights.get('found').size") == 2


def test_a_fold_stays_closed_on_the_next_item_and_a_search_does_not_open_it_for_good(rated: Page) -> None:
    fold = rated.locator("#context-preferences")
    fold.locator("> summary").click()
    rated.keyboard.press("/")
    rated.keyboard.type("quiet")
    assert visible(rated) == ["Restaurants · Café"]
    rated.keyboard.press("Escape")
    expect(fold).not_to_have_attribute("open", "")
    rated.keyboard.press("y")
    rated.keyboard.press("Enter")
    expect(rated.locator(".rate__head .number")).to_have_text("2 / 2")
    saved(rated)
    expect(fold).not_to_have_attribute("open", "")
    rated.keyboard.press("/")
    rated.keyboard.type("double")
    assert visible(rated) == ["Hotels · Room"]


def test_a_fold_closed_right_before_the_next_item_comes_stays_closed(rated: Page) -> None:
    closes_and_replaces = """() => {
        const item = document.querySelector("[data-item]"), html = item.innerHTML;
        document.querySelector("#context-preferences > summary").click();
        item.innerHTML = html;
        item.dispatchEvent(new CustomEvent("htmx:load", { bubbles: true }));
    }"""
    rated.evaluate(closes_and_replaces)
    expect(rated.locator("#context-preferences")).not_to_have_attribute("open", "", timeout=2_000)


def test_without_javascript_all_of_the_context_is_there(rated: Page, chromium) -> None:
    plain = chromium.new_context(java_script_enabled=False)
    plain.add_cookies(rated.context.cookies())
    page = plain.new_page()
    page.goto(rated.url)
    expect(page.locator("#context-find")).to_be_hidden()
    expect(page.locator("#context-preferences")).to_contain_text("Thai")
    plain.close()
