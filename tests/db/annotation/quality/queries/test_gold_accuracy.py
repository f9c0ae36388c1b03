"""Checks and repeats in a study of sixty items: how well people answer the known, and themselves, a second time."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator

import pytest
from django.core.management import call_command

from annotation.quality.queries import quality
from annotation.quality.services import gold_questions
from annotation.quality.services.gold_questions import GoldAnswer, GoldEntry
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Study
from annotation.studies.services import samples, studies
from annotation.workbench.services import annotations, assignments
from config.broker import FileCache
from core.accounts.models.users import User
from judging.assessment.services import refresh
from tests.support.factories import DialogueFactory, ResearcherFactory, UserFactory
from tests.support.shared_rows import share_rows

pytestmark = pytest.mark.any_database


@pytest.fixture(scope="module")
def shared(django_db_setup, django_db_blocker) -> Iterator[int]:
    yield from share_rows(django_db_blocker, make_study)


@pytest.fixture
def checked_study(shared: int, db: None) -> Study:
    return Study.objects.get(pk=shared)


@pytest.fixture
def alice(checked_study: Study) -> User:
    return User.objects.get(username="alice")


def make_study() -> int:
    """Ada knows 18 of 20 checks and repeats herself; the careless one knows 4, and never does."""
    alice, people = (
        ResearcherFactory(username="alice"),
        {name: UserFactory(username=name) for name in ("ada", "careless")},
    )
    DialogueFactory.create_batch(60)
    made = studies.create(by=alice, name="Pilot", kind="dialogue", criteria=["personalization"], overlap=2)
    samples.draw(by=alice, study=made)
    assignments.add_annotators(by=alice, study=made, annotators=list(people.values()))
    studies.open(by=alice, study=made)
    entries = [
        GoldEntry(one.external_id, {"personalization": GoldAnswer("3", ("4",))})
        for one in DialogueFactory.create_batch(20)
    ]
    gold_questions.add(by=None, study=made, purpose="check", entries=entries, origin="stated")
    gold_questions.set_rules(by=None, study=made, check_every=3, repeat_every=4, repeat_after=3)
    for name, person in people.items():
        rate_all(made, person, wrong=2 if name == "ada" else 16, steady=name == "ada")
    return made.pk


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


@pytest.mark.long
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


@pytest.mark.long
def test_the_page_finds_its_plot_drawn_by_a_worker(
    checked_study: Study, alice: User, client, monkeypatch, tmp_path
) -> None:
    monkeypatch.setattr("core.charts.cache", FileCache(str(tmp_path), {}))  # not those of other tests
    refresh.compute_study(checked_study)
    monkeypatch.setattr("core.helper_process.run", lambda request: pytest.fail("it is drawn"))
    client.force_login(alice)
    assert "<svg" in client.get("/studies/pilot/quality/").content.decode()


@pytest.mark.long
def test_the_command_says_the_same(checked_study: Study, capsys) -> None:
    call_command("quality", "--study", "pilot", "--json")
    found = json.loads(capsys.readouterr().out)
    ada = next(one for one in found["annotators"] if one["annotator"] == "ada")
    assert (ada["gold_accuracy"]["value"], ada["gold_accuracy"]["n_items"]) == (0.9, 20)
    assert ada["self_consistency"]["method"] == "Wilson"
    call_command("quality", "--study", "pilot")
    assert "gold accuracy 0.90 (0.70 to 0.97), n 20" in capsys.readouterr().out


def test_the_page_costs_a_constant_number_of_queries(
    checked_study: Study, alice: User, client, django_assert_max_num_queries
) -> None:
    client.force_login(alice)
    with django_assert_max_num_queries(45):
        client.get("/studies/pilot/quality/")
