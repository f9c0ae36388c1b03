"""From signing in to the last item without a mouse; at 200 % zoom nothing goes sideways."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from annotation.studies.models.labels import Annotation
from tests.browser.faults import faults
from tests.browser.waiting import next_ready, saved

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.long]

SIX = [
    "task_completion",
    "personalization",
    "naturalness_user",
    "naturalness_assistant",
    "coherence_user",
    "coherence_assistant",
]


def test_a_dialogue_at_200_percent_is_rated_without_a_mouse(rate, page: Page) -> None:
    """A window of 1280 px at 200 % is one of 640 px."""
    page.set_viewport_size({"width": 640, "height": 400})
    rate("dialogue", SIX)
    next_ready(page)
    presses = ("y", "3", "4", "4", "5", "5", "Enter")
    assert len(presses) <= 8
    for key in presses:
        page.keyboard.press(key)
    expect(page.locator(".rate__head .number")).to_have_text("2 / 2")
    saved(page)
    assert Annotation.objects.count() == len(SIX)
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0


def test_what_folds_the_sheet_and_the_numbers_of_its_criteria_stay_in_view(rate, page: Page) -> None:
    page.set_viewport_size({"width": 640, "height": 400})
    rate("dialogue", SIX)
    shown = [page.locator("[data-sheet]"), page.locator("[data-steps] button").first]
    for part in (*shown, page.locator("label.key").first):
        expect(part).to_be_in_viewport(ratio=0.9)
    page.keyboard.press("c")
    page.keyboard.type("a long\nnote")
    for part in shown:
        expect(part).to_be_in_viewport(ratio=1)
        box = part.bounding_box()
        middle = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
        assert part.evaluate("(one, at) => one === document.elementFromPoint(...at)", middle), "nothing lies over it"
    assert page.locator("#note-task_completion").evaluate(
        "one => one.getBoundingClientRect().top >= document.querySelector('.rate__top').getBoundingClientRect().bottom"
    )


def test_a_pair_at_200_percent_is_rated_in_two_presses(rate, page: Page) -> None:
    page.set_viewport_size({"width": 640, "height": 400})
    rate("pair", ["preference"])
    next_ready(page)
    assert faults(page) == []
    for key in ("a", "Enter"):
        page.keyboard.press(key)
    expect(page.locator(".rate__head .number")).to_have_text("2 / 2")
    saved(page)
    assert Annotation.objects.count() == 1
    assert faults(page) == []


LUMINANCE = """key => {
    const channels = getComputedStyle(key).backgroundColor.match(/[\\d.]+/g).slice(0, 3).map((c) => c / 255);
    const [r, g, b] = channels.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_chosen_and_what_is_active_is_seen_without_colour(rate, page: Page, scheme: str) -> None:
    """By lightness (WCAG 2.2, 1.4.11: 3 to 1) and by lines, also where the system replaces all colours."""
    page.emulate_media(color_scheme=scheme)
    rate("dialogue", SIX[:2])
    page.keyboard.press("y")
    chosen, other = page.locator("input[value=yes] + .key"), page.locator("input[value=no] + .key")
    one, two = sorted(key.evaluate(LUMINANCE) for key in (chosen, other))
    assert (two + 0.05) / (one + 0.05) >= 3
    expect(page.locator("input[value=yes]")).to_be_checked()
    active, done = page.locator("[data-criterion][data-active]"), page.locator("[data-criterion]").first
    width = "one => parseFloat(getComputedStyle(one).borderLeftWidth)"
    assert active.evaluate(width) > 0
    assert done.evaluate("one => getComputedStyle(one).borderLeftColor") != active.evaluate(
        "one => getComputedStyle(one).borderLeftColor"
    )
    page.emulate_media(forced_colors="active")
    line = "key => getComputedStyle(key).outlineStyle + getComputedStyle(key).outlineWidth"
    assert (chosen.evaluate(line), other.evaluate(line)) != (other.evaluate(line),) * 2


@pytest.mark.parametrize("kind", ["dialogue", "pair"])
def test_on_a_wide_screen_lines_stay_short_and_nothing_goes_sideways(rate, page: Page, kind: str) -> None:
    page.set_viewport_size({"width": 1920, "height": 1000})
    rate(kind, ["task_completion"] if kind == "dialogue" else ["preference"])
    assert faults(page) == []
    text = page.locator(".turn__text, .pair__text").first
    assert text.bounding_box()["width"] <= 45 * text.evaluate("one => parseFloat(getComputedStyle(one).fontSize)")


def tab_to(page: Page, name: str) -> None:
    """Press Tab until what is focused is called so."""
    for _ in range(40):
        page.keyboard.press("Tab")
        focused = page.locator(":focus")
        if focused.count() and name in (focused.get_attribute("name") or focused.inner_text()):
            return
    raise AssertionError(f"Tab does not lead to {name}")


def test_from_signing_in_to_the_last_item_by_keys_alone(rate, page: Page, bob, live_server) -> None:
    bob.set_password("a-long-one-8")
    bob.save()
    rate("dialogue", SIX, items=1)
    page.context.clear_cookies()
    page.goto(f"{live_server.url}/login/")
    tab_to(page, "login")
    page.keyboard.type("bob")
    tab_to(page, "password")
    page.keyboard.type("a-long-one-8")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{live_server.url}/work/")
    tab_to(page, "Rate the")
    page.keyboard.press("Enter")
    expect(page.locator(".rate__head .number")).to_have_text("1 / 1")
    page.wait_for_load_state()  # the scripts that hear keys
    for key in ("y", "3", "4", "4", "5", "5", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_text("All done")).to_be_visible()
    assert Annotation.objects.count() == len(SIX)
