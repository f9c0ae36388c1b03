"""The whole loop as people walk it, on the demo: real Chromium, real gunicorn, real worker, nothing in between."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, expect

from config.demo import PASSWORD
from tests.browser.waiting import saved
from tests.db.config.test_privacy import open_below

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("site"), pytest.mark.long]
DIALOGUE_KEYS = ("y", "3", "4", "4", "5", "4")


def sign_in(page: Page, site, name: str) -> None:
    page.goto(f"{site.url}/login/")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def labels_of(site, study: str, rater: str) -> list[dict]:
    out = site.data / "labels.jsonl"
    exported = site.manage("export", "--study", study, "--format", "jsonl", "-o", str(out))
    assert exported.returncode == 0, exported.stderr
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["rater"] == rater]


def test_people_rate_a_judge_runs_and_a_researcher_reads_agreement(site, page: Page) -> None:
    sign_in(page, site, "anna")
    page.get_by_role("link", name="Rate the first item").or_(
        page.get_by_role("button", name="Rate the first item")
    ).first.click()
    expect(page.locator("[data-criterion]")).to_have_count(6)
    page.wait_for_load_state()  # the scripts that hear keys
    for key in DIALOGUE_KEYS:
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    expect(page.locator(".rate__head .number")).to_have_text("2 / 84")
    saved(page)
    given = {row["criterion"]: row["value"] for row in labels_of(site, "Demo dialogues", "anna")}
    assert given == {
        "task_completion": "yes",
        "personalization": "3",
        "naturalness_user": "4",
        "naturalness_assistant": "4",
        "coherence_user": "5",
        "coherence_assistant": "4",
    }

    page.goto(f"{site.url}/work/demo-pairs/next/")
    page.keyboard.press("a")
    page.keyboard.press("Enter")
    expect(page.locator(".rate__head .number")).to_have_text("2 / 84")
    saved(page)
    (pair,) = labels_of(site, "Demo pairs", "anna")
    assert pair["value"] == {"AB": "1", "BA": "2"}[pair["order"]]
    page.get_by_role("button", name="Sign out").click()

    sign_in(page, site, "rosa")
    page.goto(f"{site.url}/studies/demo-pairs/judges/")
    judge = page.get_by_label("Judge", exact=True)
    judge.select_option(judge.locator("option", has_text="baseline").get_attribute("value"))
    page.get_by_role("button", name="Start the judge").click()
    expect(page.locator("#run-progress")).to_contain_text("84", timeout=60_000)
    expect(page.get_by_text(re.compile(r"\bfinished\b")).first).to_be_visible(timeout=60_000)

    page.goto(f"{site.url}/studies/demo-pairs/results/")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Results")
    expect(page.get_by_text("baseline").first).to_be_visible()
    answer = page.request.get(f"{site.url}/studies/demo-pairs/agreement.json")
    document = answer.json()
    assert answer.ok
    assert -1 <= document["coefficients"]["fleiss_kappa"]["value"] <= 1
    assert document["judges"]["baseline"]["mean_cohen_kappa"]["value"] is not None


def test_the_study_of_dialogues_already_has_its_judge(site, page: Page) -> None:
    sign_in(page, site, "rosa")
    page.goto(f"{site.url}/studies/demo-dialogues/results/")
    for text in ("Personalization", "simulated", "baseline"):
        expect(page.get_by_text(text).first).to_be_visible()


def test_annotators_do_not_reach_the_researchers_pages(site, page: Page) -> None:
    sign_in(page, site, "ben")
    for path in ("/material/", "/studies/", "/judges/", "/studies/demo-dialogues/results/"):
        answer = page.goto(site.url + path)
        assert answer is not None
        assert answer.status == 403, path


def test_a_second_start_finds_everything_there(site) -> None:
    again = site.manage("demo", "--start", "--no-model")
    assert again.returncode == 0, again.stderr
    assert site.url in again.stdout


def test_no_file_of_the_running_site_can_be_read_by_other_accounts(site) -> None:
    assert {"broker", "cache", "concord.sqlite3-wal", "logs", "static"} <= {path.name for path in site.data.iterdir()}
    assert open_below(site.data) == []
