"""A guideline is edited while bob rates: the page that shows the new text says what changed."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from annotation.studies.models.labels import Annotation
from annotation.studies.services import guidelines
from tests.browser.faults import faults_on_screens
from tests.browser.waiting import next_ready, saved

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.long]


def test_the_label_says_what_was_shown_and_the_news_comes_with_the_new_text(rate, page: Page) -> None:
    study = rate("dialogue", ["personalization"], items=4)
    next_ready(page)
    criterion = study.criteria.get()
    guidelines.edit(by=None, criterion=criterion, guideline="Look twice.", reason="Once is not enough.")
    page.keyboard.press("3")
    page.keyboard.press("Enter")  # shown is the item that was fetched before, still with the old text
    expect(page.locator(".rate__head .number")).to_have_text("2 / 4")
    saved(page)
    next_ready(page)
    expect(page.locator("[data-news]")).to_have_count(0)
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    news = page.locator("[data-news]")
    expect(news).to_contain_text("The guideline of Personalization has changed")
    expect(news).to_contain_text("Once is not enough.")
    assert news.locator("ins").count() > 0
    assert faults_on_screens(page) == {}
    next_ready(page)
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.locator(".rate__head .number")).to_have_text("4 / 4")
    expect(news).to_have_count(0)
    saved(page)
    labels = Annotation.objects.order_by("assignment__submitted_at", "pk").values_list("value", "guideline_version")
    assert list(labels) == [("3", 1), ("2", 1), ("1", 2)]
