"""Bob answers criteria of every type by key and by mouse, in a real Chromium."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from annotation.corpus.models import Dialogue
from annotation.studies.models.labels import Annotation
from tests.browser.faults import faults_on_screens
from tests.browser.waiting import saved
from tests.support.answer_types import DIALOGUE, PAIR

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def active(page: Page) -> str | None:
    return page.locator("[data-criterion][data-active]").get_attribute("id")


def stored() -> dict[tuple[str, int], tuple[str, object]]:
    found = Annotation.objects.select_related("criterion")
    return {(a.criterion.key, a.turn): (a.value, a.content) for a in found}


def select_words(page: Page, part: str, start: int, end: int) -> None:
    """Select characters of a part of the item, as a drag with the mouse does."""
    page.evaluate(
        """([part, start, end]) => {
            const place = document.querySelector(`[data-item] [data-part="${part}"]`);
            const texts = document.createTreeWalker(place.querySelector("[data-shown]") ?? place, NodeFilter.SHOW_TEXT);
            let node = texts.nextNode();
            while (!node.data.trim()) node = texts.nextNode();
            getSelection().setBaseAndExtent(node, start, node, end);
        }""",
        [part, start, end],
    )


def test_a_dialogue_is_answered_by_keys_alone(rate, page: Page) -> None:
    rate("dialogue", None, rubric=DIALOGUE)
    assert active(page) == "rating-better.2"
    page.keyboard.press("w")
    page.keyboard.press("Control+A")
    page.keyboard.type("At eight, then.")
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#rating-faults")).to_be_hidden()
    page.keyboard.press("n")
    assert active(page) == "rating-faults"
    page.keyboard.press("1")  # neither p nor s, which are commands
    page.keyboard.press("3")
    page.keyboard.press("ArrowRight")
    page.keyboard.type("35")
    page.keyboard.press("Enter")
    assert active(page) == "rating-errors"
    select_words(page, "turn-2", 0, 2)
    page.keyboard.press("2")
    expect(page.locator("#rating-errors li")).to_contain_text("Rude At")
    page.locator("#rating-errors li select").select_option("major")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    expect(page.locator(".rate__head .number")).to_have_text("2 / 2")
    saved(page)
    span = {"part": "turn-2", "start": 0, "end": 2, "category": "rude", "text": "At", "severity": "major"}
    assert stored() == {
        ("better", 2): ("3", {"text": "At eight, then.", "turn": 2}),
        ("done", 0): ("no", None),
        ("faults", 0): ("time|size", None),
        ("share", 0): ("35", None),
        ("errors", 0): ("1", [span]),
    }


def selection(page: Page) -> str:
    return page.evaluate("getSelection().toString()")


def test_words_are_marked_by_keys_alone(rate, page: Page) -> None:
    said = ["Hi.", "At nine, if I may say so.", "Oh.", "No *way*."]
    turns = [{"role": role, "content": text} for role, text in zip(["user", "assistant"] * 2, said, strict=True)]
    rate("dialogue", None, rubric=DIALOGUE, material={"turns": turns})
    for _ in range(4):  # past two rewrites, done and share
        page.keyboard.press("ArrowRight")
    assert active(page) == "rating-errors"
    page.keyboard.press("w")
    assert selection(page) == "At", "the user's turn may not be marked"
    page.keyboard.press("w")
    page.keyboard.press("w")
    page.keyboard.press("b")
    assert selection(page) == "nine"
    page.keyboard.press("Shift+ArrowRight")
    assert selection(page) == "nine,"
    assert active(page) == "rating-errors"
    page.keyboard.press("1")
    expect(page.locator("#rating-errors li")).to_contain_text("nine,")
    for key in "jjjj":  # the last turn, which has a criterion of its own
        page.keyboard.press(key)
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert active(page) == "rating-errors"
    page.keyboard.press("w")
    assert selection(page) == "No"
    page.keyboard.press("w")
    page.keyboard.press("w")
    assert selection(page) == "way", "the last word stays"
    page.keyboard.press("2")
    marked = json.loads(page.locator("#rating-errors [data-spans]").input_value())
    assert [(one["part"], one["start"], one["end"]) for one in marked] == [("turn-2", 3, 8), ("turn-4", 4, 7)]


def test_words_of_a_response_are_marked_by_keys_alone(rate, page: Page) -> None:
    rate("pair", None, rubric=PAIR)
    for _ in range(5):  # past the preference, two ratings and two rankings
        page.keyboard.press("ArrowRight")
    assert active(page) == "rating-errors.A"
    first = page.locator("[data-part=A]").inner_text().split()[0]
    page.keyboard.press("w")
    assert selection(page) == first
    page.keyboard.press("1")
    expect(page.locator("[id='rating-errors.A'] li")).to_contain_text(first)
    page.keyboard.press("ArrowRight")
    assert active(page) == "rating-errors.B"
    page.keyboard.press("w")
    assert selection(page) == page.locator("[data-part=B]").inner_text().split()[0]


def test_the_next_item_begins_without_the_answers_of_the_last(rate, page: Page) -> None:
    rate("dialogue", None, rubric=DIALOGUE)
    page.locator("label[for=rating-done-1]").click()
    page.locator("#answer-share").fill("20")
    page.locator("[data-nothing]").check()
    page.locator(".rate__actions .button--primary").click()
    expect(page.locator(".rate__head .number")).to_have_text("2 / 2")
    saved(page)
    assert set(stored()) == {("done", 0), ("share", 0), ("errors", 0)}
    assert page.locator("#answer-share").input_value() == ""
    assert not page.locator("[data-nothing]").is_checked()
    replies = {one.turns[1]["content"] for one in Dialogue.objects.all()}
    assert page.locator("[id='answer-better.2']").input_value() in replies
    page.keyboard.press("Enter")
    expect(page.locator("[data-saved]")).to_have_text("Missing: Done and 2 more")


def test_a_pair_is_ranked_by_keys_and_by_selects(rate, page: Page) -> None:
    rate("pair", None, rubric=PAIR)
    page.keyboard.press("b")
    assert active(page) == "rating-helpful.A"
    page.keyboard.press("3")
    page.keyboard.press("1")
    assert active(page) == "rating-order"
    page.keyboard.press("b")
    page.keyboard.press("=")
    page.keyboard.press("2")
    page.keyboard.press("1")
    assert page.locator("#rating-order [data-answer]").input_value() in ("A=B", "B>A")
    assert active(page) == "rating-ends"
    page.locator("#rating-ends [data-end=best]").select_option("A")
    page.locator("#rating-ends [data-end=worst]").select_option("A")
    assert page.locator("#rating-ends [data-end=best]").input_value() == ""
    page.locator("#rating-ends [data-end=best]").select_option("B")
    page.locator("[id='rating-errors.A'] .key--mark").first.scroll_into_view_if_needed()
    select_words(page, "A", 0, 3)
    page.locator("[id='rating-errors.A'] [data-mark=wrong]").click()
    select_words(page, "A", 0, 3)
    page.locator("[id='rating-errors.B'] [data-mark=wrong]").click()
    assert page.locator("[id='rating-errors.B'] li").count() == 0, "words of the other response"
    page.locator("[id='rating-errors.B'] [data-nothing]").check()
    why = page.locator("#rating-why")
    if why.is_visible():
        page.locator("#answer-why").fill("It knows me.")
    page.locator(".rate__actions .button--primary").click()
    expect(page.locator(".rate__head .number")).to_have_text("2 / 2")
    saved(page)
    found = stored()
    assert {key for key, _ in found} >= {"preference", "helpful", "order", "ends", "errors"}
    assert sorted(found["errors", turn][0] for turn in (1, 2)) == ["0", "1"]
    best = found["ends", 0][0][0]
    assert found["preference", 0][0] == best, "B both times"


def test_what_was_entered_is_there_again_after_a_reload(rate, page: Page) -> None:
    rate("dialogue", None, rubric=DIALOGUE)
    page.locator("label[for=rating-done-2]").click()
    page.locator("label[for=rating-faults-2]").click()
    page.locator("#rating-share [data-slider]").fill("45")
    select_words(page, "turn-2", 3, 6)
    page.locator("[data-mark=wrong]").click()
    expect(page.locator("[data-saved]")).to_have_text("Saved")
    page.reload()
    assert page.locator("#rating-faults [data-answer]").input_value() == "place"
    assert page.locator("#rating-faults-2").is_checked()
    assert page.locator("#answer-share").input_value() == "45"
    assert page.locator("#rating-share [data-slider]").input_value() == "45"
    expect(page.locator("#rating-errors li")).to_contain_text("Wrong the")
    page.keyboard.press("u")
    page.locator("label[for=rating-done-1]").click()
    expect(page.locator("#rating-faults")).to_be_hidden()


def test_the_folded_sheet_counts_answers_of_every_type_and_only_what_is_asked(rate, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    rate("dialogue", None, rubric=DIALOGUE)
    turns = page.locator("[data-of-turn]").count()
    page.get_by_role("button", name="Fold").click()
    told = page.locator("[data-sheet-told]")
    expect(told).to_have_text(f"0 of {turns + 4} answered")
    page.locator("#answer-share").evaluate(
        "one => (one.value = 45) && one.dispatchEvent(new Event('input', { bubbles: true }))"
    )
    expect(told).to_have_text(f"1 of {turns + 4} answered")
    page.locator("#rating-done-2").evaluate("one => one.click()")
    expect(told).to_have_text(f"2 of {turns + 5} answered")


def test_what_the_server_refuses_is_shown_where_it_was_answered(rate, page: Page) -> None:
    """The defect: the item came back with "Saved" below it, and nothing said why; or with a sentence at another one."""
    number = {"key": "share", "type": "number", "question": "How much?", "limits": {"least": 0, "most": 100}}
    yes = {"key": "done", "type": "binary", "question": "Is it done?"}
    page.set_viewport_size({"width": 390, "height": 844})
    rate("dialogue", None, rubric={"kind": "dialogue", "criterion": [number, yes]})
    page.locator("#answer-share").fill("1000")
    page.locator("#answer-share").press("Enter")
    assert active(page) == "rating-done"
    page.keyboard.press("y")
    page.keyboard.press("Enter")
    expect(page.locator("[data-saved]")).to_have_text("Share: 1000 is out of range: from 0 to 100.")
    assert active(page) == "rating-share"
    expect(page.locator("#rating-share")).to_have_attribute("data-missing", "")


@pytest.mark.parametrize(("kind", "rubric"), [("dialogue", DIALOGUE), ("pair", PAIR)])
def test_nothing_is_said_of_keys_where_there_are_none(rate, page: Page, chromium, kind: str, rubric: dict) -> None:
    rate(kind, None, rubric=rubric)
    context = chromium.new_context(has_touch=True, is_mobile=True, storage_state=page.context.storage_state())
    touched = context.new_page()
    touched.goto(page.url)
    expect(touched.locator("form[data-live]")).to_be_attached()
    said = touched.locator("main").inner_text()
    assert [words for words in ("leave the text", "begins again", "Press the letter") if words in said] == []
    expect(touched.locator("kbd").locator("visible=true")).to_have_count(0)
    context.close()


def test_a_reason_takes_the_place_of_any_answer(rate, page: Page) -> None:
    rate("dialogue", None, rubric=DIALOGUE)
    page.locator("label[for=rating-done-2]").click()
    page.locator("label[for=rating-faults-1]").click()
    for name in ("faults", "share", "errors"):
        page.locator(f"#rating-{name} [data-unscored]").evaluate("fold => (fold.open = true)")
        page.locator(f"#unscored-{name}").fill("cannot say")
    assert not page.locator("#rating-faults-1").is_checked()
    page.locator(".rate__actions .button--primary").click()
    expect(page.locator(".rate__head .number")).to_have_text("2 / 2")
    saved(page)
    reasons = Annotation.objects.exclude(unscored_reason="").values_list("criterion__key", flat=True)
    assert sorted(reasons) == ["errors", "faults", "share"]


@pytest.mark.parametrize(("kind", "rubric"), [("dialogue", DIALOGUE), ("pair", PAIR)])
@pytest.mark.long
def test_the_page_keeps_the_rules_of_accessibility_on_each_screen(rate, page: Page, kind: str, rubric: dict) -> None:
    rate(kind, None, rubric=rubric)
    if kind == "dialogue":
        page.locator("label[for=rating-done-2]").click()
        select_words(page, "turn-2", 0, 2)
        page.locator("[data-mark=rude]").click()
    assert faults_on_screens(page) == {}


def test_without_a_script_every_type_is_answered(rate, page: Page, chromium, live_server) -> None:
    rate("dialogue", None, rubric=DIALOGUE)
    context = chromium.new_context(java_script_enabled=False, storage_state=page.context.storage_state())
    plain = context.new_page()
    plain.goto(page.url)
    expect(plain.locator("#rating-faults")).to_contain_text("Only if Done is No.")
    plain.locator("label[for=rating-done-2]").click()
    plain.locator("label[for=rating-faults-1]").click()
    plain.locator("label[for=rating-faults-3]").click()
    plain.locator("#answer-share").fill("10")
    plain.locator("#quotes-errors").fill("wrong/major | turn-2 | Thai place\nrude/minor | | you like")
    plain.locator("#answer-critique").fill("Ask first.")
    expect(plain.locator("kbd:visible")).to_have_count(0)
    plain.locator(".rate__actions .button--primary").click()
    expect(plain.locator(".rate__head .number")).to_have_text("2 / 2")
    found = stored()
    assert found["faults", 0] == ("time|size", None)
    assert [(one["text"], one["severity"]) for one in found["errors", 0][1]] == [
        ("Thai place", "major"),
        ("you like", "minor"),
    ]
    assert json.dumps(found["critique", 0][1]) == '{"text": "Ask first."}'
    plain.locator(".rate__actions .button--primary").click()
    expect(plain.locator("#rating-share .rating__error")).to_have_text("Share has no answer yet.")
    context.close()
