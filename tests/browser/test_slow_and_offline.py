"""A slow line, no line for a minute, a correction on the way, a sign-out: nothing is lost and every state is told."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, Route, expect

from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation, Draft
from core.accounts.models.users import User
from tests.browser.faults import AXE, faults
from tests.browser.waiting import next_ready, saved

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.long]
CRITERIA = ["task_completion", "personalization"]


def told(page: Page, text: str) -> None:
    expect(page.locator("[data-saved]")).to_contain_text(text)


def where(page: Page, text: str) -> None:
    expect(page.locator("[data-where]")).to_have_text(text)


def ready(page: Page, n: int) -> None:
    expect(page.locator("form[data-rate]")).to_have_attribute("data-next-ready", str(n))


def values() -> dict[int, list[str]]:
    """By the item's place in the queue, its labels."""
    found: dict[int, list[str]] = {}
    for rank, value in Annotation.objects.order_by("criterion__position").values_list("assignment__rank", "value"):
        found.setdefault(rank, []).append(value)
    return found


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def hold(page: Page, path: str) -> list[Route]:
    """Let requests to an address wait until the test sends them on."""
    held: list[Route] = []
    page.route(f"**/{path}/", lambda route: held.append(route))
    return held


def until(page: Page, is_so: Callable[[], bool]) -> None:
    """Wait for what the page does not show."""
    for _ in range(200):
        if is_so():
            return
        page.wait_for_timeout(100)
    raise AssertionError("it did not come about in 20 seconds")


def until_held(page: Page, held: list[Route], n: int) -> None:
    until(page, lambda: len(held) >= n)


def test_a_correction_while_the_next_item_is_on_its_way_is_kept(rate, page: Page) -> None:
    ahead = hold(page, "ahead")  # nothing comes ahead
    rate("dialogue", CRITERIA, items=3)
    held = hold(page, "save")
    press(page, "y", "3", "Enter")
    told(page, "The next item is on its way")
    until_held(page, held, 1)
    press(page, "Backspace", "Backspace", "n")  # no, it was not completed
    press(page, "Enter")
    told(page, "The next item is on its way and comes by itself")
    held[0].continue_()
    until_held(page, held, 2)
    where(page, "1 / 3")
    held[1].continue_()
    where(page, "2 / 3")
    saved(page)
    assert values() == {1: ["no", "3"]}
    assert not Draft.objects.exists()
    assert len(ahead) >= 1


def test_five_items_are_kept_ready_and_put_back(rate, page: Page) -> None:
    rate("dialogue", CRITERIA, items=9)
    ready(page, 5)
    assert Assignment.objects.filter(state="leased").count() == 6
    for path in ("save", "draft", "ahead"):
        page.route(f"**/{path}/", lambda route: route.abort())
    for number in range(2, 7):
        press(page, "y", "2", "Enter")
        where(page, f"{number} / 9")
    assert values() == {}
    press(page, "y", "4", "Enter")
    told(page, "No connection. Your answers are kept in this browser")
    press(page, "Enter")
    told(page, "then the next item comes")
    page.unroute_all()
    page.evaluate("window.dispatchEvent(new Event('online'))")
    where(page, "7 / 9")
    saved(page)
    assert values() == {rank: ["yes", "4" if rank == 6 else "2"] for rank in range(1, 7)}
    ready(page, 2)
    page.goto("about:blank")
    until(page, lambda: Assignment.objects.filter(state="leased").count() == 1)


def test_who_keeps_items_ready_does_not_keep_them_from_others(rate, page: Page) -> None:
    study = rate("dialogue", CRITERIA, items=8)
    ready(page, 5)
    study.annotators.add(User.objects.create(username="charlie"))
    address = page.url
    page.goto("about:blank")  # what was ready is put back
    until(page, lambda: study.assignments.filter(state="leased").count() == 1)
    page.goto(address)
    ready(page, 3)
    assert study.assignments.filter(state="open").count() == 4


def test_signed_out_on_a_later_item_the_way_back_leads_to_it(rate, page: Page, bob: User) -> None:
    rate("dialogue", CRITERIA, items=3)
    next_ready(page)
    first = page.url
    press(page, "y", "3", "Enter")
    where(page, "2 / 3")
    saved(page)
    second = page.url
    assert second != first
    Session.objects.all().delete()
    press(page, "n")
    expect(page.locator("[data-sign-in]")).to_be_visible()
    page.locator("[data-sign-in-again]").click()
    page.get_by_label("Username").fill("bob")
    page.get_by_label("Password").fill("pw")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(second)
    where(page, "2 / 3")
    expect(page.locator("input[type=radio]:checked")).to_have_value("no")


def test_an_item_done_in_less_than_a_second_keeps_its_time(rate, page: Page) -> None:
    rate("dialogue", ["task_completion"], items=3)
    next_ready(page)
    press(page, "y", "Enter")
    where(page, "2 / 3")
    saved(page)
    press(page, "y", "Enter")
    where(page, "3 / 3")
    saved(page)
    seconds = [slot.active_seconds for slot in Assignment.objects.filter(state="submitted")]
    assert len(seconds) == 2
    assert all(one and one > 0 for one in seconds)
    assert any(one != round(one, 1) for one in seconds), "to the millisecond"


def test_a_new_item_is_told_by_title_focus_and_a_live_region(rate, page: Page) -> None:
    rate("dialogue", CRITERIA, items=3)
    next_ready(page)
    expect(page).to_have_title(re.compile("^Item 1 · Pilot"))
    press(page, "y", "3", "Enter")
    where(page, "2 / 3")
    expect(page).to_have_title(re.compile("^Item 2 · Pilot"))
    expect(page.locator("h1")).to_be_focused()
    expect(page.locator("h1")).to_have_text("Item 2 of 3")
    expect(page.locator("[data-announce][role=status]")).to_have_text("Item 2 of 3.")
    press(page, "n")
    expect(page.locator("input[type=radio]:checked")).to_have_value("no")


def test_what_is_read_aloud_holds_what_is_written(rate, page: Page) -> None:
    """The rule label-content-name-mismatch of axe is off by default. Steps have the numbers of their criteria."""
    page.set_viewport_size({"width": 390, "height": 844})
    rate("dialogue", ["task_completion", "naturalness_assistant"], each_turn=["naturalness_assistant"])
    page.evaluate(AXE.axe_script)
    found = page.evaluate("axe.run({runOnly: ['label-content-name-mismatch']}).then(found => found.violations)")
    assert found == []
    number = page.locator(".rating:not([data-of-turn]) .rating__number").inner_text()
    (step,) = page.locator("[data-steps] button:not(:first-child)").all()
    assert step.inner_text() == number
    assert step.get_attribute("aria-label") == f"{number} Task completion"


@pytest.mark.long
def test_offline_for_a_minute_on_a_slow_line_loses_nothing_and_says_so(rate, page: Page) -> None:
    page.clock.install()
    rate("dialogue", CRITERIA, items=12)
    ready(page, 5)
    line = page.context.new_cdp_session(page)
    line.send("Network.enable")
    slow = {"offline": False, "latency": 400, "downloadThroughput": 6_000, "uploadThroughput": 3_000}
    line.send("Network.emulateNetworkConditions", slow)
    press(page, "y", "3", "Enter")
    where(page, "2 / 12")
    told(page, "Saving")
    page.clock.run_for(3_000)
    told(page, "Saved")

    line.send("Network.emulateNetworkConditions", {**slow, "offline": True})
    press(page, "n")
    page.clock.run_for(1_000)
    told(page, "No connection. Kept in this browser")
    press(page, "2", "Enter")
    where(page, "3 / 12")
    told(page, "No connection. Your answers are kept in this browser and sent when it is back")
    for number in range(4, 8):
        press(page, "y", "4", "Enter")
        where(page, f"{number} / 12")
        page.clock.run_for(10_000)
        told(page, "No connection")
    press(page, "n", "c")
    page.keyboard.type("half a note")
    press(page, "Escape", "1", "Enter")  # of the last that was ready
    told(page, "then the next item comes")
    where(page, "7 / 12")
    press(page, "2")  # a correction, while nothing is there to go on to
    page.clock.run_for(30_000)
    assert values() == {1: ["yes", "3"]}

    line.send("Network.emulateNetworkConditions", slow)
    page.evaluate("window.dispatchEvent(new Event('online'))")
    for _ in range(60):
        page.clock.run_for(1_000)
        page.wait_for_timeout(200)
        if page.locator("[data-where]").inner_text() == "8 / 12":
            break
    where(page, "8 / 12")
    for _ in range(60):
        page.clock.run_for(1_000)
        page.wait_for_timeout(200)
        if page.locator("[data-saved]").inner_text() == "Saved":
            break
    told(page, "Saved")
    found = values()
    assert found == {1: ["yes", "3"], 2: ["no", "2"], **{rank: ["yes", "4"] for rank in (3, 4, 5, 6)}, 7: ["no", "2"]}
    assert "half a note" in Annotation.objects.filter(assignment__rank=7).values_list("note", flat=True)
    assert Assignment.objects.filter(state="submitted").count() == 7
    assert page.evaluate("Object.keys(localStorage).filter(one => /draft|outbox|unsent/.test(one))") == []


@pytest.mark.parametrize("code", [400, 404, 413])
def test_what_the_server_refuses_is_told_kept_and_can_be_sent_again(rate, page: Page, code: int) -> None:
    rate("dialogue", CRITERIA, items=4)
    ready(page, 3)
    page.route("**/save/", lambda route: route.fulfill(status=code, json={}))
    press(page, "y", "2", "Enter")
    box = page.locator("[data-unsent]")
    expect(box).to_contain_text("The answers of 1 item are not saved")
    where(page, "2 / 4")
    page.reload()
    expect(box).to_contain_text("The answers of 1 item are not saved")
    with page.expect_download() as download:
        box.get_by_role("button", name="Download them").click()
    assert '"2"' in Path(download.value.path()).read_text()
    assert values() == {}
    page.unroute_all()
    box.get_by_role("button", name="Send again").click()
    until(page, lambda: values() == {1: ["yes", "2"]})
    expect(box).to_be_hidden()
    assert faults(page) == []
