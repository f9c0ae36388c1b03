"""People rate turn by turn: what is asked, what is stored, and the rows of the rating table."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from annotation.agreement.services import tiers
from annotation.stats.dependence import Design
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Study
from annotation.studies.queries import asks, labels, ratings
from annotation.studies.queries.dependence import Dependence
from annotation.studies.services import samples, studies
from annotation.workbench.queries import adjudication
from annotation.workbench.services import adjudications, annotations, assignments
from core.accounts.models.users import User
from core.errors import InputError
from tests.support.factories import CriterionFactory, DialogueFactory, StudyFactory, UserFactory

pytestmark = pytest.mark.django_db

CRITERIA = ["task_completion", "naturalness_assistant", "coherence_user"]
TALK = [
    {"role": "user", "content": "A table."},
    {"role": "assistant", "content": "At the Thai place?"},
    {"role": "user", "content": "Yes."},
    {"role": "assistant", "content": "It is booked."},
]
GOOD = {
    "coherence_user.1": "5",
    "naturalness_assistant.2": "4",
    "coherence_user.3": "3",
    "naturalness_assistant.4": "2",
    "task_completion": "yes",
}


@pytest.fixture
def people(db: None) -> list[User]:
    return [UserFactory(username=name) for name in ("bob", "charlie")]


@pytest.fixture
def study(people: list[User]) -> Study:
    """Two dialogues of four turns; naturalness of the assistant and coherence of the user are asked of each turn."""
    DialogueFactory.create_batch(2, turns=TALK)
    each = ["naturalness_assistant", "coherence_user"]
    study = studies.create(by=None, name="Turns", kind="dialogue", criteria=CRITERIA, overlap=2, each_turn=each)
    samples.draw(by=None, study=study)
    assignments.add_annotators(by=None, study=study, annotators=people)
    studies.open(by=None, study=study)
    return study


def rated(person: User, study: Study, **changed: str) -> Assignment:
    slot = assignments.lease_next(by=person, study=study)
    annotations.submit(by=person, assignment=slot, values=GOOD | {k.replace("__", "."): v for k, v in changed.items()})
    return slot


def test_turns_are_asked_in_their_order_and_then_the_whole(study: Study, people: list[User]) -> None:
    slot = assignments.lease_next(by=people[0], study=study)
    assert [one.name for one in asks.asks(slot, study.criteria.all())] == list(GOOD)


def test_each_turn_has_a_label_of_its_own_and_sending_again_replaces_it(study: Study, people: list[User]) -> None:
    slot = rated(people[0], study)
    annotations.submit(by=people[0], assignment=slot, values=GOOD | {"coherence_user.3": "1"})
    found = Annotation.objects.filter(assignment=slot).order_by("turn", "criterion__position")
    assert [(one.criterion.key, one.turn, one.value) for one in found] == [
        ("task_completion", 0, "yes"),
        ("coherence_user", 1, "5"),
        ("naturalness_assistant", 2, "4"),
        ("coherence_user", 3, "1"),
        ("naturalness_assistant", 4, "2"),
    ]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"coherence_user.3": ""}, "coherence_user.3"),
        ({"coherence_user.3": "9"}, "coherence_user.3"),
        ({"coherence_user.2": "3"}, "coherence_user.2"),
        ({"coherence_user.99": "3"}, "coherence_user.99"),
        ({"task_completion.1": "yes"}, "task_completion.1"),
        ({"coherence_user": "3"}, "coherence_user"),
    ],
)
def test_what_is_missing_or_not_asked_is_refused_by_its_turn(study: Study, people, changes, field: str) -> None:
    slot = assignments.lease_next(by=people[0], study=study)
    with pytest.raises(InputError) as wrong:
        annotations.submit(by=people[0], assignment=slot, values=GOOD | changes)
    assert wrong.value.field == field
    assert not Annotation.objects.exists()


def test_the_database_refuses_a_second_label_of_a_turn(study: Study, people: list[User]) -> None:
    rated(people[0], study)
    again = Annotation.objects.filter(turn=3).get()
    again.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        again.save(force_insert=True)


def test_rows_are_turns_and_those_of_a_dialogue_stay_together(study: Study, people: list[User]) -> None:
    for person in people:
        for _ in range(2):
            rated(person, study)
    done, natural, coherent = ratings.load_study(study)
    assert (done.table.items, done.table.clusters) == (("1", "2"), None)
    assert natural.table.items == ("1.2", "1.4", "2.2", "2.4")
    assert natural.table.clusters == ("1", "1", "2", "2")
    assert natural.positions == (1, 1, 2, 2)
    assert coherent.table.codes.tolist() == [[4, 4], [2, 2], [4, 4], [2, 2]]
    apart = natural.add_dependence(Dependence(Design(), None, {1: "a", 2: "b"}, {1: 2.0, 2: 6.0}))
    assert (apart.table.clusters, apart.table.strata) == (("1", "1", "2", "2"), ("a", "a", "b", "b"))
    assert apart.table.weights.tolist() == [2, 2, 6, 6]
    assert apart.design.by == "dialogue"


def test_the_export_says_which_turn(study: Study, people: list[User]) -> None:
    rated(people[0], study)
    rows = [(one.criterion, one.turn, one.value) for one in labels.load_people(study)]
    assert rows == [
        ("task_completion", None, "yes"),
        ("naturalness_assistant", 2, "4"),
        ("naturalness_assistant", 4, "2"),
        ("coherence_user", 1, "5"),
        ("coherence_user", 3, "3"),
    ]


def test_a_disputed_turn_is_decided_by_itself(study: Study, people: list[User]) -> None:
    for person, value in zip(people, "15", strict=True):
        rated(person, study, naturalness_assistant__4=value)
    natural = study.criteria.get(key="naturalness_assistant")
    (dispute,) = adjudication.disputes(natural)
    assert (dispute.position, dispute.turn, dispute.spread) == (1, 4, 4)
    item = study.items.get(position=1)
    made = adjudications.decide(by=people[0], item=item, criterion=natural, turn=4, value="2")
    assert made.basis["answers"] == {"1": 1, "5": 1}
    assert adjudication.decisions(natural) == {"1.4": "2"}
    with pytest.raises(InputError, match="not asked of turn 3"):
        adjudications.decide(by=people[0], item=item, criterion=natural, turn=3, value="2")
    with pytest.raises(InputError, match="asked of turns: name one"):
        tiers.set_tier(by=people[0], item=item, criterion=natural, tier="easy", reason="No.")


def test_only_dialogues_have_turns_and_only_criteria_of_the_study_are_asked_of_them() -> None:
    with pytest.raises(InputError, match="no turns") as wrong:
        studies.create(by=None, name="P", kind="pair", criteria=["preference"], each_turn=["preference"])
    assert wrong.value.field == "each_turn"
    with pytest.raises(InputError, match="not among the criteria"):
        studies.create(by=None, name="P", kind="dialogue", criteria=["task_completion"], each_turn=["coherence_user"])


def test_the_database_knows_the_units() -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        CriterionFactory(study=StudyFactory(), unit="sentence")
