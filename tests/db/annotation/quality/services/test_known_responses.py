"""Right answers to single responses: as checks and in training, from a form, a file and through the API."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.corpus.models import ResponsePair
from annotation.quality.models import KnownItem
from annotation.quality.queries import checks, gold_questions as queries, quality
from annotation.quality.services import gold_questions
from annotation.quality.services.gold_questions import GoldAnswer, GoldEntry
from annotation.stats.orders import list_shown
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Study
from annotation.workbench.services import adjudications, annotations, assignments
from core.accounts.models.users import User
from core.errors import InputError
from tests.support.factories import ResearcherFactory, ResponsePairFactory
from tests.support.people import OpenStudy

pytestmark = pytest.mark.django_db

RUBRIC = {
    "kind": "pair",
    "criterion": [
        {"key": "best", "question": "Which is best?", "category": ["1", "2", "3", "tie"]},
        {
            "key": "helpful",
            "type": "ordinal",
            "unit": "response",
            "question": "Helpful?",
            "category": ["1", "2", "3"],
        },
    ],
}
KNOWN = {
    "best": GoldAnswer("2"),
    "helpful.2": GoldAnswer("3", ("2",), "It answers."),
    "helpful.3": GoldAnswer("1", (), "It does not."),
}


def build_pair(name: str) -> ResponsePair:
    return ResponsePairFactory(external_id=name, n_responses=3, further=[{"text": f"Third of {name}", "model": "m3"}])


@pytest.fixture
def study(open_study: OpenStudy, bob: User) -> Study:
    for n in range(12):
        build_pair(f"r{n}")
    made = open_study([bob], items=0, kind="pair", criteria=None, rubric=RUBRIC)
    build_pair("known")
    return made


def name(study: Study, purpose: str, answers: dict[str, GoldAnswer] = KNOWN) -> KnownItem:
    entries = [GoldEntry("known", answers, 3)]
    (item,) = gold_questions.add(by=None, study=study, purpose=purpose, entries=entries, origin="stated")
    return item


def say(slot: Assignment) -> dict[str, str]:
    """The second response is best and gets a 3; the first and the third get a 2, wherever they stand."""
    at = list_shown(slot.order)
    return {"best": at["2"], **{f"helpful.{at[n]}": "3" if n == "2" else "2" for n in "123"}}


@pytest.mark.parametrize("order", ["ABC", "CAB"])
def test_each_response_is_marked_by_its_number_and_named_by_its_side(study: Study, bob: User, order: str) -> None:
    name(study, "training")
    slot = assignments.lease_next(by=bob, study=study)
    Assignment.objects.filter(pk=slot.pk).update(order=order)
    slot = Assignment.objects.select_related("study", "item__pair").get(pk=slot.pk)
    annotations.submit(by=bob, assignment=slot, values=say(slot))
    (item,) = queries.list_marked_items(Assignment.objects.filter(pk=slot.pk).select_related("known", "study"))
    at = list_shown(order)
    marked = [(one.criterion.partition(", ")[2], one.said, one.expected, one.right) for one in item.answers]
    assert marked == [
        ("", at["2"], at["2"], True),
        (f"response {at['2']}", "3", "3 or 2", True),
        (f"response {at['3']}", "2", "1", False),
    ]
    assert item.answers[1].explanation == "It answers."


def test_a_check_counts_once_however_many_responses_are_known(study: Study, bob: User) -> None:
    name(study, "check")
    gold_questions.set_rules(by=None, study=study, check_every=2)
    while slot := assignments.lease_next(by=bob, study=study):
        annotations.submit(by=bob, assignment=slot, values=say(slot))
    same = [(one.criterion, one.same) for one in checks.load_checks(study)]
    assert sorted(same) == [("best", True), ("helpful", False), ("helpful", True)]
    (record,) = quality.records(study)
    assert (record.overall.value, record.overall.n_items) == (pytest.approx(2 / 3), 1)
    assert record.by_criterion["helpful"].value == 0.5


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        ({"helpful": GoldAnswer("3")}, "line 3, field turn: Helpful is asked of responses: name the response"),
        ({"helpful.4": GoldAnswer("3")}, "line 3, field turn: Helpful is not asked of response 4 of known"),
        ({"helpful.A": GoldAnswer("3")}, "line 3, field turn: 'A' is not the number of a turn or response"),
        ({"best.2": GoldAnswer("2")}, "line 3, field turn: Best is asked of the whole item, not of a part of it"),
        ({"helpful.2": GoldAnswer("9")}, "line 3, field helpful: '9' is not on the scale"),
    ],
)
def test_a_response_that_is_not_asked_is_refused(study: Study, answers: dict[str, GoldAnswer], says: str) -> None:
    with pytest.raises(InputError, match=says):
        name(study, "check", answers)
    assert not KnownItem.objects.exists()


def stored(item: KnownItem) -> list[tuple[Any, ...]]:
    return list(item.answers.order_by("turn").values_list("criterion__key", "turn", "value", "also", "explanation"))


WANTED = [("helpful", 2, "3", ["2"], "It answers."), ("helpful", 3, "1", [], "")]


def test_a_file_names_the_response_in_a_column(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "known.csv"
    path.write_text("item_id,criterion,turn,value,explanation\nknown,helpful,2,3|2,It answers.\nknown,helpful,3,1,\n")
    (made,) = gold_questions.add_file(by=None, study=study, purpose="check", path=path)
    assert stored(made) == WANTED


def test_the_form_takes_a_line_for_each_response(study: Study, client: Client) -> None:
    client.force_login(ResearcherFactory())
    page = client.get(reverse("queue", args=[study.slug])).content.decode()
    assert "Helpful, response by response" in page
    given = {"purpose": "check", "number": "1", "item": "known", "best": "", "best-why": ""}
    address = reverse("known_add", args=[study.slug])
    client.post(address, {**given, "helpful": "2: 3|2; It answers.\n3: 1"})
    assert stored(KnownItem.objects.get()) == WANTED
    assert "Helpful, response 2" in client.get(reverse("queue", args=[study.slug])).content.decode()


def test_the_api_names_the_response_behind_a_full_stop(study: Study, client: Client) -> None:
    client.force_login(ResearcherFactory())
    answers = {"helpful.2": {"value": "3", "also": ["2"], "explanation": "It answers."}, "helpful.3": {"value": "1"}}
    body = {"purpose": "check", "items": [{"item": "known", "answers": answers}]}
    address = reverse("api_known_items", args=[study.slug])
    assert client.post(address, body, content_type="application/json").status_code == 201
    assert stored(KnownItem.objects.get()) == WANTED
    (found,) = client.get(address).json()["results"]
    assert found["answers"].keys() == {"helpful.2", "helpful.3"}


def test_what_was_decided_of_responses_becomes_known(study: Study, bob: User, alice: User) -> None:
    item = study.items.select_related("pair", "study").first()
    adjudications.decide(
        by=alice, item=item, criterion=study.criteria.get(key="helpful"), turn=3, value="2", reason="It answers."
    )
    while slot := assignments.lease_next(by=bob, study=study):
        annotations.submit(by=bob, assignment=slot, values=say(slot))
    (made,) = gold_questions.add_decided(by=None, study=study, purpose="check", source=study)
    assert stored(made) == [("helpful", 3, "2", [], "It answers.")]
