"""Take the pictures of the README and of the guides: a demo in a temporary folder, looked at with a real Chromium.

`make screenshots` writes docs/images/*.png, and the main pages at two widths, light and dark, in docs/images/pages/.
With --site URL it looks at a demo that runs already. Chromium must be installed (Debian: apt-get install chromium).
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from playwright.sync_api import FloatRect, Locator, Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
TUTORIALS = ("tutorial-personalens.md", "tutorial-personafeedback.md")
BLOCK = re.compile(r"```(python|console)\n(.*?)```", re.DOTALL)
PASSWORD = "concord-demo"  # noqa: S105 - the demo's, printed by `make demo`
WIDTH, COLUMN, MARGIN = 1280, 840, 20
"""Pixels: of the window, of the column that text, plots and their legends fill, around a picture."""

SIZES = {1280: 800, 390: 844}
"""Height by width of a window: a desk's and a phone's, in pixels."""

PAGES = {
    "my-work": ("anna", "/work/", ()),
    "rate-dialogue": ("anna", "/work/demo-dialogues/next/", ("y", "3")),
    "rate-pair": ("anna", "/work/demo-pairs/next/", ("a",)),
    "study": ("rosa", "/studies/demo-dialogues/", ()),
    "results": ("rosa", "/studies/demo-dialogues/results/", ()),
}
"""By name: who looks, where, and the keys pressed there."""

QUALITY = 60
"""Of a JPEG, 0 to 100."""

PATIENCE = 120_000
"""Milliseconds that a page may take: the first one loads the code of the site, on a machine that may be busy."""

LATE = 3_000
"""Milliseconds that an answer to a page that was left may take."""

LARGEST = 200_000
"""Bytes of a picture: README pages should stay light."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def demo_site(*tutorials: str) -> Iterator[str]:
    """The address of a fresh demo in which these tutorials were followed; it is ended afterwards."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="concord-screenshots-", ignore_cleanup_errors=True) as folder:
        environment = {
            **os.environ,
            "CONCORD_DATA_DIR": folder,
            "CONCORD_PORT": str(port),
            "DATABASE_URL": "",
            "CELERY_BROKER_URL": "",
        }

        def manage(*args: str) -> None:
            subprocess.run(
                [sys.executable, "manage.py", *args], cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL
            )

        try:
            manage("demo", "--start", "--no-model")
            manage("judge", "Demo pairs", "--judge", "baseline")
            for name in tutorials:
                follow(name, Path(folder), environment)
            yield f"http://127.0.0.1:{port}"
        finally:
            manage("serve", "--stop")


def follow(name: str, folder: Path, environment: dict[str, str]) -> None:
    """Run the blocks of a tutorial whose Python is files that begin with their name."""
    manage = f"{shlex.quote(sys.executable)} {shlex.quote(str(ROOT / 'manage.py'))}"
    environment = {**environment, "PYTHONPATH": str(folder)}
    for kind, block in BLOCK.findall((ROOT / "docs" / name).read_text(encoding="utf-8")):
        command = ["bash", "-ec", block.replace("python manage.py", manage)]
        if kind == "python":
            path = folder / block.split()[1]
            path.write_text(block, encoding="utf-8")
            command = [sys.executable, path.name]
        subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)


@contextmanager
def browser_page(height: int = 800) -> Iterator[Page]:
    executable = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if executable is None:
        sys.exit("screenshots: no Chromium on this machine (Debian: apt-get install chromium)")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=flags)
        page = browser.new_page(viewport={"width": WIDTH, "height": height}, reduced_motion="reduce")
        page.set_default_timeout(PATIENCE)
        yield page
        browser.close()


def sign_in(page: Page, site: str, name: str) -> None:
    page.goto("about:blank")
    page.wait_for_timeout(LATE)  # what the last page still has under way comes back with cookies of its own
    page.context.clear_cookies()
    page.goto(f"{site}/login/")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def shoot(page: Page, name: str, *, first: Locator | None = None, last: Locator | None = None) -> None:
    """What is seen of the page, or the text column from one element to another."""
    path = IMAGES / f"{name}.png"
    if first and last:
        page.set_viewport_size({"width": COLUMN, "height": SIZES[WIDTH]})  # what is wider than the column wraps
        page.screenshot(path=path, full_page=True, clip=column(first, last))
        page.set_viewport_size({"width": WIDTH, "height": SIZES[WIDTH]})
    else:
        page.screenshot(path=path)
    size = path.stat().st_size
    print(f"{path.relative_to(ROOT)}: {size / 1000:.0f} kB")
    if size > LARGEST:
        sys.exit(f"screenshots: {path.name} is larger than {LARGEST / 1000:.0f} kB; crop it")


def column(first: Locator, last: Locator) -> FloatRect:
    """The text column from the top of one element to the bottom of another, with a margin."""
    top, bottom = first.bounding_box(), last.bounding_box()
    if not (top and bottom):
        sys.exit("screenshots: what frames a picture is not on its page")
    y = top["y"] - MARGIN
    return {"x": 0, "y": y, "width": COLUMN, "height": bottom["y"] + bottom["height"] + MARGIN - y}


def press(page: Page, keys: tuple[str, ...]) -> None:
    """Press keys of the rating page and wait until what they say is saved."""
    for key in keys:
        page.keyboard.press(key)
    if keys:
        expect(page.locator("[data-saved]")).to_have_text("Saved")


def rate_dialogue(page: Page, site: str) -> None:
    """Two criteria answered, so that the keys and the active criterion are seen."""
    sign_in(page, site, "anna")
    page.goto(f"{site}/work/demo-dialogues/next/")
    press(page, ("y", "3"))
    shoot(page, "rate-dialogue")


def results(page: Page, site: str) -> None:
    """The sentence, who rated, and the verdicts."""
    sign_in(page, site, "rosa")
    page.goto(f"{site}/studies/demo-dialogues/results/")
    shoot(page, "results")


def tiers(page: Page, site: str) -> None:
    """How many items of each tier there are, and their share on each criterion."""
    sign_in(page, site, "rosa")
    page.goto(f"{site}/studies/demo-dialogues/tiers/?criterion=personalization")
    main = page.locator("main")
    shoot(page, "tiers", first=main.locator("p.text").first, last=main.locator("figure").first)


def experiment(page: Page, site: str) -> None:
    """The tables of a tutorial's experiment."""
    sign_in(page, site, "rosa")
    page.goto(f"{site}/experiments/1/results/")
    shoot(page, "experiment")


def leaderboard(page: Page, site: str) -> None:
    """The accuracy of a tutorial's judges."""
    sign_in(page, site, "rosa")
    page.goto(f"{site}/evaluations/1/results/")
    shoot(page, "leaderboard")


def main_pages(page: Page, site: str) -> None:
    """Each main page at both widths, light and dark."""
    folder = IMAGES / "pages"
    folder.mkdir(exist_ok=True)
    total = 0
    for name, (who, address, keys) in PAGES.items():
        sign_in(page, site, who)
        for width, height in SIZES.items():
            page.set_viewport_size({"width": width, "height": height})
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
                page.goto(site + address)
                press(page, keys)
                path = folder / f"{name}-{width}-{scheme}.jpg"
                page.screenshot(path=path, type="jpeg", quality=QUALITY)
                total += path.stat().st_size
    print(f"{folder.relative_to(ROOT)}: {len(PAGES) * 4} pictures, {total / 1000:.0f} kB")


def main() -> None:
    expect.set_options(timeout=PATIENCE)
    parser = argparse.ArgumentParser(description="Take the pictures of the README and of the guides.")
    parser.add_argument("--site", help="address of a demo that runs already, with nothing rated in it by anna")
    given = parser.parse_args()
    IMAGES.mkdir(parents=True, exist_ok=True)
    with nullcontext(given.site) if given.site else demo_site() as site, browser_page() as page:
        for take in (rate_dialogue, results, tiers, main_pages):
            take(page, site)
    if not given.site:
        with demo_site(*TUTORIALS) as site, browser_page() as page:
            experiment(page, site)
            leaderboard(page, site)


if __name__ == "__main__":
    main()
