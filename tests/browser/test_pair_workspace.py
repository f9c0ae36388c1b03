"""The page on which two responses are compared: what is in view, choosing by mouse, differences one by one."""

from __future__ import annotations

import os

import pytest
from playwright.sync_api import Page, expect

from annotation.studies.models.labels import Annotation
from tests.browser.faults import faults, faults_on_screens
from tests.browser.waiting import next_ready, saved
from tests.support.factories import ProfileFactory, ResponsePairFactory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.long]

FACTS = {"Food": {"cuisine": "Thai curry", "allergy": "peanuts"}, "Travel": {"seat": "aisle", "class": "economy"}}
LONG_QUESTION = "I would like to cook a curry for my sister on Friday, and she is careful about peanuts. " * 8


@pytest.fixture
def curry(db: None) -> dict:
    return {
        "profile": ProfileFactory(preferences=FACTS, memories=["Asked for peanuts to be left out", "Moved to Utrecht"]),
        "question": LONG_QUESTION,
        "response_1": "Cook rice. Fry the paste. Add coconut milk. Serve it hot.\n" * 6,
        "response_2": "Cook rice. Fry the paste gently. Add coconut milk. Eat with a friend who likes jazz.\n" * 6,
    }


def shot(page: Page, name: str) -> None:
    if folder := os.environ.get("SHOTS"):
        page.screenshot(path=f"{folder}/{name}.png")


def test_responses_start_near_the_top_beside_the_person(rate, page: Page, curry) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    rate("pair", ["preference"], items=1, material=curry)
    a, b = (page.locator(f"[data-side={side}]").bounding_box() for side in "AB")
    context = page.locator(".annotate__context").bounding_box()
    shot(page, "pair-1366")
    assert a["y"] == b["y"] <= 150
    assert a["width"] == b["width"] > 300
    assert context["x"] + context["width"] <= a["x"], "the person stands beside the responses"
    assert context["y"] < 150
    first = page.locator(".context .fold").first
    expect(first).to_contain_text("Relevant to the question")
    expect(first).to_contain_text("Thai curry")
    expect(first).to_contain_text("peanuts")
    expect(first).not_to_contain_text("aisle")
    assert faults_on_screens(page) == {}
    shot(page, "pair-1280")
    page.set_viewport_size({"width": 390, "height": 844})
    shot(page, "pair-390")


def test_a_response_is_chosen_by_a_click_and_not_by_selecting_words(rate, page: Page, curry) -> None:
    study = rate("pair", ["preference"], items=2, material=curry, asks_strength=True)
    next_ready(page)
    slot = study.assignments.get(rank=1)
    text = page.locator("[data-part=B]")
    text.dblclick(position={"x": 20, "y": 12})
    expect(page.locator("input[type=radio]:checked")).to_have_count(0)
    page.evaluate("getSelection().removeAllRanges()")
    text.click(position={"x": 20, "y": 12})
    expect(page.locator("[data-side=B]")).to_have_attribute("data-chosen", "")
    expect(page.locator("input[type=radio]:checked")).to_have_value("B:slightly")
    page.get_by_role("button", name="Choose B").click()
    expect(page.locator("input[type=radio]:checked")).to_have_value("B:much")
    page.keyboard.press("Enter")
    expect(page.locator(".rate__head [data-where]")).to_have_text("2 / 2")
    saved(page)
    found = Annotation.objects.get()
    assert (found.value, found.strength) == (slot.sides["B"], "much")


def test_differences_by_sentence_one_after_the_other(rate, page: Page) -> None:
    ResponsePairFactory(
        response_1="The rice is ready. Fry the paste for a minute. Serve it hot.",
        response_2="The rice is ready. Fry the paste for an hour. Call your sister about the flowers. Serve it hot.",
    )
    rate("pair", ["preference"], items=0)
    told, marked = page.locator("[data-difference-count]"), "() => [...CSS.highlights.get('{}')].map(String).sort()"
    page.keyboard.press("d")
    expect(told).to_have_text("2 differences")
    assert page.evaluate(marked.format("difference")) == [
        "Call your sister about the flowers", "a", "an", "hour", "minute"
    ]  # fmt: skip
    page.keyboard.press(".")
    expect(told).to_have_text("1 of 2")
    assert page.evaluate(marked.format("difference-here")) == ["a", "an", "hour", "minute"]
    page.get_by_role("button", name="Next").click()
    expect(told).to_have_text("2 of 2")
    assert page.evaluate(marked.format("difference-here")) == ["Call your sister about the flowers"]
    shot(page, "differences")
    page.keyboard.press(",")
    expect(told).to_have_text("1 of 2")
    assert faults(page) == []
    page.keyboard.press("d")
    expect(told).to_have_text("")
    expect(page.get_by_role("button", name="Next")).to_be_hidden()


def test_where_all_differs_nothing_is_marked(rate, page: Page) -> None:
    ResponsePairFactory(
        response_1="Take the train to the sea on Friday.", response_2="A green curry with basil suits your guests."
    )
    rate("pair", ["preference"], items=0)
    page.keyboard.press("d")
    expect(page.locator("[data-difference-count]")).to_have_text("All differs")
    assert page.evaluate("() => CSS.highlights.get('difference').size") == 0
    expect(page.get_by_role("button", name="Next")).to_be_hidden()


@pytest.mark.parametrize(("width", "height"), [(390, 844), (640, 400)])
def test_the_sheet_folds_to_one_row_and_opens_where_something_is_missing(rate, page: Page, width, height) -> None:
    """640 px are a window of 1280 px at 200 % zoom."""
    page.set_viewport_size({"width": width, "height": height})
    rate("dialogue", ["task_completion", "personalization"], items=2)
    next_ready(page)
    page.get_by_role("button", name="Fold").click()
    sheet = page.locator("form[data-rate]")
    shot(page, f"folded-{width}")
    assert sheet.bounding_box()["height"] <= 64
    assert faults(page) == []
    page.keyboard.press("y")
    expect(sheet).to_contain_text("1 of 2 answered")
    assert sheet.bounding_box()["height"] <= 64
    page.keyboard.press("Enter")
    expect(page.get_by_text("Missing: Personalization")).to_be_visible()
    shot(page, f"open-{width}")
    page.keyboard.press("3")
    page.get_by_role("button", name="Fold").click()
    page.keyboard.press("Enter")
    expect(page.locator("[data-where]")).to_have_text("2 / 2")
    assert sheet.bounding_box()["height"] <= 64, "it stays folded on the next item"
