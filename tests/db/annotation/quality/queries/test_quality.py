"""A simulated study with a known truth: the quality page names the careless and the inverted annotator, nobody else."""

from __future__ import annotations

import csv
import io
import json
import re

import numpy as np
import pytest
from django.core.management import call_command
from django.utils import timezone

from annotation.quality.queries import quality
from annotation.quality.services import gold_questions
from annotation.quality.services.gold_questions import GoldAnswer, GoldEntry
from annotation.stats.simulated import simulate_ratings
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Study
from annotation.studies.queries import ratings
from annotation.workbench.services import annotations, assignments
from config.broker import FileCache
from core.accounts.models.users import User
from judging.assessment.services import refresh
from tests.support.factories import DialogueFactory, StudyFactory, UserFactory
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


# ---------- checks and repeats ----------


@pytest.fixture
def checked_study(open_study: OpenStudy) -> Study:
    """Ada knows 18 of 20 checks and repeats herself; the careless one knows 4, and never does."""
    people = {name: UserFactory(username=name) for name in ("ada", "careless")}
    made = open_study(list(people.values()), items=60, overlap=2, criteria=["personalization"])
    entries = [
        GoldEntry(one.external_id, {"personalization": GoldAnswer("3", ("4",))})
        for one in DialogueFactory.create_batch(20)
    ]
    gold_questions.add(by=None, study=made, purpose="check", entries=entries, origin="stated")
    gold_questions.set_rules(by=None, study=made, check_every=3, repeat_every=4, repeat_after=3)
    for name, person in people.items():
        rate_all(made, person, wrong=2 if name == "ada" else 16, steady=name == "ada")
    return made


def rate_all(study: Study, person: User, *, wrong: int, steady: bool) -> None:
    seen = 0
    while slot := assignments.lease_next(by=person, study=study):
        value = str(1 + slot.item_id % 4)
        if slot.purpose == "check":
            seen += 1
            value = "1" if seen <= wrong else ("3", "4")[seen % 2]
        elif slot.purpose == "repeat" and not steady:
            value = str(1 + (slot.item_id + 1) % 4)
        annotations.submit(by=person, assignment=slot, values={"personalization": value})


def test_gold_accuracy_and_self_consistency_have_n_and_an_interval(checked_study: Study) -> None:
    found = {(one.annotator, one.kind): one for one in quality.records(checked_study)}
    ada, careless = found["ada", "accuracy"].overall, found["careless", "accuracy"].overall
    assert (ada.value, ada.n_items) == (0.9, 20)
    assert ada.low == pytest.approx(0.699, abs=0.001)  # Wilson, 18 of 20
    assert (careless.value, careless.n_items) == (0.2, 20)
    assert found["ada", "consistency"].overall.value == 1.0
    assert found["careless", "consistency"].overall.value == 0.0
    early, late = found["ada", "accuracy"].stretches
    assert (early.estimate.value, late.estimate.value) == (0.8, 1.0), "the two wrong ones came first"


def test_who_fails_the_checks_is_named(checked_study: Study) -> None:
    signs = {row.annotator: row.signs for row in quality.load_study(checked_study)}
    assert "only 20 % of 20 checks are answered as is known" in signs["careless"]
    assert any("repeats are answered as before" in sign for sign in signs["careless"])
    assert not any("checks" in sign or "repeats" in sign for sign in signs["ada"])


def test_a_retired_check_counts_no_more(checked_study: Study) -> None:
    for one in checked_study.known_items.all()[:5]:
        gold_questions.retire(by=None, known=one)
    found = {(one.annotator, one.kind): one for one in quality.records(checked_study)}
    assert found["ada", "accuracy"].overall.n_items == 15


@pytest.mark.each_database
def test_a_changed_first_answer_changes_the_consistency(checked_study: Study) -> None:
    repeat = checked_study.assignments.filter(purpose="repeat", annotator__username="ada").first()
    Annotation.objects.filter(assignment__item=repeat.item, assignment__annotator=repeat.annotator).exclude(
        assignment=repeat
    ).update(value="", unscored_reason="Text is broken")
    (found,) = [one for one in quality.records(checked_study) if (one.annotator, one.kind) == ("ada", "consistency")]
    assert found.unscored == 1
    assert found.overall.value == 1.0


def test_the_page_and_its_files_hold_them(checked_study: Study, alice: User, bob: User, client) -> None:
    client.force_login(alice)
    page = client.get("/studies/pilot/quality/").content.decode()
    assert "Gold accuracy and self-consistency" in page
    assert "<svg" in page
    rows = list(csv.DictReader(io.StringIO(client.get("/studies/pilot/checks.csv").content.decode())))
    assert [(row["annotator"], row["kind"], row["items"]) for row in rows][:2] == [("ada", "gold accuracy", "10")] * 2
    assert client.get("/studies/pilot/checks.svg").content.startswith(b"<svg")
    assert client.get("/studies/pilot/checks.png").content.startswith(b"\x89PNG")
    assert client.get("/studies/pilot/checks.pdf").content.startswith(b"%PDF")
    assert client.get("/studies/pilot/checks.docx").status_code == 404
    client.force_login(bob)
    assert client.get("/studies/pilot/checks.csv").status_code == 403


def test_the_page_finds_its_plot_drawn_by_a_worker(
    checked_study: Study, alice: User, client, monkeypatch, tmp_path
) -> None:
    monkeypatch.setattr("core.charts.cache", FileCache(str(tmp_path), {}))  # not those of other tests
    refresh.compute_study(checked_study)
    monkeypatch.setattr("core.helper_process.run", lambda request: pytest.fail("it is drawn"))
    client.force_login(alice)
    assert "<svg" in client.get("/studies/pilot/quality/").content.decode()


def test_the_command_says_the_same(checked_study: Study, capsys) -> None:
    call_command("quality", "--study", "pilot", "--json")
    found = json.loads(capsys.readouterr().out)
    ada = next(one for one in found["annotators"] if one["annotator"] == "ada")
    assert (ada["gold_accuracy"]["value"], ada["gold_accuracy"]["n_items"]) == (0.9, 20)
    assert ada["self_consistency"]["method"] == "Wilson"
    call_command("quality", "--study", "pilot")
    assert "gold accuracy 0.90 (0.70 to 0.97), n 20" in capsys.readouterr().out


def test_where_nobody_has_rated_the_command_says_so(db, capsys) -> None:
    empty = StudyFactory(slug="empty", name="Empty")
    call_command("quality", "--study", empty.slug)
    assert capsys.readouterr().out == "Nobody has rated Empty yet.\n"


def test_without_checks_the_page_says_what_to_do(study: Study, alice: User, client) -> None:
    client.force_login(alice)
    page = client.get("/studies/pilot/quality/").content.decode()
    assert "No checks or repeats yet" in page
    assert client.get("/studies/pilot/checks.svg").status_code == 404


def test_the_page_costs_a_constant_number_of_queries(
    checked_study: Study, alice: User, client, django_assert_max_num_queries
) -> None:
    client.force_login(alice)
    with django_assert_max_num_queries(45):
        client.get("/studies/pilot/quality/")
