"""Bob flags, asks, declines, marks and jumps by keys; what cannot be reached is said."""

from __future__ import annotations

import os

import pytest
from playwright.sync_api import Page, expect

from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation
from annotation.studies.models.messages import ItemMark, ItemMessage
from annotation.workbench.services import item_messages
from core.accounts.models.users import User
from tests.browser.faults import faults, faults_on_screens
from tests.browser.waiting import next_ready, saved

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.long]
CRITERIA = ["task_completion", "personalization"]


def told(page: Page, text: str) -> None:
    expect(page.locator("[data-saved]")).to_contain_text(text)


def where(page: Page, text: str) -> None:
    expect(page.locator("[data-where]")).to_have_text(text)


def shot(page: Page, name: str) -> None:
    if folder := os.environ.get("SHOTS"):
        page.screenshot(path=f"{folder}/{name}.png")


def test_one_key_each_to_flag_mark_ask_and_skip(rate, page: Page, bob: User) -> None:
    study = rate("dialogue", CRITERIA, items=4)
    next_ready(page)
    flag = page.get_by_role("button", name="Flag")
    page.keyboard.press("f")
    told(page, "Flagged for the researcher.")
    expect(flag).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("l")
    told(page, "Marked for later")
    page.keyboard.press("m")
    page.keyboard.type("Does this <i>count</i>?")
    page.get_by_role("button", name="Send").click()
    told(page, "Sent to the researcher.")
    expect(page.locator("[data-thread-entries]")).to_contain_text("Does this <i>count</i>?")
    shot(page, "acts-1280")
    assert faults_on_screens(page) == {}
    page.set_viewport_size({"width": 1280, "height": 900})
    assert [(one.kind, one.text) for one in ItemMessage.objects.all()] == [
        ("flag", ""), ("message", "Does this <i>count</i>?")
    ]  # fmt: skip
    page.keyboard.press("y")
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    where(page, "2 / 4")
    saved(page)
    expect(flag).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("f")
    told(page, "Flagged for the researcher.")
    assert set(ItemMessage.objects.filter(kind="flag").values_list("item__position", flat=True)) == {1, 2}
    page.keyboard.press("f")
    told(page, "No longer flagged.")
    second = page.url
    page.keyboard.press("q")
    expect(page).not_to_have_url(second)
    where(page, "2 / 4")
    assert Assignment.objects.get(rank=2).state == "skipped"
    item_messages.write(by=None, study=study, item=study.items.get(position=1), annotator=bob, text="It does.")
    page.wait_for_load_state()
    page.keyboard.press("i")
    page.wait_for_url("**/work/pilot/items/")
    expect(page.get_by_role("row", name="Marked for later, Answered")).to_have_count(1)
    shot(page, "my-items-1280")
    assert faults_on_screens(page) == {}
    shot(page, "my-items-wide")
    page.get_by_label("Item number").fill("1")
    page.get_by_role("button", name="Go to it").click()
    expect(page.locator("[data-thread-entries]")).to_contain_text("It does.")
    assert ItemMark.objects.get().item.position == 1


def test_one_reason_for_the_whole_item_by_keys(rate, page: Page) -> None:
    rate("dialogue", CRITERIA, items=3)
    next_ready(page)
    page.keyboard.press("y")
    page.keyboard.press("v")
    page.keyboard.type("Language I do not read")
    shot(page, "decline-1280")
    assert faults(page) == []
    page.keyboard.press("Enter")
    where(page, "2 / 3")
    saved(page)
    found = Annotation.objects.values_list("value", "unscored_reason")
    assert list(found) == [("", "Language I do not read")] * 2
    page.keyboard.press("v")
    page.keyboard.press("Escape")
    page.keyboard.press("y")
    expect(page.locator("input[type=radio]:checked")).to_have_value("yes")


def test_the_next_criterion_without_answering(rate, page: Page) -> None:
    rate("dialogue", CRITERIA, items=2)
    page.keyboard.press("h")
    page.keyboard.press("3")
    assert page.locator("input[type=radio]:checked").evaluate_all("all => all.map(one => one.name)") == [
        "personalization"
    ]


def test_what_cannot_be_reached_is_said_and_not_shown_as_done(rate, page: Page) -> None:
    rate("dialogue", CRITERIA, items=2)
    page.route("**/flag/", lambda route: route.abort())
    page.keyboard.press("f")
    told(page, "No connection. This was not saved")
    expect(page.get_by_role("button", name="Flag")).to_have_attribute("aria-pressed", "false")
    assert not ItemMessage.objects.exists()


def test_an_item_is_skipped_only_where_the_server_is_reached(rate, page: Page) -> None:
    rate("dialogue", CRITERIA, items=5)  # of fewer the next page asks for the skipped one again
    first = page.url
    page.route("**/skip/", lambda route: route.abort())
    page.keyboard.press("y")
    page.keyboard.press("q")
    told(page, "No connection. This was not saved")
    assert page.url == first
    page.unroute("**/skip/")
    page.keyboard.press("q")
    expect(page).not_to_have_url(first)
    assert Assignment.objects.filter(state="skipped").count() == 1


def test_after_a_skip_the_item_shown_stays_mine(rate, page: Page, bob: User) -> None:
    rate("dialogue", CRITERIA, items=4)
    next_ready(page)
    first = page.url
    page.evaluate("() => { navigator.sendBeacon = (url) => sessionStorage.setItem('freed', url); }")
    page.keyboard.press("q")
    expect(page).not_to_have_url(first)
    expect(page.locator("form[data-next-ready='2']")).to_be_attached()
    assert page.evaluate("sessionStorage.getItem('freed')") is None
    assert Assignment.objects.filter(state="leased", annotator=bob).count() == 3
