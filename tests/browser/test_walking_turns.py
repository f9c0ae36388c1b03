"""Bob rates a dialogue turn by turn, with the keyboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from annotation.studies.models.labels import Annotation
from tests.browser.faults import faults_on_screens, screens
from tests.browser.waiting import next_ready, saved

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.long]

CRITERIA = ["task_completion", "naturalness_assistant"]
EACH = {"each_turn": ["naturalness_assistant"]}


def talk(n: int) -> dict:
    """A dialogue of n turns."""
    roles = ("user", "assistant")
    return {"turns": [{"role": roles[k % 2], "content": f"This is turn {k + 1}. " * 20} for k in range(n)]}


def active(page: Page) -> str | None:
    return page.locator("[data-criterion][data-active]").get_attribute("id")


def rated_now(page: Page) -> list[str]:
    return page.eval_on_selector_all("[data-rated-now]", "all => all.map(one => one.dataset.turn)")


def labels() -> list[tuple[int, int, str]]:
    found = Annotation.objects.order_by("assignment__rank", "turn")
    return list(found.values_list("assignment__rank", "turn", "value"))


def test_each_key_rates_a_turn_and_walks_to_the_next(rate, page: Page) -> None:
    rate("dialogue", CRITERIA, material=talk(6), **EACH)
    next_ready(page)
    assert (active(page), rated_now(page)) == ("rating-naturalness_assistant.2", ["2"])
    expect(page.locator("[data-steps] button").first).to_have_text("Turns 0 / 3")
    page.keyboard.press("4")
    assert rated_now(page) == ["4"]
    page.keyboard.press("5")
    assert rated_now(page) == ["6"]
    expect(page.locator("#turn-6")).to_be_in_viewport()
    page.keyboard.press("3")
    assert (active(page), rated_now(page)) == ("rating-task_completion", [])
    page.keyboard.press("y")
    page.keyboard.press("Enter")  # five keys for three turns and the whole dialogue
    expect(page.locator(".rate__head .number")).to_have_text("2 / 2")
    saved(page)
    assert labels() == [(1, 0, "yes"), (1, 2, "4"), (1, 4, "5"), (1, 6, "3")]
    # the next item came without a page load, with its own turns, nothing filled in
    assert (active(page), rated_now(page)) == ("rating-naturalness_assistant.2", ["2"])
    assert page.locator("input[type=radio]:checked").count() == 0
    for key in ("1", "2", "3", "n", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_text("All done")).to_be_visible()
    assert labels()[4:] == [(2, 0, "no"), (2, 2, "1"), (2, 4, "2"), (2, 6, "3")]


def test_a_turn_that_is_walked_to_or_clicked_is_rated_next(rate, page: Page) -> None:
    rate("dialogue", CRITERIA, material=talk(6), **EACH)
    for _ in range(4):
        page.keyboard.press("j")
    assert rated_now(page) == ["4"]
    page.locator("#turn-6 .turn__text").click()
    assert rated_now(page) == ["6"]
    page.keyboard.press("2")
    page.keyboard.press("Backspace")
    page.keyboard.press("Backspace")
    assert rated_now(page) == ["4"]
    saved(page)
    page.keyboard.press("Enter")
    expect(page.locator("[data-saved]")).to_have_text("Missing: Naturalness · assistant, turn 2 and 2 more")
    assert rated_now(page) == ["2"]


def test_evidence_note_undo_and_draft_belong_to_the_turn(rate, page: Page) -> None:
    rate("dialogue", CRITERIA, material=talk(4), **EACH)
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("e")
    page.keyboard.press("c")
    page.keyboard.type("warm")
    page.keyboard.press("Escape")
    page.keyboard.press("5")
    page.keyboard.press("1")
    page.keyboard.press("u")
    saved(page)
    next_ready(page)
    page.reload()
    checked = page.eval_on_selector_all(
        "input[type=radio]:checked", "all => all.map(one => one.name + '=' + one.value)"
    )
    assert checked == ["naturalness_assistant.2=5"]
    for key in ("2", "y", "Enter"):
        page.keyboard.press(key)
    expect(page.locator(".rate__head .number")).to_have_text("2 / 2")
    saved(page)
    found = Annotation.objects.get(turn=2)
    assert (found.value, found.note, found.evidence[0]["part"]) == ("5", "warm", "turn-2")
    assert Annotation.objects.get(turn=4).value == "2"


@pytest.mark.long
def test_two_hundred_turns_are_walked_without_going_sideways(rate, page: Page) -> None:
    rate("dialogue", CRITERIA, items=1, material=talk(200), **EACH)
    assert faults_on_screens(page) == {}
    for width, _ in screens(page):
        for _ in range(50):
            page.keyboard.press("3")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert active(page) == "rating-task_completion"
    page.keyboard.press("y")
    page.keyboard.press("Enter")
    expect(page.get_by_text("All done")).to_be_visible()
    assert Annotation.objects.count() == 101


def test_without_javascript_every_turn_is_a_part_of_the_form(rate, page: Page, chromium) -> None:
    rate("dialogue", CRITERIA, items=1, material=talk(4), **EACH)
    plain = chromium.new_context(java_script_enabled=False, viewport={"width": 1280, "height": 900})
    plain.add_cookies(page.context.cookies())
    form = plain.new_page()
    form.goto(page.url)
    for name in ("naturalness_assistant.2", "naturalness_assistant.4", "task_completion"):
        form.locator(f'[id="rating-{name}"] label.key').first.click()
    form.get_by_role("button", name="Submit").click()
    expect(form.get_by_text("All done")).to_be_visible()
    plain.close()
    assert labels() == [(1, 0, "yes"), (1, 2, "1"), (1, 4, "1")]
