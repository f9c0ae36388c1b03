"""Alice builds a rubric in a real Chromium, sees it beside the form, and tries it out."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Page, expect

from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Study
from annotation.studies.services import studies
from tests.browser.faults import faults_on_screens
from tests.support.answer_types import DIALOGUE, PAIR
from tests.support.factories import ResearcherFactory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.long]


@pytest.fixture
def build(live_server, page: Page) -> Callable[[str, dict], str]:
    """Signs alice in and gives the address of a draft's builder."""

    def start(kind: str, rubric: dict) -> str:
        alice = ResearcherFactory(username="alice")
        study = studies.create(by=alice, name="Draft", kind=kind, rubric=rubric)
        client = Client()
        client.force_login(alice)
        session = client.cookies[settings.SESSION_COOKIE_NAME].value
        page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
        return f"{live_server.url}/studies/{study.slug}/rubric/"

    return start


def test_the_preview_follows_the_form_and_saving_keeps_it(build, page: Page) -> None:
    page.goto(build("dialogue", DIALOGUE) + "?add=ordinal")
    page.locator("#id_question").fill("How kind is it?")
    page.locator("#id_name").fill("Tone")
    page.locator("#id_categories").fill("1 | Rude\n2 | Kind")
    preview = page.locator("#preview")
    expect(preview.locator("#rating-tone")).to_contain_text("How kind is it?")
    expect(preview.locator("#rating-tone .key__label").first).to_have_text("Rude")
    assert "tone" not in [one.key for one in Study.objects.get().asked]
    page.locator("#id_type").select_option("number")
    page.get_by_role("button", name="Show the fields of this type").click()
    assert page.locator("#id_question").input_value() == "How kind is it?"
    page.locator("#id_least").fill("0")
    page.locator("#id_most").fill("10")
    expect(page.locator("#preview #rating-tone")).to_contain_text("from 0 to 10")
    page.get_by_role("button", name="Save the criterion").click()
    expect(page.locator(".messages")).to_contain_text("Added: tone.")
    tone = Study.objects.get().asked[-1]
    assert (tone.key, tone.type, tone.limits) == ("tone", "number", {"least": 0, "most": 10})


def test_the_try_out_is_answered_by_keys_and_stores_nothing(build, page: Page) -> None:
    page.goto(build("pair", PAIR) + "try/")
    for key in ("b", "3", "1", "a", "b", "b", "a"):
        page.keyboard.press(key)
    assert page.locator("[data-criterion][data-active]").get_attribute("id") == "rating-errors.A"
    page.keyboard.press("0")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    told = page.locator("section[aria-labelledby=told]")
    expect(told).to_contain_text("2>1")
    assert not Annotation.objects.exists()


@pytest.mark.parametrize("address", ["", "?edit=errors", "?add=number", "try/"])
@pytest.mark.long
def test_its_pages_keep_the_rules_of_accessibility_on_each_screen(build, page: Page, address: str) -> None:
    page.goto(build("pair", PAIR) + address)
    assert faults_on_screens(page) == {}
