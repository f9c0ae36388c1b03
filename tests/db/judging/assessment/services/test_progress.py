"""How far a study has come."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.quality.queries import quality
from annotation.stats.agreement import agreement
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation, Exclusion
from annotation.studies.models.studies import Criterion, Study
from annotation.workbench.queries import progress as queries
from core.accounts.models.users import User
from judging.assessment.options import JudgedOptions
from judging.assessment.services import progress
from judging.assessment.services.agreement import StudyRatings, load_document, load_or_compute
from tests.db.annotation.management.test_study_commands import refused, run, told
from tests.support.factories import (
    CriterionFactory,
    DialogueFactory,
    ItemFactory,
    ResearcherFactory,
    StudyFactory,
    UserFactory,
)
from tests.support.labelled import people_say, with_items

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 20, 12, 30, tzinfo=UTC)


def rated(n: int = 60, people: int = 3, *, right: float = 0.9, left: int = 0, until: datetime = NOW) -> Criterion:
    """`people` rate all but the last ``left`` of n items, evenly over the ten days before ``until``."""
    rng = np.random.default_rng(4)
    study = with_items(n, name="Pilot", slug="pilot", state="open", overlap=people)
    criterion = CriterionFactory(study=study, key="personalization")
    truth = rng.integers(1, 5, n)

    def said() -> list[str | None]:
        found = [str(t if rng.random() < right else rng.integers(1, 5)) for t in truth]
        return [*found[: n - left], *[None] * left]

    people_say(criterion, {f"p{k}": said() for k in range(people)})
    study.annotators.set(User.objects.filter(username__startswith="p"))
    slots = list(study.assignments.order_by("rank", "slot"))
    for place, slot in enumerate(slots):
        slot.submitted_at = until - timedelta(days=10) + timedelta(days=10) * (place + 0.5) / len(slots)
    Assignment.objects.bulk_update(slots, ["submitted_at"], batch_size=500)
    items = study.items.order_by("position")
    Assignment.objects.bulk_create(
        Assignment(study=study, item=item, slot=slot + 1, rank=item.position)
        for item in items[n - left :]
        for slot in range(people)
    )
    return criterion


def test_coverage_counts_items_by_ratings_and_domain() -> None:
    criterion = rated(20, 2, left=5)
    for k in range(3):
        ItemFactory(study=criterion.study, dialogue=DialogueFactory(), position=100 + k)  # of the domain Restaurants
    found = progress.compute_study(criterion.study, now=NOW)
    assert found["all"] == [8, 0, 15]
    assert [(one["group"], one["by_ratings"]) for one in found["coverage"]] == [
        ("(none)", [5, 0, 15]),
        ("Restaurants", [3, 0, 0]),
    ]


def test_labels_of_the_excluded_take_a_place_and_do_not_count() -> None:
    criterion = rated(20, 2)
    alice = ResearcherFactory()
    p0 = User.objects.get(username="p0")
    Exclusion.objects.create(study=criterion.study, annotator=p0, reason="careless", decided_by=alice)
    found = progress.compute_study(criterion.study, now=NOW)
    assert (found["all"], found["submitted"], found["excluded_annotators"]) == ([0, 20, 0], 40, 1)
    assert [one["excluded"] for one in found["annotators"]] == [True, False]


def test_pace_and_forecast_by_hand() -> None:
    # 150 ratings over the ten days until half an hour ago: 15 a day; 30 are missing, so two days from now
    criterion = rated(60, 3, left=10)
    found = progress.compute_study(criterion.study, now=NOW)
    assert found["pace"]["unit"] == "day"
    assert sum(one["ratings"] for one in found["pace"]["periods"]) == 150
    assert found["remaining"] == 30
    assert found["forecast"]["value"] == pytest.approx(2, abs=0.2)
    end = datetime.fromisoformat(found["forecast"]["end"]["value"])
    assert end == NOW + found["forecast"]["value"] * timedelta(days=1)
    assert found["forecast"]["low"] <= found["forecast"]["value"] <= found["forecast"]["high"]
    assert "independently of each other" in found["forecast"]["assumption"]


def test_a_young_study_is_told_by_the_hour() -> None:
    criterion = rated(20, 2, left=5)
    Assignment.objects.filter(state="submitted").update(submitted_at=NOW - timedelta(hours=5))
    found = progress.compute_study(criterion.study, now=NOW)
    assert found["pace"]["unit"] == "hour"
    assert [one["ratings"] for one in found["pace"]["periods"]] == [30]
    assert found["forecast"]["n_periods"] == 5  # it counts the hours in which nobody rated
    later = progress.compute_study(criterion.study, now=NOW + timedelta(days=9))
    assert later["pace"]["periods"] == found["pace"]["periods"]


def test_windows_end_with_the_last_full_hour() -> None:
    hours = {NOW.replace(minute=0) - timedelta(hours=k): 1 for k in range(80)}
    windows = progress.windows(hours, NOW)
    assert [n for _, n in windows] == [7, 24, 24, 24]
    assert windows[-1][0] == NOW.replace(minute=0) - timedelta(days=1)


def test_growth_ends_at_the_agreement_of_all() -> None:
    criterion = rated()
    found = progress.compute_study(criterion.study, now=NOW)["growth"]
    (one,) = found["criteria"]
    assert [point["n_ratings"] for point in one["points"]] == [18 * k for k in range(1, 11)]
    table = queries.draw_labels(criterion.study, 60).ratings[0].table
    whole = agreement(table, bootstrap=0).coefficients["krippendorff_alpha"].value
    assert one["points"][-1]["coefficients"]["krippendorff_alpha"]["value"] == pytest.approx(whole)
    assert (found["items_read"], found["every"]) == (60, 1)


@pytest.mark.long
def test_growth_and_quality_have_the_intervals_of_the_page_on_agreement() -> None:
    """Of more than 200 items they are drawn, some items nobody could judge, and somebody is excluded."""
    criterion = rated(240, 4, left=1)
    study, p3 = criterion.study, User.objects.get(username="p3")
    Annotation.objects.filter(assignment__item__position__lte=5).update(value="", unscored_reason="cannot judge")
    Annotation.objects.filter(assignment__item__position=6).exclude(assignment__annotator=p3).delete()
    Assignment.objects.filter(item__position=6).exclude(annotator=p3).delete()
    Exclusion.objects.create(study=study, annotator=p3, reason="careless", decided_by=ResearcherFactory())
    ratings = StudyRatings.read(study)
    run = load_or_compute(by=None, study=study, options=JudgedOptions(), ratings=ratings)
    whole = load_document(run)["criteria"][criterion.key]
    found = progress.compute_study(study, now=NOW)["growth"]
    for name, one in found["criteria"][0]["points"][-1]["coefficients"].items():
        assert one == pytest.approx(whole["coefficients"][name]), name
    assert found["items_read"] == found["items_rated"] == 238
    raters = {one["rater"]: one for one in whole["raters"]}
    for one in quality.document(study)["criteria"][criterion.key]["annotators"]:
        assert one["cohen_kappa"] == pytest.approx(raters[one["annotator"]]["cohen_kappa"])


def test_of_many_items_some_are_read_and_that_is_said(monkeypatch) -> None:
    monkeypatch.setattr(queries, "MOST_ITEMS", 20)
    found = progress.compute_study(rated().study, now=NOW)["growth"]
    assert (found["items_read"], found["items_rated"], found["every"]) == (20, 60, 3)


def test_who_stopped_who_never_began_and_who_cannot_judge() -> None:
    criterion = rated(60, 3, left=10)
    study = criterion.study
    study.annotators.add(UserFactory(username="zoe"))
    Assignment.objects.filter(annotator__username="p1").update(submitted_at=NOW - timedelta(days=5))
    unsure = Annotation.objects.filter(assignment__annotator__username="p2", assignment__rank__lte=20)
    unsure.update(value="", unscored_reason="not enough context")
    found = {one["annotator"]: one["reasons"] for one in progress.compute_study(study, now=NOW)["needs_help"]}
    assert found == {
        "p1": ["nothing for 5 days"],
        "p2": ["could not judge 20 of 50 answers"],
        "zoe": ["has rated nothing yet"],
    }
    Study.objects.update(state="closed")
    study.refresh_from_db()
    assert [one["annotator"] for one in progress.compute_study(study, now=NOW)["needs_help"]] == ["p2"]


def test_a_careless_one_and_an_inverted_one_are_named() -> None:
    criterion = rated(80, 5)
    rng = np.random.default_rng(1)
    for label in Annotation.objects.filter(assignment__annotator__username="p3"):
        Annotation.objects.filter(pk=label.pk).update(value=str(5 - int(label.value)))
    for label in Annotation.objects.filter(assignment__annotator__username="p4"):
        Annotation.objects.filter(pk=label.pk).update(value=str(rng.integers(1, 5)))
    found = {one["annotator"] for one in progress.compute_study(criterion.study, now=NOW)["needs_help"]}
    assert found == {"p3", "p4"}


def test_nothing_yet() -> None:
    found = progress.compute_study(with_items(3, name="Pilot", slug="pilot"), now=NOW)
    assert (found["all"], found["planned"], found["needs_help"]) == ([3, 0, 0, 0], 9, [])
    assert found["forecast"]["value"] is None
    assert found["forecast"]["reason"]


def test_the_same_queries_for_any_size(django_assert_num_queries) -> None:
    criterion = rated(10, 2)
    with django_assert_num_queries(11):
        progress.compute_study(criterion.study, now=NOW)
    more = CriterionFactory(study=criterion.study, key="more")
    people_say(more, {f"p{k}": ["1"] * 10 for k in range(2)})
    criterion.study.annotators.add(*UserFactory.create_batch(5))
    with django_assert_num_queries(11):
        progress.compute_study(criterion.study, now=NOW)


@pytest.mark.any_database
@pytest.mark.long
def test_the_page_and_its_files() -> None:
    rated(30, 3, left=5, until=timezone.now())
    client = Client()
    client.force_login(ResearcherFactory())
    page = client.get(reverse("progress", args=["pilot"])).content.decode()
    assert page.count("<svg") >= 3
    assert re.search(r"\b15 of \d+ ratings are missing\.", " ".join(page.split()))
    for plot in ("coverage", "pace", "growth"):
        for name in ("svg", "csv", "json"):
            assert client.get(reverse("progress_plot", args=["pilot", plot, name])).status_code == 200
    assert json.loads(client.get(reverse("progress_download", args=["pilot"])).content)["remaining"] == 15
    assert client.get(reverse("progress_plot", args=["pilot", "charm", "svg"])).status_code == 404
    annotator = Client()
    annotator.force_login(UserFactory())
    assert annotator.get(reverse("progress", args=["pilot"])).status_code == 403


def test_an_empty_study_says_what_will_be_there() -> None:
    StudyFactory(name="Empty", slug="empty", kind="dialogue")
    client = Client()
    client.force_login(ResearcherFactory())
    assert "No items yet" in client.get(reverse("progress", args=["empty"])).content.decode()
    client.get(reverse("progress_plot", args=["empty", "growth", "csv"]))


def test_a_study_without_annotators_says_what_to_do_and_shows_no_empty_table() -> None:
    study = rated(2, 1).study
    study.assignments.all().delete()
    study.annotators.clear()
    client = Client()
    client.force_login(ResearcherFactory())
    page = client.get(reverse("progress", args=["pilot"])).content.decode()
    assert "No annotators yet" in page
    assert "Last 24 hours" not in page


def test_the_command() -> None:
    rated(30, 3, left=5)
    found = run("progress", "--study", "pilot")
    assert (found["submitted"], found["planned"]) == (75, 90)
    assert "75 of 90 ratings" in told("progress", "--study", "pilot")
    assert "no study called" in refused("progress", "--study", "nowhere")
