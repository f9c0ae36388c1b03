"""Bob compares two responses."""

from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation
from tests.browser.waiting import saved
from tests.support.factories import DialogueFactory, ResponsePairFactory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LONG = "Ein sehr langer Satz 😀 שלום עולם 你好。" * 1400


@pytest.mark.parametrize(("key", "side", "strength"), [("1", "A", "much"), ("3", "B", "slightly"), ("0", "tie", "")])
def test_two_presses_say_which_and_how_much(rate, page: Page, key: str, side: str, strength: str) -> None:
    study = rate("pair", ["preference"], allow_tie=True, asks_strength=True)
    slot = study.assignments.get(rank=1)
    page.keyboard.press(key)
    if strength:
        expect(page.locator(f"[data-side={side}]")).to_have_attribute("data-chosen", "")
    page.keyboard.press("Enter")
    expect(page.locator(".rate__head .number")).to_have_text("2 / 2")
    saved(page)
    found = Annotation.objects.get()
    assert found.strength == strength
    assert found.value == (side if side == "tie" else slot.sides[side])
    page.keyboard.press("u")
    page.wait_for_url(f"**{reverse('assignment', args=[slot.pk])}")
    assert page.locator("input[type=radio]:checked").count() == 1


def test_the_responses_stand_beside_each_other_and_on_a_phone_behind_tabs(rate, page: Page) -> None:
    rate("pair", ["preference"])
    a, b = (page.locator(f"[data-side={side}]") for side in "AB")
    assert a.bounding_box()["y"] == b.bounding_box()["y"]
    assert a.bounding_box()["width"] == b.bounding_box()["width"]
    page.set_viewport_size({"width": 390, "height": 844})
    expect(a).to_be_visible()
    expect(b).to_be_hidden()
    page.get_by_role("tab", name="Response B").click()
    expect(b).to_be_visible()
    expect(a).to_be_hidden()


def test_differences_on_demand_and_scrolling_together(rate, page: Page) -> None:
    ResponsePairFactory(response_1="Curry with rice.\n" * 80, response_2="Curry with noodles.\n" * 80)
    rate("pair", ["preference"], items=0)
    count = "() => CSS.highlights.get('difference').size"
    assert page.evaluate(count) == 0
    page.keyboard.press("d")
    assert page.evaluate(count) == 160
    page.keyboard.press("d")
    assert page.evaluate(count) == 0
    page.keyboard.press("s")
    one, other = page.locator(".pair__text").all()
    one.evaluate("node => (node.scrollTop = 400)")
    page.wait_for_function("() => document.querySelectorAll('.pair__text')[1].scrollTop > 300")
    assert other.evaluate("node => node.scrollTop") > 300


def test_words_are_marked_as_evidence_in_characters(rate, page: Page) -> None:
    DialogueFactory(
        turns=[{"role": "user", "content": "😀 سلام"}, {"role": "assistant", "content": "Thai 🍛, <b>at</b> eight?"}]
    )
    rate("dialogue", ["personalization"], items=0)
    page.evaluate(
        """() => {
          const text = document.querySelector('[data-part="turn-2"] [data-start]').firstChild;
          const range = document.createRange();
          range.setStart(text, text.data.indexOf('at'));
          range.setEnd(text, text.data.indexOf('</b>'));
          getSelection().removeAllRanges();
          getSelection().addRange(range);
        }"""
    )
    page.keyboard.press("e")
    page.keyboard.press("j")
    page.keyboard.press("e")
    expect(page.locator("[data-evidence-list] li")).to_have_count(2)
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    page.wait_for_url("**/next/")
    assert Annotation.objects.get().evidence == [
        {"part": "turn-1", "start": 0, "end": 6, "text": "😀 سلام"},
        {"part": "turn-2", "start": 11, "end": 13, "text": "at"},
    ]
    page.goto(f"{page.url.split('/work/')[0]}/work/items/{Assignment.objects.get().pk}/")
    expect(page.locator("[data-evidence-list] li")).to_have_count(2)


def test_very_long_and_many_turns(rate, page: Page) -> None:
    turns = [{"role": ("user", "assistant")[n % 2], "content": f"Turn {n}."} for n in range(199)]
    DialogueFactory(turns=[*turns, {"role": "assistant", "content": LONG}])
    assert len(LONG) > 50_000
    rate("dialogue", ["personalization"], items=0)
    assert page.locator("[data-turn]").count() == 200
    assert page.locator('[data-part="turn-200"] [data-written]').evaluate("node => node.textContent") == LONG
    page.keyboard.press("k")
    page.keyboard.press("e")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    page.wait_for_url("**/next/")
    (mark,) = Annotation.objects.get().evidence
    assert (mark["part"], mark["end"], mark["text"]) == ("turn-200", len(LONG), LONG)


def test_two_long_responses_are_compared_quickly(rate, page: Page) -> None:
    ResponsePairFactory(response_1="one two three " * 3500, response_2="one two four " * 3500)
    rate("pair", ["preference"], items=0)
    page.keyboard.press("d")
    assert page.evaluate("() => CSS.highlights.get('difference').size") == 7000
