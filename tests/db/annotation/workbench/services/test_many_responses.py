"""Items of one, three and more responses, from import to the label: stored is the response, not its place."""

from __future__ import annotations

import json

import pytest
from django.db import IntegrityError, transaction

from annotation.corpus.imports import records
from annotation.corpus.models import ResponsePair
from annotation.stats.orders import MOST, list_places, list_shown
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation, Draft
from annotation.studies.queries import asks
from annotation.studies.services import samples, studies
from annotation.workbench.services import annotations, assignments, drafts
from core.accounts.models.users import User
from core.errors import InputError
from core.files.input_files import InputFile
from tests.support.factories import ResponsePairFactory, UserFactory
from tests.support.people import OpenStudy

RUBRIC = {
    "kind": "pair",
    "criterion": [
        {"key": "best", "question": "Which is best?", "category": ["1", "2", "3", "tie"]},
        {"key": "helpful", "type": "ordinal", "unit": "response", "question": "Helpful?", "category": ["1", "2", "3"]},
        {"key": "order", "type": "ranking", "question": "Rank them."},
        {"key": "ends", "type": "ranking", "question": "Best and worst?", "limits": {"best_worst": True}},
        {"key": "errors", "type": "span", "unit": "response", "question": "Mark what is wrong.", "category": ["wrong"]},
        {"key": "rude", "type": "binary", "question": "Is any of them rude?"},
    ],
}
TEXTS = {"1": "one fish", "2": "two fish", "3": "red fish"}


def build(n: int = 3, **more: object) -> ResponsePair:
    further = [{"text": TEXTS.get(str(k), f"fish {k}"), "model": f"m{k}"} for k in range(3, n + 1)]
    given = {"response_1": TEXTS["1"], "response_2": TEXTS["2"] if n > 1 else "", "n_responses": n, "further": further}
    return ResponsePairFactory(**given | more)


def load(tmp_path, *rows: dict) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({"id": f"r{n}", "question": "q"} | row) + "\n" for n, row in enumerate(rows)))
    records.load(by=None, kind="pairs", file=InputFile(path, path.name))


def say(slot: Assignment) -> dict[str, str]:
    """What somebody enters who wants 2 > 3 > 1, whatever place each stands at."""
    at = list_shown(slot.order)
    span = {"part": at["3"], "start": 0, "end": 3, "category": "wrong"}
    return {
        "best": at["2"],
        **{f"helpful.{at[number]}": value for number, value in (("1", "1"), ("2", "3"), ("3", "2"))},
        "order": ">".join(at[number] for number in "231"),
        "ends": f"{at['2']}>{at['3']}>{at['1']}",
        **{f"errors.{at[number]}": json.dumps([span]) if number == "3" else "[]" for number in "123"},
        "rude": "no",
    }


def stored() -> dict[tuple[str, int], str]:
    return {(one.criterion.key, one.turn): one.value for one in Annotation.objects.select_related("criterion")}


SAID = {
    ("best", 0): "2",
    ("helpful", 1): "1",
    ("helpful", 2): "3",
    ("helpful", 3): "2",
    ("order", 0): "2>3>1",
    ("ends", 0): "2>3>1",
    ("errors", 1): "0",
    ("errors", 2): "0",
    ("errors", 3): "1",
    ("rude", 0): "no",
}


@pytest.fixture
def slot(open_study: OpenStudy, bob: User) -> Assignment:
    build()
    return assignments.lease_next(by=bob, study=open_study([bob], items=0, kind="pair", criteria=None, rubric=RUBRIC))


@pytest.mark.parametrize("order", ["ABC", "CAB", "BCA", "CBA"])
def test_answers_are_stored_by_the_response_whatever_the_order(slot: Assignment, bob: User, order: str) -> None:
    Assignment.objects.filter(pk=slot.pk).update(order=order)
    slot = Assignment.objects.select_related("study", "item__pair").get(pk=slot.pk)
    annotations.submit(by=bob, assignment=slot, values=say(slot))
    assert stored() == SAID
    assert Annotation.objects.get(criterion__key="errors", turn=3).content == [
        {"part": "response-3", "start": 0, "end": 3, "category": "wrong", "text": "red"}
    ]
    slot.refresh_from_db()
    asked = asks.asks(slot, slot.study.asked)
    entered, _ = asks.load_entered(slot, bob, asked)
    assert {name: entered[name] for name in say(slot) if not name.startswith("errors")} == {
        name: value for name, value in say(slot).items() if not name.startswith("errors")
    }


def test_what_is_shown_is_every_response_once_in_the_order_drawn(slot: Assignment) -> None:
    assert sorted(slot.order) == ["A", "B", "C"]
    assert slot.build_shown_responses() == {side: TEXTS[number] for side, number in list_places(slot.order).items()}
    shown = asks.build_shown_criterion(slot, slot.study.criteria.get(key="best"))
    assert [(one["value"], one["key"]) for one in shown["categories"]] == [
        ("A", "1"),
        ("B", "2"),
        ("C", "3"),
        ("tie", "0"),
    ]


def test_a_draft_keeps_the_order_in_which_it_was_entered(slot: Assignment, bob: User) -> None:
    drafts.save(by=bob, assignment=slot, changes={"best": "C"}, active_seconds=3)
    assert Draft.objects.get().order == slot.order
    assert assignments.put_back(by=bob, assignment=slot) is False
    again = assignments.lease_next(by=bob, study=slot.study)
    assert again.order == slot.order


def test_orders_are_drawn_for_each_person_alone(open_study: OpenStudy) -> None:
    for _ in range(9):
        build()
    people = [UserFactory() for _ in range(3)]
    study = open_study(people, items=0, overlap=3, kind="pair", criteria=None, rubric=RUBRIC)
    for person in people:
        for _ in range(9):
            slot = assignments.lease_next(by=person, study=study, holding=[])
            annotations.submit(by=person, assignment=slot, values=say(slot))
    seen = {person.pk: [one.order for one in person.assignments.order_by("item__position")] for person in people}
    for orders in seen.values():
        for place in range(3):
            assert sorted(order[place] for order in orders) == ["A"] * 3 + ["B"] * 3 + ["C"] * 3
    assert len({tuple(orders) for orders in seen.values()}) == 3


@pytest.mark.parametrize("strength", [True, False])
def test_of_one_response_nothing_is_compared(open_study: OpenStudy, bob: User, strength: bool) -> None:
    build(1)
    study = open_study([bob], items=0, kind="pair", criteria=None, rubric=RUBRIC, asks_strength=strength)
    slot = assignments.lease_next(by=bob, study=study)
    assert slot.order == "A"
    assert [ask.name for ask in asks.asks(slot, study.asked)] == ["helpful.A", "errors.A", "rude"]
    annotations.submit(by=bob, assignment=slot, values={"helpful.A": "2", "errors.A": "[]", "rude": "no"})
    assert stored() == {("helpful", 1): "2", ("errors", 1): "0", ("rude", 0): "no"}


@pytest.mark.parametrize("given", ["D", "1", "A:much", "4"])
def test_what_is_no_place_is_refused(slot: Assignment, bob: User, given: str) -> None:
    with pytest.raises(InputError) as caught:
        annotations.submit(by=bob, assignment=slot, values=say(slot) | {"best": given})
    assert caught.value.message == "Choose A, B, C or, where it is offered, a tie."


def test_a_study_is_not_opened_where_a_choice_lacks_a_response(alice: User) -> None:
    build(4)
    study = studies.create(by=alice, name="Four", kind="pair", rubric=RUBRIC)
    samples.draw(by=alice, study=study)
    with pytest.raises(InputError, match="best asks which of 3 responses, and an item has 4"):
        studies.open(by=alice, study=study)


def test_a_list_of_responses_is_imported_and_read_back(db, tmp_path) -> None:
    talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    load(
        tmp_path,
        {
            "responses": [
                "a",
                {"text": "b", "model": "m"},
                {"turns": talk, "model": "n"},
                [{"type": "text", "text": "d"}],
            ]
        },
        {"responses": ["alone"]},
        {"response_1": "x", "response_2": "y", "response_3": "z", "model_3": "m3", "label": 3},
    )
    four, one, three = ResponsePair.objects.order_by("external_id")
    assert [str(found.text) for found in four.responses] == ["a", "b", "User:\nHi\n\nAssistant:\nHello.", "d"]
    assert four.models == ["", "m", "n", ""]
    assert [part["kind"] for part in four.responses[2].text.parts] == ["turn", "turn"]
    assert (one.n_responses, [str(found.text) for found in one.responses]) == (1, ["alone"])
    assert (three.models, three.source_label) == (["", "", "m3"], "3")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"responses": []}, "an item has 1 to 12 responses, not 0"),
        ({"responses": ["x"] * 40}, "an item has 1 to 12 responses, not 40"),
        ({"responses": ["x", 3]}, "responses.2: should be text or a list of parts"),
        ({"responses": "x"}, "should be a list"),
        ({"responses": ["x"], "response_1": "y"}, "give the responses in one way"),
        ({"responses": ["x", "y"], "parts": ["z"]}, "parts: should be an object"),
        ({"response_1": "x", "response_2": "y", "response_4": "z"}, "response_3: is missing"),
        ({"responses": ["x", "y", "z"], "label": "4"}, "should be '', '1', '2', '3' or 'tie'"),
        ({"responses": [{"model": "m"}]}, "has none of text"),
    ],
)
def test_wrong_lists_of_responses_are_refused(db, tmp_path, row: dict, said: str) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path, row)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "row", [{"n_responses": 0}, {"n_responses": MOST + 1}, {"n_responses": 1, "response_2": "more"}]
)
def test_the_database_refuses_too_few_and_too_many(db, row: dict) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        ResponsePairFactory(**row)
