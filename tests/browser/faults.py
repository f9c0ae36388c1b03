"""What is wrong with a page as it stands there, and on each screen."""

from __future__ import annotations

from collections.abc import Iterator

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

AXE = Axe()
# Of rules that are kept, axe need not look for every place, and nothing of them need come here. No rule that is on by
# default reads the style sheets, which axe would fetch anew for each page.
ALIKE = "[['tbody tr:nth-child(n+8):not(:last-child)'], ['li:nth-child(n+8):not(:last-child)']]"
"""Rows of tables and lists after the seventh, but for the last: a third of axe's time."""
VIOLATIONS = f"""axe.run({{include: [document], exclude: {ALIKE}}}, {{resultTypes: ['violations'], preload: false}})
                 .then(found => found.violations)"""
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
SCREENS = ((390, "dark"), (1280, "light"))
"""A phone in the dark, then a desk by day: every width and scheme is seen once. A page is loaded once for both."""
ZOOMED = (320, 640)
"""Pixels of a window of 1280 at 400 % and at 200 %, where nothing may go sideways (WCAG 2.2, 1.4.10)."""


def faults(page: Page) -> list[str]:
    """The rules of accessibility that it breaks, each with a first place, and by how much it goes sideways."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.axe_script)
    broken = page.evaluate(VIOLATIONS)
    wide = page.evaluate(TOO_WIDE)
    found = [f"{one['id']}: {one['nodes'][0]['target']}" for one in broken]
    return [*found, *([f"{wide} px too wide"] if wide > 0 else [])]


def find_overflow(page: Page) -> dict[str, list[str]]:
    """By how much the page goes sideways where it is zoomed in."""
    found = {}
    for width in ZOOMED:
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate("new Promise(requestAnimationFrame)")
        if (wide := page.evaluate(TOO_WIDE)) > 0:
            found[f"{width} px"] = [f"{wide} px too wide"]
    return found


def screens(page: Page) -> Iterator[tuple[int, str]]:
    """Show the page on one screen after the other; width and scheme of each. It stays on the last.

    Without motion, as colours would be on their way for a moment; scripts hear of a new width in the next frame.
    """
    for width, scheme in SCREENS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.evaluate("new Promise(requestAnimationFrame)")
        yield width, scheme


def faults_on_screens(page: Page) -> dict[str, list[str]]:
    """By screen, what is wrong there; empty where nothing is."""
    found = find_overflow(page) | {f"{width} {scheme}": faults(page) for width, scheme in screens(page)}
    return {screen: wrong for screen, wrong in found.items() if wrong}
