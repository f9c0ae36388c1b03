"""Right answers to single turns: as checks, as training, and in the qualification."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import IntegrityError, transaction

from annotation.quality.models import KnownAnswer, KnownItem
from annotation.quality.queries import checks, gold_questions as queries, quality
from annotation.quality.services import gold_questions, qualification
from annotation.quality.services.gold_questions import GoldAnswer, GoldEntry
from annotation.studies.models.studies import Study
from annotation.studies.services import samples, studies
from annotation.workbench.services import adjudications, annotations, assignments
from core.accounts.models.users import User
from core.errors import InputError
from tests.support.factories import DialogueFactory, UserFactory

pytestmark = pytest.mark.django_db

TALK = [
    {"role": "user", "content": "A table."},
    {"role": "assistant", "content": "At the Thai place?"},
    {"role": "user", "content": "Yes."},
    {"role": "assistant", "content": "It is booked."},
]
SAID = {"naturalness_assistant.2": "4", "naturalness_assistant.4": "2", "task_completion": "yes"}
KNOWN = {
    "task_completion": GoldAnswer("yes"),
    "naturalness_assistant.2": GoldAnswer("4", ("5",), "It asks back."),
    "naturalness_assistant.4": GoldAnswer("3", (), "Curt, but clear."),
}


@pytest.fixture
def bob(db: None) -> User:
    return UserFactory(username="bob")


def a_study(people: list[User], *, items: int = 12, name: str = "Turns") -> Study:
    """Naturalness of the assistant is asked of each of its turns, completion of the whole dialogue."""
    DialogueFactory.create_batch(items, turns=TALK)
    criteria = ["task_completion", "naturalness_assistant"]
    study = studies.create(by=None, name=name, kind="dialogue", criteria=criteria, each_turn=criteria[1:])
    samples.draw(by=None, study=study)
    assignments.add_annotators(by=None, study=study, annotators=people)
    studies.open(by=None, study=study)
    return study


@pytest.fixture
def study(bob: User) -> Study:
    return a_study([bob])


def name(study: Study, purpose: str, answers: dict[str, GoldAnswer] = KNOWN, **dialogue: object) -> KnownItem:
    made = DialogueFactory(turns=TALK, **dialogue)
    entries = [GoldEntry(made.external_id, answers)]
    (item,) = gold_questions.add(by=None, study=study, purpose=purpose, entries=entries, origin="stated")
    return item


def test_each_turn_is_marked_on_its_own(study: Study, bob: User) -> None:
    name(study, "qualification")
    study.refresh_from_db()
    slot = assignments.lease_next(by=bob, study=study)
    annotations.submit(by=bob, assignment=slot, values=SAID)
    result = qualification.conclude(by=bob, study=study)
    assert (result.right, result.asked) == (2, 3), "turn 4 was said to be 2 and is 3"
    (item,) = queries.load_round(bob, study, "qualification")
    turns = [(one.criterion.partition(", ")[2], one.right) for one in item.answers]
    assert turns == [("", True), ("turn 2", True), ("turn 4", False)]
    assert item.answers[1].explanation == "It asks back."


def test_a_check_counts_once_however_many_turns_are_known(study: Study, bob: User) -> None:
    item = name(study, "check")
    gold_questions.set_rules(by=None, study=study, check_every=2)
    while slot := assignments.lease_next(by=bob, study=study):
        annotations.submit(by=bob, assignment=slot, values=SAID)
    compared = list(checks.load_checks(study))
    assert [one.same for one in compared] == [True, True, False]
    (record,) = quality.records(study)
    # one item: completion right, of naturalness one turn of two, in all two answers of three
    assert (record.overall.value, record.overall.n_items) == (pytest.approx(2 / 3), 1)
    assert record.by_criterion["naturalness_assistant"].value == 0.5
    assert record.by_criterion["naturalness_assistant"].n_items == 1
    item.answers.filter(turn=4).delete()
    assert [one.same for one in checks.load_checks(study)] == [True, True], "of turn 4 nothing is known now"


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        ({"naturalness_assistant": GoldAnswer("4")}, "line 3, field turn: .* is asked of turns: name the turn"),
        (
            {"task_completion.2": GoldAnswer("yes")},
            "line 3, field turn: .* asked of the whole item, not of a part of it",
        ),
        ({"naturalness_assistant.1": GoldAnswer("4")}, "line 3, field turn: .* is not asked of turn 1 of d"),
        ({"naturalness_assistant.6": GoldAnswer("4")}, "line 3, field turn: .* is not asked of turn 6 of d"),
        ({"naturalness_assistant.2": GoldAnswer("9")}, "line 3, field naturalness_assistant: '9' is not on the scale"),
        (
            {"naturalness_assistant.x": GoldAnswer("4")},
            "line 3, field turn: 'x' is not the number of a turn or response",
        ),
        ({"wit.2": GoldAnswer("9")}, "line 3, field criterion: The study asks no criterion 'wit'"),
    ],
)
def test_a_turn_that_is_not_asked_is_refused(study: Study, answers: dict[str, GoldAnswer], says: str) -> None:
    DialogueFactory(external_id="d", turns=TALK)
    with pytest.raises(InputError, match=says):
        gold_questions.add(by=None, study=study, purpose="check", entries=[GoldEntry("d", answers, 3)], origin="stated")
    assert not KnownItem.objects.exists()


def test_a_file_names_the_turn_in_a_column(study: Study, tmp_path: Path) -> None:
    DialogueFactory(external_id="d", turns=TALK)
    path = tmp_path / "known.csv"
    path.write_text(
        "item_id,criterion,turn,value,explanation\n"
        "d,task_completion,,yes,\n"
        "d,naturalness_assistant,2,4|5,It asks back.\n"
        "d,naturalness_assistant,4,3,\n"
    )
    (made,) = gold_questions.add_file(by=None, study=study, purpose="check", path=path)
    stored = made.answers.order_by("turn").values_list("turn", "value", "also")
    assert list(stored) == [(0, "yes", []), (2, "4", ["5"]), (4, "3", [])]
    assert gold_questions.add_file(by=None, study=study, purpose="check", path=path) == [made], "twice changes nothing"


def test_what_was_decided_of_turns_becomes_known(study: Study, bob: User) -> None:
    source = a_study([bob], items=1, name="Source")
    item = source.items.exclude(dialogue__in=study.items.values("dialogue")).get()
    criterion = source.criteria.get(key="naturalness_assistant")
    adjudications.decide(by=bob, item=item, criterion=criterion, turn=2, value="5", reason="It asks back.")
    (made,) = gold_questions.add_decided(by=None, study=study, purpose="check", source=source)
    answer = made.answers.get()
    assert (answer.turn, answer.value, answer.explanation) == (2, "5", "It asks back.")
    assert answer.title.endswith(", turn 2")


def test_a_turn_has_one_right_answer(study: Study) -> None:
    item = name(study, "check")
    again = item.answers.get(turn=2)
    with pytest.raises(IntegrityError), transaction.atomic():
        KnownAnswer.objects.create(known=item, criterion=again.criterion, turn=2, value="1")
