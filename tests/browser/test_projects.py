"""Managing a project, choosing one, and an adjudicator's way, in a real Chromium."""

from __future__ import annotations

import os

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Page, expect

from annotation.models import Membership, Project, User
from annotation.services import projects
from tests.browser.faults import faults
from tests.factories import (
    AnnotationFactory,
    AssignmentFactory,
    CriterionFactory,
    ItemFactory,
    StudyFactory,
    UserFactory,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WIDTHS = pytest.mark.parametrize("width", [1280, 390])


def come_in(page: Page, live_server, user: User, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    client = Client()
    client.force_login(user)
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])


def picture(page: Page, name: str) -> None:
    if folder := os.environ.get("CONCORD_PICTURES"):
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)


@WIDTHS
def test_an_owner_adds_changes_and_removes(live_server, page: Page, transactional_db, width: int) -> None:
    rosa = User.objects.create(username="rosa", display_name="Rosa", is_researcher=True)
    UserFactory(username="ada")
    second = projects.make(by=None, name="Reading group", owner=rosa)
    come_in(page, live_server, rosa, width)
    StudyFactory(name="Here", project=second)
    page.goto(f"{live_server.url}/studies/")
    expect(page.get_by_role("row", name="Here")).to_contain_text("Reading group")
    page.get_by_role("link", name="Project Default").click()
    assert faults(page) == []
    picture(page, f"projects-{width}")
    page.get_by_role("button", name="Work here in Reading group").click()
    expect(page.get_by_role("link", name="Project Reading group")).to_be_visible()
    page.get_by_role("cell", name="Reading group").get_by_role("link").or_(
        page.locator("main").get_by_role("link", name="Reading group")
    ).first.click()
    page.get_by_label("Username").fill("nobody")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_text("There is no account 'nobody'.", exact=True)).to_be_visible()
    assert faults(page) == []
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Role", exact=True).select_option("adjudicator")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("row", name="ada")).to_be_visible()
    assert faults(page) == []
    picture(page, f"project-{width}")
    assert Membership.objects.get(user__username="ada").role == "adjudicator"
    page.get_by_role("row", name="ada").get_by_role("button", name="Remove").click()
    expect(page.get_by_text("ada is not in Reading group any more.")).to_be_visible()
    page.get_by_role("row", name="rosa").get_by_role("button", name="Remove").click()
    expect(page.get_by_text("A project keeps an owner")).to_be_visible()
    assert list(second.memberships.values_list("user__username", flat=True)) == ["rosa"]


@WIDTHS
def test_an_adjudicator_decides_and_sees_nothing_of_judges(
    live_server, page: Page, transactional_db, width: int
) -> None:
    criterion = CriterionFactory(name="Personalization", key="personalization", study__state="open")
    item = ItemFactory(study=criterion.study)
    for value in ("1", "4"):
        AnnotationFactory(assignment=AssignmentFactory(item=item, submitted=True), criterion=criterion, value=value)
    ada = UserFactory(username="ada")
    Membership.objects.create(project=Project.objects.get(), user=ada, role="adjudicator")
    come_in(page, live_server, ada, width)
    page.goto(live_server.url)
    expect(page.get_by_role("heading", name="To decide")).to_be_visible()
    assert faults(page) == []
    picture(page, f"to-decide-{width}")
    page.get_by_role("link", name=criterion.study.name).click()
    expect(page.get_by_role("heading", name="Disputed items")).to_be_visible()
    assert faults(page) == []
    picture(page, f"adjudication-{width}")
    assert (
        page.locator("main a").evaluate_all("links => links.filter(a => !a.href.includes('/adjudication/')).length")
        == 0
    )
    page.locator("main table a").first.click()
    page.get_by_label("fully").first.check()
    page.get_by_label("Why").or_(page.locator("textarea")).first.fill("It names the place.")
    page.get_by_role("button", name="Decide").click()
    expect(page.get_by_text("is decided: fully")).to_be_visible()
    assert item.adjudications.get().decided_by == ada
