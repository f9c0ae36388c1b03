"""Dialogues that are hard to show: very long, from right to left, Chinese, emoji, and text that looks like markup."""

from __future__ import annotations

from html import unescape

import pytest
from playwright.sync_api import Page, expect

from annotation.studies.models.labels import Annotation
from tests.browser.faults import faults_on_screens
from tests.browser.waiting import saved

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.long]

MARKUP = '<script>document.title = "broken"</script><img src=x onerror="document.title=1"> &amp; </div>{{ x }}'
HARD = {
    "rtl": "אני רוצה שולחן לשניים במסעדה תאילנדית.",
    "chinese": "请帮我在曼谷餐厅订一张两人桌，谢谢。" * 20,
    "emoji": "👩🏽‍🍳👍🏿 yes 🇳🇴 " * 30,
    "markup": MARKUP,
    "one word": "x" * 50_000,
    "long": "A long answer. " * 3_334,
}


@pytest.mark.parametrize("kind", HARD)
def test_the_text_is_there_as_it_is_and_the_item_can_be_rated(rate, page: Page, kind: str) -> None:
    turns = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": HARD[kind]}]
    rate("dialogue", ["task_completion"], items=1, material={"turns": turns})
    part = page.locator("[data-part=turn-2]")
    assert part.locator("[data-written]").evaluate("node => node.textContent") == HARD[kind]
    shown = part.locator("[data-shown] > p").first
    assert shown.inner_text() == unescape(HARD[kind]).strip()
    assert shown.evaluate("node => getComputedStyle(node).direction") == ("rtl" if kind == "rtl" else "ltr")
    assert "broken" not in page.title()
    assert faults_on_screens(page) == {}
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("e")
    page.keyboard.press("y")
    saved(page)
    page.keyboard.press("Enter")
    expect(page.get_by_text("All done")).to_be_visible()
    (mark,) = Annotation.objects.get().evidence
    assert (mark["start"], mark["end"], mark["text"]) == (0, len(HARD[kind]), HARD[kind])
