"""Alice chooses a file that the server would refuse: it is named before it is sent, and the server still refuses it."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings as site_settings
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotation.corpus.models import Dialogue
from tests.browser.faults import faults
from tests.support.factories import ResearcherFactory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.long]

MEGABYTE = 1024 * 1024


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """One of a little more than two megabytes, and a small one."""
    large, small = tmp_path / "large & long.jsonl", tmp_path / "small.jsonl"
    large.write_bytes(b"\n" * (2 * MEGABYTE + 1))
    small.write_text('{"id": "d1", "turns": [{"role": "user", "content": "Hello."}]}\n')
    return str(large), str(small)


@pytest.fixture
def alices(live_server, page: Page, settings) -> Page:
    """A site that takes one megabyte, and its page of imports."""
    settings.MAX_UPLOAD_BYTES = MEGABYTE
    client = Client()
    client.force_login(ResearcherFactory(username="alice"))
    session = client.cookies[site_settings.SESSION_COOKIE_NAME].value
    cookie = {"name": site_settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}
    page.context.add_cookies([cookie])
    page.goto(f"{live_server.url}{reverse('import_upload')}?format=dialogues")
    return page


def test_it_is_named_when_it_is_chosen_and_not_sent(alices: Page, files: tuple[str, str]) -> None:
    large, small = files
    sent: list[str] = []
    alices.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    field, told = alices.locator("input[type=file]"), alices.locator("p.field__error")
    field.set_input_files(large)
    expect(told).to_have_text(
        "large & long.jsonl has 2.1 MB. At most 1 MB can be sent here. Nothing was sent. Choose a smaller file, or use "
        "the command on the server."
    )
    expect(field).to_have_attribute("aria-invalid", "true")
    assert told.get_attribute("id") in (field.get_attribute("aria-describedby") or "").split()
    assert faults(alices) == []
    submit = alices.locator("form[enctype] button[type=submit]").first
    submit.click()
    expect(field).to_be_focused()
    expect(told).to_have_count(1)
    assert sent == []
    field.set_input_files(small)
    expect(told).to_have_count(0)
    expect(field).not_to_have_attribute("aria-invalid", "true")
    submit.click()
    expect(alices.get_by_role("heading", name="Import another file")).to_be_visible()
    assert len(sent) == 1
    assert Dialogue.objects.filter(external_id="d1").exists()


def test_the_server_still_refuses_what_comes_without_a_script(alices: Page, files: tuple[str, str]) -> None:
    alices.evaluate("document.querySelector('input[type=file]').removeAttribute('data-most-bytes')")
    alices.locator("input[type=file]").set_input_files(files[0])
    alices.locator("form[enctype] button[type=submit]").first.click()
    expect(alices.get_by_role("heading", name="The upload is too large.")).to_be_visible()
