"""Bob rates items of three responses by key, by mouse and on a phone, in a real Chromium."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotation.corpus.imports import records
from annotation.stats.orders import list_shown
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Study
from core.files.input_files import InputFile
from tests.browser.faults import faults_on_screens
from tests.browser.waiting import saved
from tests.support.many_responses import RUBRIC, build_record

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.long]


@pytest.fixture
def three(rate, tmp_path: Path) -> Study:
    path = tmp_path / "three.jsonl"
    path.write_text("".join(json.dumps(build_record(n)) + "\n" for n in (1, 2)))
    records.load(by=None, kind="pairs", file=InputFile(path, path.name))
    return rate("pair", None, items=0, rubric=RUBRIC)


def take_picture(page: Page, name: str) -> None:
    if folder := os.environ.get("CONCORD_PICTURES"):
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)


def test_three_responses_are_rated_by_keys_and_stored_by_their_own_numbers(three: Study, page: Page) -> None:
    slot = three.assignments.get(rank=1)
    at = list_shown(slot.order)
    assert [one.get_attribute("data-side") for one in page.locator(".pair > [data-side]").all()] == ["A", "B", "C"]
    boxes = [page.locator(f"[data-side={side}]").bounding_box() for side in "ABC"]
    assert len({box["y"] for box in boxes}) == 1
    assert [box["x"] for box in boxes] == sorted({box["x"] for box in boxes})
    page.keyboard.press(str("ABC".index(at["2"]) + 1))  # best
    expect(page.locator(f"[data-side={at['2']}]")).to_have_attribute("data-chosen", "")
    for side in "ABC":
        expect(page.locator(f"[data-side={side}]")).to_have_attribute("data-rated-now", "")
        page.keyboard.press({at["1"]: "1", at["2"]: "3", at["3"]: "2"}[side])  # helpful
    for number in "231":
        page.keyboard.press(str("ABC".index(at[number]) + 1))  # order
    for number in "21":
        page.keyboard.press(str("ABC".index(at[number]) + 1))  # best and worst
    page.keyboard.type("35")
    page.keyboard.press("Enter")
    page.keyboard.press("1")  # time
    page.keyboard.press("Enter")
    expect(page.locator(".rate__head .number")).to_have_text("2 / 2")
    saved(page)
    found = {(one.criterion.key, one.turn): one.value for one in Annotation.objects.select_related("criterion")}
    assert found == {
        ("best", 0): "2",
        ("helpful", 1): "1",
        ("helpful", 2): "3",
        ("helpful", 3): "2",
        ("order", 0): "2>3>1",
        ("ends", 0): "2>3>1",
        ("share", 0): "35",
        ("faults", 0): "time",
    }


@pytest.mark.long
def test_what_a_response_holds_is_shown_and_nothing_is_wrong_on_any_screen(three: Study, page: Page) -> None:
    dialogue = page.locator("[data-side]", has_text="Tool call")
    expect(dialogue.locator(".content__turn")).to_have_text(["User", "Assistant", "Tool", "Assistant"])
    expect(page.locator("[data-side] table")).to_have_count(1)
    expect(page.locator("[data-side] pre code", has_text="def count")).to_have_count(1)
    expect(page.locator("[data-side] img")).to_have_count(1)
    expect(page.locator(".annotate__context")).to_have_count(0)
    assert page.eval_on_selector(".pair", "one => one.scrollWidth <= one.clientWidth"), "all three side by side"
    take_picture(page, "three-1280")
    assert faults_on_screens(page) == {}
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.get_by_role("tab")).to_have_text(["Response A", "Response B", "Response C"])
    expect(page.locator("[data-side=B]")).to_be_hidden()
    page.get_by_role("tab", name="Response A").press("ArrowRight")
    expect(page.locator("[data-side=B]")).to_be_visible()
    expect(page.locator("[data-side=A]")).to_be_hidden()
    take_picture(page, "three-390")
    assert faults_on_screens(page) == {}
