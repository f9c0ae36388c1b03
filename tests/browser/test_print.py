"""What a researcher prints: black on white, without bars and forms, plots whole, links legible."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_every_page import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("site"), pytest.mark.long]

PAPER = 672  # px: A4 with the margins that the style sheet asks for


@pytest.mark.parametrize("address", ["", "results/", "results/agreement/", "report/", "items/1/"])
def test_a_page_prints_in_black_on_white_without_what_is_for_hands(site, page: Page, address: str) -> None:
    sign_in(page, site, "rosa")
    page.emulate_media(media="print", color_scheme="dark")
    page.set_viewport_size({"width": PAPER, "height": 1000})
    page.goto(f"{site.url}/studies/demo-dialogues/{address}")
    for gone in (".bar", ".foot", ".filters", ".form", ".button", ".table__tools"):
        for one in page.locator(gone).all():
            expect(one).to_be_hidden()
    colours = page.evaluate("(({color, backgroundColor}) => [color, backgroundColor])(getComputedStyle(document.body))")
    assert colours[1] == "rgb(255, 255, 255)"
    assert max(int(part) for part in colours[0].strip("rgb()").split(",")) < 60
    wide = page.eval_on_selector_all("main svg", "all => all.map(one => one.getBoundingClientRect().right)")
    assert all(right <= PAPER + 1 for right in wide), wide
    broken = page.eval_on_selector_all("main figure", "all => all.map(one => getComputedStyle(one).breakInside)")
    assert set(broken) <= {"avoid"}
    of_each = "all => all.map(one => getComputedStyle(one).textDecorationLine)"
    lines = page.eval_on_selector_all("main p a:not(.button, nav a)", of_each)
    assert set(lines) <= {"underline"}


def test_folds_are_open_on_paper(site, page: Page) -> None:
    sign_in(page, site, "rosa")
    page.goto(f"{site.url}/studies/demo-dialogues/")
    guideline = page.locator("#criteria details").first.locator("dl")
    expect(guideline).to_be_hidden()
    page.emulate_media(media="print")
    expect(guideline).to_be_visible()
    assert page.pdf(format="A4")[:5] == b"%PDF-"
