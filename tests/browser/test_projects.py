"""Managing a project, choosing one, and an adjudicator's way, in a real Chromium."""

from __future__ import annotations

import os

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Page, expect

from core.accounts.models.projects import Membership, Project
from core.accounts.models.users import User
from core.accounts.services import projects
from tests.browser.faults import faults, screens
from tests.support.factories import (
    AnnotationFactory,
    AssignmentFactory,
    CriterionFactory,
    ItemFactory,
    StudyFactory,
    UserFactory,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.long]


def come_in(page: Page, live_server, user: User) -> None:
    client = Client()
    client.force_login(user)
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])


def look(page: Page, name: str) -> None:
    """Hold the page to the rules of accessibility and to its width; with CONCORD_PICTURES it is drawn as well."""
    for width, _ in screens(page):
        assert faults(page) == [], name
        if folder := os.environ.get("CONCORD_PICTURES"):
            page.screenshot(path=f"{folder}/{name}-{width}.png", full_page=True)


def test_an_owner_adds_changes_and_removes(live_server, page: Page, transactional_db) -> None:
    rosa = User.objects.create(username="rosa", display_name="Rosa", is_researcher=True)
    UserFactory(username="ada")
    second = projects.make(by=None, name="Reading group", owner=rosa)
    come_in(page, live_server, rosa)
    StudyFactory(name="Here", project=second)
    page.goto(f"{live_server.url}/studies/")
    expect(page.get_by_role("row", name="Here")).to_contain_text("Reading group")
    page.get_by_role("link", name="Project Default").click()
    look(page, "projects")
    page.get_by_role("button", name="Work here in Reading group").click()
    expect(page.get_by_role("link", name="Project Reading group")).to_be_visible()
    page.get_by_role("cell", name="Reading group").get_by_role("link").or_(
        page.locator("main").get_by_role("link", name="Reading group")
    ).first.click()
    page.get_by_label("Username").fill("nobody")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_text("There is no account 'nobody'.", exact=True)).to_be_visible()
    look(page, "project-without-that-account")
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Role", exact=True).select_option("adjudicator")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("row", name="ada")).to_be_visible()
    look(page, "project")
    assert Membership.objects.get(user__username="ada").role == "adjudicator"
    page.get_by_role("row", name="ada").get_by_role("button", name="Remove").click()
    expect(page.get_by_text("ada is not in Reading group any more.")).to_be_visible()
    page.get_by_role("row", name="rosa").get_by_role("button", name="Remove").click()
    expect(page.get_by_text("A project keeps an owner")).to_be_visible()
    assert list(second.memberships.values_list("user__username", flat=True)) == ["rosa"]


def test_an_adjudicator_decides_and_sees_nothing_of_judges(live_server, page: Page, transactional_db) -> None:
    criterion = CriterionFactory(name="Personalization", key="personalization", study__state="open")
    item = ItemFactory(study=criterion.study)
    for value in ("1", "4"):
        AnnotationFactory(assignment=AssignmentFactory(item=item, submitted=True), criterion=criterion, value=value)
    ada = UserFactory(username="ada")
    Membership.objects.create(project=Project.objects.get(), user=ada, role="adjudicator")
    come_in(page, live_server, ada)
    page.goto(live_server.url)
    expect(page.get_by_role("heading", name="To decide")).to_be_visible()
    look(page, "to-decide")
    page.get_by_role("link", name=criterion.study.name).click()
    expect(page.get_by_role("heading", name="Disputed items")).to_be_visible()
    look(page, "adjudication")
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
