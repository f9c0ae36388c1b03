"""A worker computes results once labels or judgments have come, and locks no rule by it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from annotation.studies.models.labels import AgreementRun, Annotation
from annotation.studies.models.studies import Study
from annotation.workbench.services import annotations, exclusions
from config.broker import FileCache
from core import row_counts
from core.audit import log
from core.jobs.waiting import alone
from judging.assessment.models.assessment import AuditRun, CalibrationRun
from judging.assessment.services import refresh, rules
from judging.assessment.services.refresh import read_changes
from judging.tasks import refresh_results
from tests.db.judging.assessment.services.judged import study
from tests.support.factories import CriterionFactory, ResearcherFactory
from tests.support.labelled import judge_says, people_say, with_items

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


@pytest.fixture(autouse=True)
def nothing_seen() -> None:
    """As after a start of the site: on SQLite the studies of all tests have the same few numbers."""
    cache.delete_many(["results-swept", refresh.make_seen_key(), *(f"results-rest-{pk}" for pk in range(1, 20))])


@pytest.fixture
def known() -> Study:
    return study(n=6).study


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The ids of studies of which workers were told."""
    told: list[int] = []
    monkeypatch.setattr(refresh, "send", told.extend)
    return told


def sweep_again() -> int:
    cache.delete("results-swept")
    return refresh.send_due()


def count_kept() -> tuple[int, int, int]:
    return AgreementRun.objects.count(), CalibrationRun.objects.count(), AuditRun.objects.count()


@pytest.mark.long
def test_what_it_keeps_is_what_the_page_shows(known: Study, client: Client) -> None:
    refresh_results(known.pk)
    assert count_kept() == (1, 1, 1)
    assert rules.load(known).rows == (), "nobody has looked"
    client.force_login(ResearcherFactory())
    assert client.get(reverse("results", args=[known.slug])).status_code == 200
    assert count_kept() == (1, 1, 1)
    assert [row.kind for row in rules.load(known).rows] == ["locked"]


@pytest.mark.long
def test_pages_find_their_charts_drawn_and_difficulty_predicted(
    client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("core.charts.cache", FileCache(str(tmp_path), {}))  # not those of other tests
    known = study(n=40).study
    refresh_results(known.pk)

    def refuse(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("it is kept")

    monkeypatch.setattr("core.helper_process.run", refuse)
    monkeypatch.setattr("annotation.agreement.services.predicted_difficulty._predict", refuse)
    monkeypatch.setattr("annotation.agreement.services.more_ratings.compute_more_ratings", refuse)
    client.force_login(ResearcherFactory())
    for page in ("results", "report", "tiers", "tiers_predicted", "progress"):
        assert client.get(reverse(page, args=[known.slug])).status_code == 200, page


@pytest.mark.long
def test_twice_is_as_once(known: Study) -> None:
    refresh_results(known.pk)
    refresh_results(known.pk)
    assert count_kept() == (1, 1, 1)


def test_a_study_is_due_once_after_a_start_and_again_once_labels_or_judgments_come(
    known: Study, sent: list[int]
) -> None:
    with_items(3, name="Nothing rated", slug="nothing-rated")
    sweep_again()
    assert sent == [known.pk]
    sweep_again()
    assert sent == [known.pk], "nothing has changed"
    people_say(CriterionFactory(study=known, key="coherence"), {"p0": ["1"] * 6})
    sweep_again()
    assert sent == [known.pk] * 2
    judge_says(known.criteria.get(key="coherence"), "late", ["1"] * 6)
    sweep_again()
    assert sent == [known.pk] * 3


def test_each_is_due_once_more_after_an_upgrade(known: Study, sent: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    sweep_again()
    monkeypatch.setattr(refresh, "code_version", lambda: "2.0")
    sweep_again()
    assert sent == [known.pk] * 2


@pytest.mark.each_database
def test_a_corrected_label_makes_it_due(known: Study, sent: list[int]) -> None:
    """The newest label is the same as before, and the results are not."""
    sweep_again()
    oldest = Annotation.objects.order_by("pk")[0]
    oldest.value = "2" if oldest.value == "1" else "1"
    annotations.store(oldest.assignment, [oldest])
    assert sweep_again() == 1


def test_what_is_done_to_a_study_makes_it_due_and_what_is_only_looked_at_does_not(
    known: Study, sent: list[int], client: Client
) -> None:
    """Who excludes an annotator changes every figure, and no label."""
    annotator = known.assignments.earliest("pk").annotator
    known.annotators.add(annotator)
    sweep_again()
    client.force_login(annotator)
    rules.lock(by=None, study=known)
    log.record("export.labels", by=None, on=known)
    assert sweep_again() == 0
    exclusions.exclude(by=ResearcherFactory(), study=known, annotator=annotator, reason="A trial account.")
    assert sweep_again() == 1
    assert sent == [known.pk] * 2


def test_workers_look_once_in_a_while(known: Study, sent: list[int]) -> None:
    assert sweep_again() == 1
    people_say(CriterionFactory(study=known, key="coherence"), {"p0": ["1"] * 6})
    assert refresh.send_due() == 0
    assert sent == [known.pk]


@pytest.mark.long
@pytest.mark.each_database
def test_a_study_rests_and_is_not_forgotten(known: Study, sent: list[int]) -> None:
    sweep_again()
    refresh_results(known.pk)
    people_say(CriterionFactory(study=known, key="coherence"), {"p0": ["1"] * 6})
    assert sweep_again() == 0
    cache.delete(f"results-rest-{known.pk}")
    assert sweep_again() == 1


@pytest.mark.long
def test_a_run_that_ends_ends_the_rest(known: Study, sent: list[int]) -> None:
    sweep_again()
    refresh_results(known.pk)
    judge_says(known.criteria.get(), "late", ["1"] * 6)
    assert sweep_again() == 1


def test_few_studies_a_round_so_that_judges_do_not_wait(sent: list[int]) -> None:
    made = [study(n=6, name=f"Study {number}", judge=f"judge {number}").study.pk for number in range(3)]
    assert sweep_again() == refresh.MOST == 2
    assert sweep_again() == 1
    assert sent == made[::-1], "the newest first"


@pytest.mark.each_database
def test_large_studies_and_those_that_are_gone_are_left(known: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_counts, "LARGE", 4)
    refresh_results(known.pk)
    refresh_results(known.pk + 1000)
    assert count_kept() == (0, 0, 0)


def test_who_is_at_it_is_left_alone_and_what_came_meanwhile_is_not_lost(known: Study, sent: list[int]) -> None:
    sweep_again()
    with alone(f"results-{known.pk}"):
        refresh_results(known.pk)
    assert count_kept() == (0, 0, 0)
    assert sweep_again() == 1
    assert sent == [known.pk] * 2


@pytest.mark.each_database
def test_the_first_reading_goes_through_studies_and_not_through_labels(
    known: Study, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(4):
        seen = read_changes(None)
    with django_assert_num_queries(6):
        assert read_changes(seen) == seen
