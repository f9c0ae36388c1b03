"""Pages of a study of some size show what a worker computed last, and what was done to the study since."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Criterion, Study
from judging.assessment.models.rules import VerdictRules
from judging.assessment.queries.certificates import find_newest
from judging.assessment.services import predicted_difficulty, refresh, report, rules, stored_pages
from judging.assessment.services.agreement import StudyRatings
from judging.judges.models import Judge
from tests.support.factories import CriterionFactory, ResearcherFactory
from tests.support.labelled import judge_says, people_say, with_items
from tests.support.shared_rows import share_rows

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

N = 60
TONE = ["1", "2", "3", "4", "2", "3"] * 10
PAGES = ("report", "tiers_predicted", "agreement")
REFRESHED = "A worker computes it again once labels or judgments have come or the study has changed."


@pytest.fixture(scope="module")
def made(django_db_setup: None, django_db_blocker: Any) -> Iterator[int]:
    """One criterion, two people and a judge."""

    def make() -> int:
        tone = CriterionFactory(study=with_items(N, name="Suits", slug="suits"), key="tone", name="Tone")
        people_say(tone, {"bob": TONE, "dana": [*TONE[:50], *["1"] * 10]})
        judge_says(tone, "good", TONE)
        refresh.compute_study(tone.study)
        return tone.study.pk

    yield from share_rows(django_db_blocker, make)


@pytest.fixture
def study(made: int) -> Study:
    return Study.objects.get(pk=made)


@pytest.fixture
def alice(client: Client, study: Study, monkeypatch: pytest.MonkeyPatch) -> Client:
    """She opens pages after a worker has computed them."""
    monkeypatch.setattr(stored_pages, "AT_ONCE", 1)
    refresh.compute_study(study)
    client.force_login(ResearcherFactory(username="alice"))
    return client


def read(client: Client, page: str, **query: str) -> str:
    answer = client.get(reverse(page, args=["suits"]), query).content.decode()
    return re.sub(r"\s+", " ", re.sub(r"<style.*?</style>|<[^>]+>", " ", answer, flags=re.DOTALL))


def refuse(*_: object, **__: object) -> None:
    raise AssertionError("the page reads the labels")


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES)
def test_what_a_worker_computed_is_shown_with_its_age_and_no_label_is_read(
    alice: Client, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StudyRatings, "read", refuse)
    monkeypatch.setattr(StudyRatings, "from_options", refuse)
    monkeypatch.setattr(predicted_difficulty, "compute_criterion", refuse)
    shown = read(alice, page)
    assert re.search(r"Computed 0 minutes ago, [^.]{16,30}\. " + re.escape(REFRESHED), shown)
    with pytest.raises(AssertionError, match="reads the labels"):
        read(alice, page, whole="1")


@pytest.mark.long
def test_a_page_of_few_labels_is_computed_when_it_is_opened(alice: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_pages, "AT_ONCE", 10_000)
    assert all(REFRESHED not in read(alice, page) for page in PAGES)
    monkeypatch.setattr(report, "compute_page", refuse)
    with pytest.raises(AssertionError, match="reads the labels"):
        read(alice, "report")


@pytest.mark.long
def test_a_later_label_is_in_it_once_somebody_insists(alice: Client, study: Study) -> None:
    def count_ratings() -> int:
        return int(alice.get(reverse("report", args=["suits"])).context["report"]["people"]["tone"]["n_ratings"])

    before = count_ratings()
    label = Annotation.objects.filter(assignment__study=study, assignment__annotator__username="bob").earliest("pk")
    Annotation.objects.filter(pk=label.pk).delete()
    assert count_ratings() == before
    read(alice, "report", whole="1")
    assert count_ratings() == before - 1


@pytest.mark.long
def test_what_is_done_to_the_study_is_in_it_at_once(alice: Client, study: Study) -> None:
    there = rules.load(study)
    assert "A larger sample." not in read(alice, "report")
    changed = replace(there.rules, least_items=77)
    rules.set_rules(by=None, study=study, rules=changed, success=there.success, reason="A larger sample.")
    assert "A larger sample." in read(alice, "report")


@pytest.mark.long
def test_what_is_done_while_a_page_is_computed_is_in_it_next_time(
    alice: Client, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, compute = rules.load(study), report.compute_page

    def meanwhile(**given: Any) -> Any:
        page = compute(**given)
        changed = replace(there.rules, least_items=77)
        rules.set_rules(by=None, study=study, rules=changed, success=there.success, reason="Meanwhile.")
        return page

    monkeypatch.setattr(report, "compute_page", meanwhile)
    read(alice, "report", whole="1")
    monkeypatch.setattr(report, "compute_page", compute)
    report_now = alice.get(reverse("report", args=["suits"])).context["report"]
    assert [one["rules"]["least_items"] for one in report_now["judges"].values()] == [77]


@pytest.mark.long
def test_the_first_look_locks_the_rules(alice: Client, study: Study) -> None:
    assert not VerdictRules.objects.filter(study=study).exists(), "a worker looks at nothing"
    page = alice.get(reverse("report", args=["suits"]))
    (locked,) = VerdictRules.objects.filter(study=study)
    assert page.context["report"]["rules_on_record"]["sha256"] == locked.sha256


@pytest.mark.long
def test_a_certificate_is_in_it_at_once(alice: Client, study: Study) -> None:
    alice.post(reverse("certificate_issue", args=["suits", Judge.objects.get().pk]))
    assert find_newest(study, Judge.objects.get()).sha256[:16] in read(alice, "report")


@pytest.mark.long
def test_each_criterion_has_a_page_of_its_own(alice: Client, study: Study) -> None:
    done = CriterionFactory(study=study, key="done", name="Done", yes_no=True, position=2)
    assert "Difficulty" in read(alice, "tiers_predicted")
    shown = alice.get(reverse("tiers_predicted", args=["suits"]), {"criterion": done.key})
    assert shown.context["found"]["criterion"] == done.key
    assert Criterion.objects.filter(study=study).count() == 2
