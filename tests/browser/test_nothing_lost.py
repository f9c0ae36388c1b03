"""Whatever happens to bob's browser, network or session: nothing that he entered is lost or counted twice."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone
from playwright.sync_api import APIResponse, Page, Route, expect

from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation, Draft
from core.accounts.models.users import User
from tests.browser.waiting import next_ready, saved

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
CRITERIA = ["task_completion", "personalization"]
SIX = [*CRITERIA, "naturalness_user", "naturalness_assistant", "coherence_user", "coherence_assistant"]


def status(page: Page, text: str) -> None:
    expect(page.locator("[data-saved]")).to_have_text(text)


def checked(page: Page) -> list[str]:
    return page.eval_on_selector_all("input[type=radio]:checked", "all => all.map(one => one.name + '=' + one.value)")


def labels() -> list[str]:
    return sorted(Annotation.objects.values_list("value", flat=True))


def where(page: Page, text: str) -> None:
    expect(page.locator(".rate__head .number")).to_have_text(text)


def lose_the_server(page: Page) -> None:
    for path in ("save", "draft", "ahead"):
        page.route(f"**/{path}/", lambda route: route.abort())


def test_a_press_is_a_draft_that_another_device_continues(rate, page: Page, chromium) -> None:
    rate("dialogue", CRITERIA)
    page.keyboard.press("n")
    status(page, "Saved")
    page.keyboard.press("c")
    page.keyboard.type("half a note 🙂 ملاحظة")
    status(page, "Saved")
    assert labels() == []
    other = chromium.new_context()
    other.add_cookies(page.context.cookies())
    elsewhere = other.new_page()
    elsewhere.goto(page.url)
    assert checked(elsewhere) == ["task_completion=no"]
    expect(elsewhere.locator("#note-personalization")).to_have_value("half a note 🙂 ملاحظة")
    other.close()
    page.reload()
    assert checked(page) == ["task_completion=no"]


def test_a_press_before_the_saving_script_is_there_is_saved(rate, page: Page) -> None:
    rate("dialogue", CRITERIA)
    late: list[Route] = []
    page.route("**/keep*.js", lambda route: late.append(route))
    page.reload(wait_until="commit")
    expect(page.locator("form[data-live]")).to_be_visible()  # the script of the keys runs
    page.keyboard.press("n")
    assert checked(page) == ["task_completion=no"]
    late[0].continue_()
    status(page, "Saved")
    assert Draft.objects.get().content["task_completion"] == "no"


def test_the_same_answer_once_more_is_saved_already(rate, page: Page) -> None:
    rate("dialogue", ["task_completion"])
    page.keyboard.press("n")
    status(page, "Saved")
    page.reload()
    page.keyboard.press("n")
    status(page, "Saved")
    assert checked(page) == ["task_completion=no"]
    assert Draft.objects.get().content["task_completion"] == "no"


def test_presses_survive_a_killed_server_and_a_crash(rate, page: Page) -> None:
    rate("dialogue", CRITERIA)
    lose_the_server(page)
    page.keyboard.press("n")
    expect(page.locator("[data-saved]")).to_contain_text("Kept in this browser")
    assert not Draft.objects.exists()
    again = page.context.new_page()  # the browser is started anew, the server is back
    again.goto(page.url)
    assert checked(again) == ["task_completion=no"]
    status(again, "Saved")
    assert Draft.objects.get().content["task_completion"] == "no"


def test_an_item_handed_in_without_a_network_is_sent_when_it_is_back(rate, page: Page) -> None:
    rate("dialogue", CRITERIA, items=3)
    next_ready(page)
    lose_the_server(page)
    page.keyboard.press("y")
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    where(page, "2 / 3")  # the next was ready
    expect(page.locator("[data-saved]")).to_contain_text("No connection")
    assert labels() == []
    page.unroute_all()
    page.evaluate("window.dispatchEvent(new Event('online'))")
    status(page, "Saved")
    assert labels() == ["3", "yes"]


def test_two_windows_show_the_same_item_and_count_once(rate, page: Page) -> None:
    rate("dialogue", CRITERIA, items=3)
    second = page.context.new_page()
    second.goto(page.url)
    for window in (page, second):
        window.keyboard.press("y")
        window.keyboard.press("2")
    for window in (page, second):
        window.keyboard.press("Enter")
        where(window, "2 / 3")
        saved(window)
    assert labels() == ["2", "yes"]
    assert Assignment.objects.filter(state="submitted").count() == 1
    assert Assignment.objects.exclude(state="open").count() <= 3


def test_a_window_that_one_comes_back_to_shows_what_the_other_has_entered(rate, page: Page) -> None:
    rate("dialogue", CRITERIA)
    second = page.context.new_page()
    second.goto(page.url)
    note = "#note-task_completion"
    for window in (page, second):
        window.keyboard.press("c")
    second.keyboard.type("from the second")
    status(second, "Saved")
    page.evaluate("window.dispatchEvent(new Event('focus'))")
    expect(page.locator(note)).to_have_value("from the second")
    page.keyboard.type(", and the first")
    status(page, "Saved")
    second.evaluate("window.dispatchEvent(new Event('focus'))")
    expect(second.locator(note)).to_have_value("from the second, and the first")


def test_a_late_answer_to_a_draft_takes_nothing_back_that_was_typed_since(rate, page: Page) -> None:
    rate("dialogue", CRITERIA)
    held: list[tuple[Route, APIResponse]] = []

    def hold_the_first(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append((route, route.fetch()))

    page.route("**/draft/", hold_the_first)
    page.keyboard.press("c")
    page.keyboard.type("one")
    page.wait_for_timeout(800)
    page.keyboard.type(" two")
    status(page, "Saved")
    ((first, answer),) = held
    first.fulfill(response=answer)
    page.wait_for_timeout(300)
    expect(page.locator("#note-task_completion")).to_have_value("one two")


def test_a_lapsed_session_asks_to_sign_in_and_comes_back_to_the_same_draft(rate, page: Page, bob: User) -> None:
    rate("dialogue", CRITERIA)
    page.keyboard.press("y")
    status(page, "Saved")
    first = page.url
    Session.objects.all().delete()
    page.keyboard.press("4")
    expect(page.locator("[data-sign-in]")).to_be_visible()
    page.locator("[data-sign-in-again]").click()
    page.get_by_label("Username").fill("bob")
    page.get_by_label("Password").fill("pw")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(first)
    assert checked(page) == ["task_completion=yes", "personalization=4"]
    page.keyboard.press("Enter")
    where(page, "2 / 2")
    saved(page)
    assert labels() == ["4", "yes"]


def test_answers_for_an_item_that_went_to_somebody_else_are_kept(rate, page: Page) -> None:
    rate("dialogue", CRITERIA, items=3)
    page.keyboard.press("y")
    page.keyboard.press("4")
    status(page, "Saved")
    charlie = User.objects.create(username="charlie")
    Assignment.objects.filter(rank=1).update(annotator=charlie)
    page.keyboard.press("Enter")
    expect(page.locator("[data-saved]")).to_contain_text("Your answers are kept for the researcher")
    where(page, "1 / 2")  # the item that went is none of theirs any more
    assert labels() == []
    assert Draft.objects.get(state="late").content["personalization"] == "4"


def test_six_criteria_in_seven_presses_and_the_next_item_is_there_at_once(rate, page: Page) -> None:
    rate("dialogue", SIX, items=3)
    next_ready(page)
    for press in ("y", "3", "4", "4", "5", "5"):
        page.keyboard.press(press)
    lose_the_server(page)
    page.keyboard.press("Enter")
    where(page, "2 / 3")
    assert labels() == [], "it was there before anything was saved"


def test_undo_takes_back_presses_and_then_goes_back_to_the_item_before(rate, page: Page) -> None:
    rate("dialogue", CRITERIA, items=3)
    first = page.url
    page.keyboard.press("y")
    page.keyboard.press("2")
    page.keyboard.press("u")
    assert checked(page) == ["task_completion=yes"]
    page.keyboard.press("4")
    page.keyboard.press("Enter")
    where(page, "2 / 3")
    saved(page)
    page.keyboard.press("u")
    page.wait_for_url(first)
    assert checked(page) == ["task_completion=yes", "personalization=4"]
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    where(page, "2 / 3")
    assert labels() == ["4", "no"]
    expect(page.locator(".messages")).to_contain_text("Your changes are saved.")
    page.keyboard.press("y")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    where(page, "3 / 3")
    expect(page.locator(".messages")).to_have_count(0)


def test_time_is_counted_while_there_is_life_and_not_in_a_pause(rate, page: Page) -> None:
    page.clock.install()
    rate("dialogue", CRITERIA)
    page.keyboard.press("y")
    page.clock.run_for(20_000)
    page.keyboard.press("p")
    expect(page.locator("[data-pause]")).to_be_visible()
    page.clock.run_for(300_000)
    page.get_by_role("button", name="Go on").click()
    page.clock.run_for(200_000)  # a minute counts, the rest is idle
    Assignment.objects.filter(rank=1).update(started_at=timezone.now() - timedelta(hours=1))  # the server's clock runs
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    where(page, "2 / 2")
    saved(page)
    slot = Assignment.objects.get(rank=1)
    assert slot.active_seconds is not None
    assert 75 <= slot.active_seconds <= 90, "20 s before the pause and 60 after it; neither the pause nor the rest"


def work(page: Page, *, half_minutes: int) -> None:
    """The clock goes on by itself as well: a minute without a key would no longer count as work on a busy machine."""
    for _ in range(half_minutes):
        page.keyboard.press("g")
        page.clock.run_for(30_000)


def test_a_break_is_suggested_after_three_quarters_of_an_hour_of_work(rate, page: Page) -> None:
    page.clock.install()
    rate("dialogue", CRITERIA)
    told = page.locator("[data-break]")
    page.evaluate("sessionStorage.setItem('concord-session', 43 * 60)")  # of items before this one
    work(page, half_minutes=1)
    expect(told).to_be_hidden()
    work(page, half_minutes=5)
    expect(told).to_be_visible()
    expect(told).to_contain_text("A short break is a good idea")
    told.get_by_role("button", name="Pause").click()
    expect(page.locator("[data-pause]")).to_be_visible()
    page.get_by_role("button", name="Go on").click()
    expect(told).to_be_hidden()
    page.evaluate("sessionStorage.setItem('concord-session', 44.9 * 60)")
    page.clock.run_for(6 * 60_000)  # who goes away without saying so has rested too
    page.keyboard.press("g")
    page.clock.run_for(30_000)
    expect(told).to_be_hidden()
