"""Every page of the demo, walked by its links: none fails, overflows, or breaks a rule of accessibility."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from config.demo import PASSWORD
from tests.browser.faults import faults_on_screens

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("site"), pytest.mark.long]
FILES = r"\.(csv|jsonl?|toml|ya?ml|parquet|svg|png|pdf|html|latex|bibtex|md|zip)$"
NOT_PAGES = re.compile(FILES + r"|^/(admin|logout)/|^/(metrics|api/v1/schema)$")


def sign_in(page: Page, site, name: str) -> None:
    page.goto(f"{site.url}/login/")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def shape(address: str) -> str:
    """What addresses of the same page have in common: /runs/7/ and /runs/8/ are one, as are all of its queries."""
    return re.sub(r"/demo-(pairs|dialogues)/|/\d+/", "/*/", urlsplit(address).path)


def pages(page: Page, site, *starts: str) -> Iterator[str]:
    """Address and page of one of each shape that is reached by links from the starts."""
    known, waiting = set(), [site.url + start for start in starts]
    while waiting:
        address = waiting.pop(0).split("#")[0]
        if not address.startswith(site.url) or shape(address) in known or NOT_PAGES.search(urlsplit(address).path):
            continue
        known.add(shape(address))
        answer = page.goto(address)
        assert answer
        assert answer.status == 200, address
        waiting += page.eval_on_selector_all("a[href]", "links => links.map(link => link.href)")
        yield address


@pytest.mark.timeout(900)  # some sixty pages, each read by axe on two screens
@pytest.mark.parametrize(
    ("name", "starts", "least"), [("rosa", ["/", "/gallery/"], 20), ("anna", ["/", "/work/demo-pairs/next/"], 4)]
)
def test_no_page_is_at_fault(site, page: Page, name, starts, least) -> None:
    refused: list[str] = []  # by the policy that lets only files of the site run
    page.on("console", lambda line: refused.append(line.text) if "Content Security Policy" in line.text else None)
    sign_in(page, site, name)
    found = {}
    for address in pages(page, site, *starts):
        page.keyboard.press("Tab")
        assert page.locator(":focus").get_attribute("href") == "#main", address  # the first key skips the frame
        found[address] = faults_on_screens(page)
    assert len(found) >= least, list(found)
    assert {address: wrong for address, wrong in found.items() if wrong} == {}
    assert refused == []
