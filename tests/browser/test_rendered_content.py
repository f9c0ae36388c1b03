"""Texts as their users saw them, in Chromium: marked back to their source, raw by one key, and harmless."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Request, expect

from annotation.corpus import services
from annotation.corpus.models import AttachmentUse, Dialogue
from annotation.corpus.parsing.records import Turn
from annotation.studies.models.labels import Annotation
from tests.browser.faults import faults_on_screens
from tests.support.factories import DialogueFactory, ResponsePairFactory
from tests.support.media import SVG, png, wav

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.long]

RICH = """# A plan

Take the **night train** to `Oslo`, then:

1. book at <https://example.org/book>
2. pay 5 € – not $5

| city | price |
|------|------:|
| Oslo | 40 |

```python
def total(n):
    return n * 40  # each
```

The mean is $\\frac{a+b}{2}$ & that is all.

> שלום, 你好
"""
HOSTILE = """<script>window.hacked = 1</script>
<img src=x onerror="window.hacked=1"> <svg onload="window.hacked=1"><script>window.hacked=1</script></svg>
<style>body{background:url(https://evil.example/css)}</style> <link rel=stylesheet href=https://evil.example/l.css>
<iframe src="https://evil.example/frame"></iframe> <meta http-equiv=refresh content="0;url=https://evil.example/">

[a](javascript:window.hacked=1) [b](JAVASCRIPT:window.hacked=1) [c](data:text/html,<script>parent.hacked=1</script>)
![pixel](https://evil.example/pixel.png) ![svg](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIj4=)
![x](//evil.example/y.png) [<img src=https://evil.example/i onerror=window.hacked=1>](https://ok.example)

$\\href{javascript:window.hacked=1}{x}$ $\\style{background:url(https://evil.example/m)}{x}$
$\\text{</mtext></math><img src=x onerror=window.hacked=1>}$

```html
<script>window.hacked = 1</script>
```
"""


@pytest.fixture(autouse=True)
def attachments_folder(settings, tmp_path):
    settings.ATTACHMENTS = tmp_path / "stored"


def messages(*given: dict) -> list[dict]:
    return [Turn.model_validate(one).model_dump() for one in given]


def select(page: Page, part: str, first: str, last: str) -> None:
    """Select on the page from the first word to the end of the last one, as a mouse would."""
    page.evaluate(
        """([part, first, last]) => {
          const shown = document.querySelector(`[data-part="${part}"] [data-shown]`);
          const walker = document.createTreeWalker(shown, NodeFilter.SHOW_TEXT);
          const range = document.createRange();
          let begun = false;
          for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            const from = node.data.indexOf(first);
            if (!begun && from >= 0) { range.setStart(node, from); begun = true; }
            const to = node.data.indexOf(last);
            if (begun && to >= 0) { range.setEnd(node, to + last.length); break; }
          }
          getSelection().removeAllRanges();
          getSelection().addRange(range);
        }""",
        [part, first, last],
    )


@pytest.mark.parametrize(
    ("first", "last", "marked"),
    [
        ("night", "train", "night train"),
        ("Take", "Oslo", "Take the **night train** to `Oslo"),
        ("city", "40", "city | price |\n|------|------:|\n| Oslo | 40"),
        ("total", "each", "total(n):\n    return n * 40  # each"),
        ("a", "2", None),
        ("שלום", "你好", "שלום, 你好"),
        ("plan", "plan", "plan"),
    ],
)
def test_what_is_marked_on_the_page_is_marked_in_the_source(rate, page: Page, first: str, last: str, marked) -> None:
    turns = messages({"role": "user", "content": "Hi"}, {"role": "assistant", "content": RICH})
    rate("dialogue", ["task_completion"], items=1, material={"turns": turns})
    if marked is None:  # within a formula: all of it
        page.evaluate(
            """() => {
              const range = document.createRange();
              range.selectNodeContents(document.querySelector('[data-part="turn-2"] mfrac mi'));
              getSelection().removeAllRanges();
              getSelection().addRange(range);
            }"""
        )
        marked = "$\\frac{a+b}{2}$"
    else:
        select(page, "turn-2", first, last)
    page.keyboard.press("e")
    quote = page.locator("[data-evidence-list] q")
    assert quote.evaluate("node => node.textContent") == marked
    assert page.evaluate("() => CSS.highlights.get('evidence').size") > 0
    page.keyboard.press("y")
    page.keyboard.press("Enter")
    expect(page.get_by_text("All done")).to_be_visible()
    (mark,) = Annotation.objects.get().evidence
    assert mark["text"] == marked
    assert RICH[mark["start"] : mark["end"]] == marked


def test_one_key_shows_the_text_as_it_is_written_and_marks_stand_there_too(rate, page: Page) -> None:
    turns = messages({"role": "user", "content": "Hi"}, {"role": "assistant", "content": RICH})
    rate("dialogue", ["task_completion"], items=1, material={"turns": turns})
    select(page, "turn-2", "night", "train")
    page.keyboard.press("e")
    part = page.locator('[data-part="turn-2"]')
    expect(part.locator("[data-written]")).to_be_hidden()
    page.keyboard.press("r")
    expect(part.locator("[data-written]")).to_be_visible()
    expect(part.locator("[data-shown]")).to_be_hidden()
    assert part.locator("[data-written]").inner_text() == RICH
    (shown,) = page.evaluate("() => [...CSS.highlights.get('evidence')].map(String)")
    assert shown == "night train"
    page.get_by_role("link", name=re.compile("Show as its readers saw it")).click()
    expect(part.locator("[data-shown]")).to_be_visible()
    assert "/items/" in page.url  # it was not followed: a script did it


def test_without_scripts_a_link_shows_the_text_as_it_is_written(rate, page: Page, chromium, live_server) -> None:
    turns = messages({"role": "user", "content": "**Hi**"}, {"role": "assistant", "content": "Yes"})
    rate("dialogue", ["task_completion"], items=1, material={"turns": turns})
    context = chromium.new_context(java_script_enabled=False)
    context.add_cookies(page.context.cookies())
    plain = context.new_page()
    plain.goto(page.url)
    assert plain.locator('[data-part="turn-1"]').inner_text().strip() == "Hi"
    plain.get_by_role("link", name=re.compile("Show as it is written")).click()
    assert plain.locator('[data-part="turn-1"]').inner_text().strip() == "**Hi**"
    context.close()


def test_a_plain_study_shows_no_markup_but_its_pictures(rate, page: Page) -> None:
    stored = services.store_attachment(png(40, 40), name="a.png")
    part = {"kind": "image", "start": 4, "end": 18, "sha256": stored.sha256, "alt": "a square"}
    turns = [
        {"role": "user", "content": "**b**"},
        {"role": "assistant", "content": "Yes.[image: a.png]", "parts": [part]},
    ]
    dialogue = DialogueFactory(turns=turns)
    AttachmentUse.objects.create(attachment=stored, dialogue=dialogue)
    rate("dialogue", ["task_completion"], items=0, content_form="plain")
    assert page.locator('[data-part="turn-1"]').inner_text() == "**b**"
    expect(page.get_by_role("img", name="a square")).to_be_visible()
    assert page.locator("strong:has-text('b')").count() == 0


def test_what_differs_is_shown_in_rendered_responses(rate, page: Page) -> None:
    ResponsePairFactory(response_1="Take the **night** train", response_2="Take the **day** train")
    rate("pair", ["preference"], items=0)
    page.keyboard.press("d")
    assert sorted(page.evaluate("() => [...CSS.highlights.get('difference')].map(String)")) == ["day", "night"]
    page.keyboard.press("r")
    assert sorted(page.evaluate("() => [...CSS.highlights.get('difference')].map(String)")) == ["day", "night"]


def test_nothing_hostile_runs_and_nothing_is_fetched_from_elsewhere(rate, page: Page, live_server, alice_page) -> None:
    asked: list[str] = []

    def note(request: Request) -> None:
        if not request.url.startswith((live_server.url, "data:")):
            asked.append(request.url)

    page.context.on("request", note)
    page.on("dialog", lambda dialog: asked.append(dialog.message))
    picture = {"type": "image_url", "image_url": {"url": "https://evil.example/remote.png"}}
    turns = messages(
        {"role": "system", "content": HOSTILE},
        {"role": "user", "content": [{"type": "text", "text": HOSTILE}, picture]},
        {"role": "assistant", "reasoning": HOSTILE, "content": HOSTILE, "tool_calls": [call(HOSTILE)]},
        {"role": "tool", "name": "<script>window.hacked=1</script>", "content": HOSTILE},
        {
            "role": "assistant",
            "content": HOSTILE,
            "annotations": [{"title": HOSTILE, "url": "javascript:window.hacked=1"}],
        },
    )
    study = rate("dialogue", ["task_completion"], items=1, material={"turns": turns}, instructions=HOSTILE)
    page.wait_for_load_state("networkidle")
    assert_harmless(page, asked)
    page.keyboard.press("r")
    assert_harmless(page, asked)
    alice_page(page, f"/studies/{study.slug}/items/1/")
    assert_harmless(page, asked)
    alice_page(page, f"/dialogues/{Dialogue.objects.get().pk}/")
    assert_harmless(page, asked)


def call(arguments: str) -> dict:
    return {"id": "c", "function": {"name": "f", "arguments": arguments}}


def assert_harmless(page: Page, asked: list[str]) -> None:
    """Nothing ran, nothing was asked of elsewhere, and no address on the page could run."""
    assert page.evaluate("() => window.hacked") is None
    assert asked == []
    links = page.eval_on_selector_all("[data-part] a, .content a", "all => all.map(one => one.href)")
    assert [one for one in links if not one.startswith(("http://", "https://", "mailto:"))] == []
    assert page.locator("[data-part] :is(script, style, iframe, svg, link, meta, object)").count() == 0
    inside = page.eval_on_selector_all("[data-part] *", "all => all.flatMap(one => one.getAttributeNames())")
    assert [name for name in inside if name.startswith("on") or name == "style"] == []


@pytest.fixture
def alice_page(live_server):
    """Goes to an address as alice, a researcher."""
    from django.conf import settings
    from django.test import Client

    from core.accounts.models.users import User

    def go(page: Page, address: str) -> None:
        client = Client()
        client.force_login(User.objects.get(username="alice"))
        session = client.cookies[settings.SESSION_COOKIE_NAME].value
        page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
        assert page.goto(live_server.url + address).ok
        page.wait_for_load_state("networkidle")

    return go


def test_a_drawing_that_got_in_by_hand_runs_nothing(rate, page: Page, live_server, alice_page) -> None:
    """Were a hostile file ever among the attachments, a browser that opens it would run nothing of it."""
    stored = services.store_attachment(png(), name="a.png")
    dialogue = DialogueFactory()
    AttachmentUse.objects.create(attachment=stored, dialogue=dialogue)
    rate("dialogue", ["task_completion"], items=0)
    for data, kind in ((SVG, "image/svg+xml"), (b"<script>document.title='hacked'</script>", "text/html")):
        services.locate(stored.sha256).write_bytes(data)
        type(stored).objects.filter(pk=stored.pk).update(type=kind[:20])
        alice_page(page, f"/attachments/{stored.sha256}/")
        assert page.evaluate("() => window.hacked") is None
        assert page.title() != "hacked"


@pytest.mark.long
def test_all_kinds_of_content_pass_the_accessibility_rules(rate, page: Page) -> None:
    shown, heard = (
        services.store_attachment(png(300, 200), name="a.png"),
        services.store_attachment(wav(), name="a.wav"),
    )
    turns = messages(
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "مرحبا، كم سعر التذكرة؟ **شكرا**"},
        {
            "role": "assistant",
            "reasoning": "A price is asked for.",
            "content": "",
            "tool_calls": [call('{"city": "Oslo"}')],
        },
        {"role": "tool", "name": "f", "content": '{"price": 40}'},
        {"role": "assistant", "content": RICH},
    )
    parts = [
        {"kind": "image", "start": 0, "end": 14, "sha256": shown.sha256, "alt": "a map"},
        {"kind": "audio", "start": 14, "end": 28, "sha256": heard.sha256, "name": "a.wav"},
    ]
    dialogue = DialogueFactory(
        turns=[*turns, {"role": "user", "content": "[image: a.png][audio: a.wav]", "parts": parts}]
    )
    for one in (shown, heard):
        AttachmentUse.objects.create(attachment=one, dialogue=dialogue)
    rate("dialogue", ["task_completion"], items=0, instructions="Read *all* of it:\n\n- first\n- then")
    expect(page.get_by_role("img", name="a map")).to_be_visible()
    assert page.get_by_role("img", name="a map").evaluate("node => node.naturalWidth") == 300
    assert faults_on_screens(page) == {}
