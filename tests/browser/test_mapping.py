"""Alice brings a messy file, at a desk and on a phone: she sees its rows, mends one column and imports it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.conf import settings as site_settings
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotation.corpus.models import Dialogue, ResponsePair
from tests.browser.faults import faults, screens
from tests.support import messy_files
from tests.support.factories import DialogueFactory, ResearcherFactory
from tests.support.format_samples import LANGFUSE

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.long]


@pytest.fixture
def alices(live_server, page: Page) -> Page:
    client = Client()
    client.force_login(ResearcherFactory(username="alice"))
    session = client.cookies[site_settings.SESSION_COOKIE_NAME].value
    cookie = {"name": site_settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}
    page.context.add_cookies([cookie])
    page.goto(f"{live_server.url}{reverse('import_table')}")
    return page


@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.long)])
def test_a_file_of_semicolons_becomes_pairs(alices: Page, tmp_path: Path, width: int) -> None:
    alices.set_viewport_size({"width": width, "height": 900})
    assert faults(alices) == []
    name, content = messy_files.semicolons()
    (tmp_path / name).write_bytes(content)
    alices.screenshot(path=tmp_path / "choose.png", full_page=True)
    alices.get_by_label("File").set_input_files(tmp_path / name)
    alices.get_by_role("button", name="Look at the file").click()
    expect(alices.get_by_role("heading", level=1)).to_have_text(f"Map the columns of {name}")
    expect(alices.get_by_text("2 records can be imported from 2 rows.")).to_be_visible()
    assert faults(alices) == []
    for fold in alices.locator("details.fold").all():
        fold.locator("summary").click()
    assert faults(alices) == []
    alices.screenshot(path=tmp_path / "mapping.png", full_page=True)
    alices.get_by_label("Context", exact=True).select_option("Frage")
    alices.get_by_role("button", name="Import", exact=True).click()
    expect(alices.get_by_text("Question and context both name the column 'Frage'").first).to_be_visible()
    assert faults(alices) == []
    alices.screenshot(path=tmp_path / "refused.png", full_page=True)
    alices.get_by_label("Context", exact=True).select_option("")
    alices.get_by_role("button", name="Import", exact=True).click()
    expect(alices.get_by_text("Imported.", exact=True)).to_be_visible()
    assert faults(alices) == []
    alices.screenshot(path=tmp_path / "imported.png", full_page=True)
    assert ResponsePair.objects.count() == 2


def test_duplicates_and_blanks_are_shown_before_anything_is_imported(alices: Page, tmp_path: Path) -> None:
    name, content = messy_files.duplicate_ids()
    (tmp_path / name).write_bytes(content)
    alices.get_by_label("File").set_input_files(tmp_path / name)
    alices.get_by_role("button", name="Look at the file").click()
    expect(alices.get_by_text("4 records can be imported from 6 rows; 1 row cannot be used.")).to_be_visible()
    expect(alices.get_by_role("row", name="5 id the id 'b' is on line 4 already")).to_be_visible()
    for width, scheme in screens(alices):
        assert faults(alices) == []
        alices.screenshot(path=tmp_path / f"duplicates-{width}-{scheme}.png", full_page=True)


def test_a_sample_of_traces_is_drawn(alices: Page, tmp_path: Path) -> None:
    rows = ({**LANGFUSE, "id": f"t{k}", "scores": [{"name": "user-feedback", "value": k % 2}]} for k in range(60))
    (tmp_path / "traces.jsonl").write_text("\n".join(map(json.dumps, rows)))
    alices.get_by_label("File").set_input_files(tmp_path / "traces.jsonl")
    alices.get_by_role("button", name="Look at the file").click()
    expect(alices.get_by_label("What the rows are")).to_have_value("format:langfuse")
    alices.get_by_text("Draw a sample").click()
    alices.get_by_label("Column of rule 1").select_option("scores.user-feedback")
    alices.get_by_label("Relation of rule 1").select_option("is a thumbs down")
    alices.get_by_label("Share kept of all other rows (%)").fill("10")
    alices.get_by_role("button", name="Check").click()
    expect(alices.get_by_text("Kept 30 of 30 rows where scores.user-feedback is a thumbs down.")).to_be_visible()
    for width, scheme in screens(alices):
        assert faults(alices) == []
        alices.screenshot(path=tmp_path / f"traces-{width}-{scheme}.png", full_page=True)
    alices.get_by_role("button", name="Import", exact=True).click()
    expect(alices.get_by_text("Imported.", exact=True)).to_be_visible()
    assert set(Dialogue.objects.values_list("inclusion_probability", flat=True)) == {1.0, 0.1}


def test_a_wide_table_of_labels_is_mapped_by_its_raters(alices: Page, tmp_path: Path) -> None:
    for number in (1, 2):
        DialogueFactory(external_id=f"d{number}")
    (tmp_path / "wide.csv").write_text("dialogue,anna,ben\nd1,4,5\nd2,,3\n")
    alices.get_by_label("File").set_input_files(tmp_path / "wide.csv")
    alices.get_by_role("button", name="Look at the file").click()
    alices.get_by_label("What the rows are").select_option("People's labels")
    alices.get_by_role("button", name="Check").click()
    expect(alices.get_by_text("If each rater has a column, choose these columns as raters.").first).to_be_visible()
    for name in ("anna", "ben"):
        alices.get_by_role("checkbox", name=name).check()
    alices.get_by_text("Further fields").click()
    alices.get_by_label("Criterion of all rows").fill("naturalness_assistant")
    alices.get_by_label("Study").fill("Pilot")
    alices.get_by_role("button", name="Check").click()
    expect(alices.get_by_text("3 labels can be imported from 2 rows.")).to_be_visible()
    for width, scheme in screens(alices):
        assert faults(alices) == []
        alices.screenshot(path=tmp_path / f"wide-{width}-{scheme}.png", full_page=True)
    alices.get_by_role("button", name="Import", exact=True).click()
    expect(alices.get_by_text("Imported.", exact=True)).to_be_visible()
