"""What is wrong with a page as it stands there."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

AXE = Axe()
ONLY = {"resultTypes": ["violations"]}  # of rules that are kept, axe need not look for every place
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def faults(page: Page) -> list[str]:
    """The rules of accessibility that it breaks, each with a first place, and by how much it goes sideways."""
    broken = AXE.run(page, options=ONLY).response["violations"]
    wide = page.evaluate(TOO_WIDE)
    found = [f"{one['id']}: {one['nodes'][0]['target']}" for one in broken]
    return [*found, *([f"{wide} px too wide"] if wide > 0 else [])]
