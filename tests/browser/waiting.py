"""What a browser test waits for. A wait for a length of time is a test that fails on a slow day."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect


def saved(page: Page) -> None:
    """The item before is saved: told on this page, or, where the next was not fetched yet, by the page that came."""
    expect(page.locator("[data-saved]")).to_have_text(re.compile(r"^\s*(Saved|Last item saved now)\s*$"))


def next_ready(page: Page) -> None:
    """The next item has been fetched ahead."""
    expect(page.locator("form[data-next-ready]")).to_be_attached()
