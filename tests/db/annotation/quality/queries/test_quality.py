"""A simulated study with a known truth: the quality page names the careless and the inverted annotator, nobody else."""

from __future__ import annotations

import re

import numpy as np
import pytest
from django.core.management import call_command
from django.utils import timezone

from annotation.quality.queries import quality
from annotation.stats.simulated import simulate_ratings
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Study
from annotation.studies.queries import ratings
from core.accounts.models.users import User
from tests.support.factories import StudyFactory, UserFactory
from tests.support.people import OpenStudy

pytestmark = pytest.mark.any_database

ITEMS = 60
SKILL = {"ada": 0.9, "ben": 0.8, "cleo": 0.85, "dan": 0.75}


@pytest.fixture
def study(open_study: OpenStudy) -> Study:
    """Four annotators of stated skill, one who answers by chance, one who reads the scale upside down."""
    people = {
        name: UserFactory(username=name, display_name=f"{name.title()} Doe", kind="simulated")
        for name in (*SKILL, "careless", "inverted")
    }
    made = open_study(
        list(people.values()), items=ITEMS, overlap=6, criteria=["personalization", "naturalness_assistant"]
    )
    rng = np.random.default_rng(20261121)
    for criterion in made.criteria.all():
        values = criterion.values
        truth = rng.integers(len(values), size=ITEMS)
        for place, (name, person) in enumerate(people.items(), start=1):
            say(made, criterion, person, place, [values[code] for code in answers(name, truth, len(values), rng)])
    return made


def answers(name: str, truth: np.ndarray, q: int, rng: np.random.Generator) -> np.ndarray:
    if name == "careless":
        return rng.integers(q, size=len(truth))
    drawn = simulate_ratings(truth, n_categories=q, level="ordinal", accuracy=SKILL.get(name, 0.85), rng=rng)
    return q - 1 - drawn if name == "inverted" else drawn


def say(study: Study, criterion, person: User, slot: int, values: list[str]) -> None:
    slots = list(study.assignments.filter(slot=slot).order_by("rank"))
    seconds = 2.0 if person.username.startswith("careless") else 30.0
    Assignment.objects.filter(pk__in=[one.pk for one in slots]).update(
        annotator=person, state="submitted", submitted_at=timezone.now(), active_seconds=seconds
    )
    Annotation.objects.bulk_create(
        Annotation(assignment=one, criterion=criterion, value=value) for one, value in zip(slots, values, strict=True)
    )


def test_exactly_the_careless_and_the_inverted_are_named(study: Study) -> None:
    rows = quality.load_study(study)
    signs = {row.annotator: row.signs for row in rows if row.signs}
    assert set(signs) == {"careless", "inverted"}
    assert [row.annotator for row in rows[:2]] == ["careless", "inverted"]
    assert any("hardly more than chance" in sign for sign in signs["careless"])
    assert any("100 % of the items in less than a third" in sign for sign in signs["careless"])
    assert any("run against" in sign for sign in signs["inverted"])


@pytest.mark.each_database
def test_without_times_there_is_no_pace(study: Study) -> None:
    Assignment.objects.update(active_seconds=None)
    rows = quality.load_study(study)
    assert {row.annotator for row in rows if row.signs} == {"careless", "inverted"}
    assert all(row.pace is None for row in rows)


def test_the_page_names_them(study: Study, alice: User, bob: User, client) -> None:
    client.force_login(alice)
    page = client.get("/studies/pilot/quality/").content.decode()
    assert "Careless Doe, Inverted Doe should be looked at." in page
    assert "Ada Doe" in page
    assert ">simulated<" in re.sub(r"\s+", "", page)
    client.force_login(bob)
    assert client.get("/studies/pilot/quality/").status_code == 403


def test_a_study_without_ratings(open_study: OpenStudy, bob: User) -> None:
    assert quality.load_study(open_study([bob])) == []


def test_the_errors_of_each_annotator_are_estimated_with_the_truth(study: Study) -> None:
    criterion = ratings.load_study(study)[0]
    found = {one.annotator: one for one in quality.errors(criterion)}
    assert set(found) == {*SKILL, "careless", "inverted"}
    assert found["ada"].accuracy > 0.8
    assert found["careless"].accuracy < 0.5
    lowest_label, said = found["inverted"].rows[0]
    assert said[-1] > 0.5, "says the highest where the lowest is true"
    assert lowest_label == criterion.criterion.categories[0]["label"]
    for one in found.values():
        for _, cells in one.rows:
            assert sum(cells) == pytest.approx(1)


def test_the_document_holds_every_criterion(study: Study) -> None:
    found = quality.document(study, bootstrap=0)
    assert set(found["criteria"]) == {"personalization", "naturalness_assistant"}
    of_one = found["criteria"]["personalization"]
    assert [one["annotator"] for one in of_one["annotators"] if one["inverted"]] == ["inverted"]
    assert {rater["rater"] for rater in of_one["dawid_skene"]["raters"]} == {*SKILL, "careless", "inverted"}


def test_where_nobody_has_rated_the_command_says_so(db, capsys) -> None:
    empty = StudyFactory(slug="empty", name="Empty")
    call_command("quality", "--study", empty.slug)
    assert capsys.readouterr().out == "Nobody has rated Empty yet.\n"


def test_without_checks_the_page_says_what_to_do(study: Study, alice: User, client) -> None:
    client.force_login(alice)
    page = client.get("/studies/pilot/quality/").content.decode()
    assert "No checks or repeats yet" in page
    assert client.get("/studies/pilot/checks.svg").status_code == 404
