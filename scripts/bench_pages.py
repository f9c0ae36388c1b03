"""Walk every page of a fresh demo by its links, as rosa: seconds of its first request, clicks, height, words.

Pages are walked once a worker has computed the results, about a minute after the start. Exits 1 if a page takes longer
than half a second at first, is higher than 6,000 px at 1280, or has a table without rows; and if a page of results is
more than two clicks away. Pictures of each page: --pictures FOLDER.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from urllib.parse import urlsplit

from playwright.sync_api import Page
from screenshots import SIZES, browser_page, demo_site, sign_in

SECONDS, HEIGHT, CLICKS = 0.5, 6000, 2
"""Limits: of the first request, of the page at 1280 px, and of the way to a result."""

FILES = re.compile(
    r"\.(csv|jsonl?|toml|ya?ml|parquet|svg|png|pdf|html|latex|bibtex|md|zip)$|^/(admin|logout)/|^/(metrics|api/v1/schema)$"
)
SETTLED = 100
"""Seconds after the start in which a worker computes the results: it looks for changes once a minute."""

RESULTS = re.compile(r"^/studies/[^/]+/(results/.*|tiers/|quality/|report/|gold/)$|^/experiments/\d+/results/$")

MEASURE = """() => ({
    seconds: performance.getEntriesByType("navigation")[0].responseStart / 1000,
    height: document.documentElement.scrollHeight,
    words: (document.querySelector("main")?.innerText.match(/\\S+/g) ?? []).length,
    empty: [...document.querySelectorAll("main table")]
        .filter((one) => one.offsetParent && !one.querySelector("td")).length,
    links: [...document.querySelectorAll("a[href]")].filter((one) => one.checkVisibility()).map((one) => one.href),
})"""


@dataclass(frozen=True)
class Seen:
    """One page: its path, clicks from sign-in, seconds to the first byte, height by width, words, empty tables."""

    path: str
    clicks: int
    seconds: float
    heights: tuple[int, ...]
    words: int
    empty: int

    def list_faults(self) -> Iterator[str]:
        if self.seconds > SECONDS:
            yield f"{self.seconds:.2f} s"
        if self.heights[0] > HEIGHT:
            yield f"{self.heights[0]:,} px"
        if self.empty:
            yield f"{self.empty} tables without rows"
        if RESULTS.match(self.path) and self.clicks > CLICKS:
            yield f"{self.clicks} clicks"


def shape(address: str) -> str:
    """What addresses of the same page have in common: /runs/7/ and /runs/8/ are one, as are all of its queries."""
    return re.sub(r"/demo-(pairs|dialogues)/|/\d+/", "/*/", urlsplit(address).path)


def walk(page: Page, site: str, pictures: Path | None) -> Iterator[Seen]:
    """Open one page of each shape, nearest first."""
    waiting, known = [(f"{site}/", 0)], set()
    while waiting:
        address, clicks = waiting.pop(0)
        address = address.split("#")[0]
        path = urlsplit(address).path
        if not address.startswith(site) or shape(address) in known or FILES.search(path):
            continue
        known.add(shape(address))
        page.set_viewport_size({"width": 1280, "height": SIZES[1280]})
        page.goto(address)
        told = page.evaluate(MEASURE)
        heights = [told["height"]]
        for width, height in SIZES.items():
            page.set_viewport_size({"width": width, "height": height})
            if pictures:
                name = shape(address).strip("/").replace("/", "_").replace("*", "x") or "home"
                page.screenshot(path=pictures / f"{name}-{width}.png", full_page=True)
        heights.append(page.evaluate("document.documentElement.scrollHeight"))
        waiting += [(link, clicks + 1) for link in told["links"]]
        yield Seen(path, clicks, told["seconds"], tuple(heights), told["words"], told["empty"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=Path, help="folder for a picture of each page at 1280 and 390 px")
    given = parser.parse_args()
    if given.pictures:
        given.pictures.mkdir(parents=True, exist_ok=True)
    wrong = 0
    with demo_site() as site, browser_page() as page:
        sign_in(page, site, "rosa")
        sleep(SETTLED)
        print(f"{'clicks':>6} {'seconds':>7} {'1280 px':>8} {'390 px':>8} {'words':>6}  page")
        for seen in walk(page, site, given.pictures):
            faults = ", ".join(seen.list_faults())
            wrong += bool(faults)
            wide, narrow = seen.heights
            print(
                f"{seen.clicks:>6} {seen.seconds:>7.2f} {wide:>8,} {narrow:>8,} {seen.words:>6,}  {seen.path}"
                + (f"   <- {faults}" if faults else ""),
                flush=True,
            )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
