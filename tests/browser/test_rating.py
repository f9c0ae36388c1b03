"""Bob rates with the keyboard, in a real Chromium."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from annotation.studies.models.labels import Annotation
from annotation.studies.services import studies
from tests.browser.faults import faults_on_screens
from tests.browser.waiting import saved
from tests.support.factories import ResearcherFactory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
CRITERIA = ["task_completion", "personalization", "naturalness_user"]


def active(page: Page) -> str | None:
    return page.locator("[data-criterion][data-active]").get_attribute("data-criterion")


def checked(page: Page) -> list[str]:
    return page.eval_on_selector_all("input[type=radio]:checked", "all => all.map(one => one.name + '=' + one.value)")


def labels() -> list[str]:
    return sorted(Annotation.objects.values_list("value", flat=True))


def test_keys_answer_one_criterion_after_the_other_and_enter_submits(rate, page: Page) -> None:
    rate("dialogue", CRITERIA)
    first = page.url
    assert active(page) == "task_completion"
    page.keyboard.press("n")
    assert active(page) == "personalization"
    page.keyboard.press("3")
    page.keyboard.press("5")
    assert checked(page) == ["task_completion=no", "personalization=3", "naturalness_user=5"]
    page.keyboard.press("Backspace")
    assert active(page) == "personalization"
    page.keyboard.press("4")
    page.keyboard.press("Enter")
    expect(page.locator(".rate__head .number")).to_have_text("2 / 2")
    assert page.url != first
    saved(page)
    assert labels() == ["4", "5", "no"]


def test_a_key_held_down_answers_one_criterion_and_walks_over_several(rate, page: Page) -> None:
    rate("dialogue", CRITERIA)
    for _ in range(3):
        page.keyboard.down("1")
    page.keyboard.up("1")
    assert checked(page) == ["task_completion=yes"]
    for _ in range(3):
        page.keyboard.down("ArrowLeft")
    assert active(page) == "task_completion"


def test_enter_says_what_is_missing_and_goes_there(rate, page: Page) -> None:
    rate("dialogue", CRITERIA)
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.locator("[data-saved]")).to_have_text("Missing: Personalization and 1 more")
    assert active(page) == "personalization"
    page.keyboard.press("7")  # no such value
    assert checked(page) == ["task_completion=yes"]
    assert labels() == []


def test_guideline_note_reason_and_help_by_key(rate, page: Page) -> None:
    rate("dialogue", CRITERIA)
    guideline = page.locator("#rating-task_completion [data-guideline]")
    page.keyboard.press("g")
    expect(guideline).to_have_attribute("open", "")
    expect(guideline).to_contain_text("Some part of the goal is missing")
    page.keyboard.press("g")
    expect(guideline).not_to_have_attribute("open", "")
    page.keyboard.press("c")
    page.keyboard.type("1 g? ok")
    page.keyboard.press("Escape")
    page.keyboard.press("y")
    page.keyboard.press("2")
    page.keyboard.press("Backspace")
    page.keyboard.press("x")
    page.keyboard.type("No profile shown")
    assert checked(page) == ["task_completion=yes"]
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.locator("dialog[data-keys]").get_by_role("heading")).to_be_in_viewport()
    page.keyboard.press("Escape")
    page.locator("label.key", has_text="Mixed").click()
    page.keyboard.press("Enter")
    expect(page.locator(".rate__head .number")).to_have_text("2 / 2")
    saved(page)
    found = {a.criterion.key: a for a in Annotation.objects.select_related("criterion")}
    assert (found["task_completion"].value, found["task_completion"].note) == ("yes", "1 g? ok")
    assert (found["personalization"].value, found["personalization"].unscored_reason) == ("", "No profile shown")
    assert found["naturalness_user"].value == "3"


@pytest.mark.parametrize(("key", "side"), [("1", "A"), ("2", "B"), ("a", "A"), ("b", "B"), ("0", "tie")])
def test_a_pair_is_chosen_by_key(rate, page: Page, key: str, side: str) -> None:
    study = rate("pair", ["preference"], allow_tie=True)
    slot = study.assignments.get(rank=1)
    page.keyboard.press(key)
    assert checked(page) == [f"preference={side}"]
    page.keyboard.press("Enter")
    expect(page.locator(".rate__head .number")).to_have_text("2 / 2")
    saved(page)
    assert labels() == [side if side == "tie" else slot.sides[side]]


def test_on_a_phone_one_criterion_at_a_time(rate, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    rate("dialogue", CRITERIA)
    expect(page.locator("#rating-personalization")).to_be_hidden()
    page.locator("#rating-task_completion label.key").first.click()
    expect(page.locator("#rating-task_completion")).to_be_hidden()
    page.locator("#rating-personalization label.key").nth(1).click()
    page.locator("#rating-naturalness_user label.key").nth(2).click()
    page.get_by_role("button", name="Submit").click()
    expect(page.locator(".rate__head .number")).to_have_text("2 / 2")
    saved(page)
    assert labels() == ["2", "3", "yes"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_without_javascript_it_is_a_form(rate, page: Page, chromium, live_server) -> None:
    rate("dialogue", CRITERIA)
    plain = chromium.new_context(java_script_enabled=False, viewport={"width": 1280, "height": 900})
    plain.add_cookies(page.context.cookies())
    form = plain.new_page()
    form.goto(page.url)
    form.locator("#rating-task_completion label.key").first.click()
    form.get_by_role("button", name="Submit").click()
    expect(form.locator("#rating-personalization .rating__error")).to_have_text("Personalization has no answer yet.")
    form.locator("#rating-personalization label.key").nth(3).click()
    form.locator("#rating-naturalness_user label.key").nth(0).click()
    form.get_by_role("button", name="Submit").click()
    expect(form.locator(".rate__head .number")).to_have_text("2 / 2")
    plain.close()
    assert labels() == ["1", "4", "yes"]


def test_tools_that_need_a_script_are_not_there_without_one(rate, page: Page, chromium) -> None:
    rate("pair", ["preference"])
    expect(page.get_by_role("button", name="Scroll together")).to_be_visible()
    plain = chromium.new_context(java_script_enabled=False)
    plain.add_cookies(page.context.cookies())
    form = plain.new_page()
    form.goto(page.url)
    expect(form.get_by_role("button", name="Submit")).to_be_visible()
    for name in ("Show what differs", "Scroll together"):
        expect(form.get_by_role("button", name=name)).to_be_hidden()
    plain.close()


def test_what_comes_too_late_is_kept_and_stays_legible(rate, page: Page) -> None:
    study = rate("pair", ["preference"])
    first = page.url
    studies.close(by=ResearcherFactory(username="dana"), study=study)
    page.keyboard.press("a")
    page.keyboard.press("Enter")
    expect(page.locator("[data-saved]")).to_contain_text("Your answers are kept for the researcher")
    page.goto(first)
    expect(page.get_by_text("This study is closed and takes no more labels.")).to_be_visible()
    assert checked(page) == ["preference=A"]
    assert faults_on_screens(page) == {}
    assert labels() == []
