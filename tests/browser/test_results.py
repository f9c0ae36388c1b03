"""Alice reads results in a real Chromium, at her desk and on her phone, in light and in dark."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Page, expect

from core.accounts.models.users import User
from judging.judges.models import Judge
from tests.browser.faults import faults_on_screens, screens
from tests.support.factories import CriterionFactory, ResearcherFactory
from tests.support.labelled import judge_says, people_say, with_items

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.long]

ADDRESSES = [
    "studies/suits/results/",
    "studies/suits/tiers/",
    "studies/suits/tiers/?mode=counted",
    "studies/suits/items/?criterion=preference",
    "studies/suits/items/2/",
    "studies/suits/results/agreement/",
    "studies/suits/results/judges/",
]
LEGIBLE = 11
"""Pixels that the smallest text of a chart may have on the screen."""


@pytest.fixture
def alice(live_server, page: Page, transactional_db: None) -> Page:
    """Alice's browser, signed in, beside a study of two criteria."""
    study = with_items(24, kind="pair", name="Suits", slug="suits")
    for key, values in (("preference", ["1", "2", "tie"]), ("depth", ["1", "2", "3"])):
        criterion = CriterionFactory(study=study, key=key, name=key.title(), preference=key == "preference")
        truth = values * 8
        people_say(criterion, {"bob": truth, "dana": [*truth[:15], *values[::-1] * 3]})
        judge_says(criterion, f"a-judge-with-a-long-name-on-{key}", [values[0], *truth[:23]])
    User.objects.filter(username="dana").update(kind="simulated")
    client = Client()
    client.force_login(ResearcherFactory(username="alice"))
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
    return page


@pytest.mark.long
def test_pages_fit_pass_the_accessibility_rules_and_have_legible_charts(live_server, alice: Page) -> None:
    judge = Judge.objects.order_by("pk").first()
    of_judge = f"studies/suits/results/{judge.pk}/"
    with_charts = [*ADDRESSES[:2], f"{of_judge}preference/"]
    for address in (*ADDRESSES, of_judge, with_charts[-1]):
        alice.goto(f"{live_server.url}/{address}")
        assert faults_on_screens(alice) == {}, address
        if address in with_charts:
            assert min(smallest_text(alice)) >= LEGIBLE, address


def smallest_text(page: Page) -> list[float]:
    """On each screen, how high the smallest text in a chart is. ValueError where there is none."""
    heights = "all => all.map(one => one.getBoundingClientRect().height).filter(height => height)"
    return [min(page.eval_on_selector_all(".figure__plot text", heights)) for _ in screens(page)]


def test_from_a_count_to_its_items_to_one_of_them_and_on(live_server, alice: Page) -> None:
    alice.goto(f"{live_server.url}/{ADDRESSES[-2]}")
    fold = alice.locator("details", has=alice.locator("#preference"))
    if fold.get_attribute("open") is None:
        fold.locator("summary").first.click()
    counts = [int(text) for text in alice.locator("#preference .heat a").all_inner_texts()]
    n = max(counts)
    assert n >= 2
    alice.locator("#preference .heat a").nth(counts.index(n)).click()
    expect(alice.locator("tbody tr")).to_have_count(n)
    alice.locator("tbody tr a").first.click()
    expect(alice.get_by_text(f"1 of {n} in this selection")).to_be_visible()
    alice.get_by_role("link", name="Next").click()
    expect(alice.get_by_text(f"2 of {n} in this selection")).to_be_visible()
    alice.get_by_role("link", name="Back to the list").click()
    expect(alice.locator("tbody tr")).to_have_count(n)


def test_on_a_phone_the_matrix_is_read_downwards(live_server, alice: Page) -> None:
    alice.set_viewport_size({"width": 320, "height": 700})
    alice.goto(f"{live_server.url}/studies/suits/results/")
    frame = alice.locator(".table--stacked .table__scroll").first
    assert frame.evaluate("one => one.scrollWidth - one.clientWidth") <= 0
    first = frame.locator("td[data-column]").first
    assert first.evaluate("one => getComputedStyle(one, '::before').content") == '"Inter-annotator agreement"'
    assert len({cell.bounding_box()["x"] for cell in frame.locator("tbody tr").first.locator("td").all()}) == 1
    plot = alice.locator(".figure__plot").first
    assert plot.evaluate("one => one.scrollWidth - one.clientWidth") <= 0
    expect(plot.locator(".figure__narrow").get_by_text("a-judge-with-a-long-name").first).to_be_visible()
    expect(plot.locator(".figure__wide")).to_be_hidden()


def test_on_a_phone_long_names_of_columns_stand_beside_their_cells(live_server, alice: Page) -> None:
    alice.set_viewport_size({"width": 390, "height": 844})
    judge = Judge.objects.order_by("pk").first()
    alice.goto(f"{live_server.url}/studies/suits/results/{judge.pk}/preference/")
    cells = alice.locator(".table--stacked td[data-column]")
    assert cells.count() > 3
    for cell in cells.all():
        assert cell.evaluate("one => getComputedStyle(one).display") == "flow-root", "as high as the name beside it"
        assert cell.evaluate("one => getComputedStyle(one, '::before').whiteSpace") == "normal"


def test_cut_offs_are_previewed_and_then_used_without_a_script(live_server, alice: Page) -> None:
    context = alice.context.browser.new_context(java_script_enabled=False, storage_state=alice.context.storage_state())
    page = context.new_page()
    page.goto(f"{live_server.url}/studies/suits/tiers/?criterion=preference")
    field = page.get_by_label("Probability that two people agree")
    field.fill("0.9,0.8,0.7")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("alert")).to_contain_text("three ascending numbers")
    expect(field).to_have_value("0.9,0.8,0.7")
    field.fill("0.3,0.4,0.5")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("table", name="Expected per tier")).to_be_visible()
    page.get_by_role("link", name="Use these").click()
    expect(field).to_have_value("0.3,0.4,0.5")
    expect(page.get_by_text("above 0.5 on an easy item")).to_be_visible()
    context.close()
