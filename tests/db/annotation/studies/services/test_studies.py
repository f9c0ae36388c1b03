"""Alice makes a study, opens it and closes it."""

from __future__ import annotations

import pytest

from annotation.studies.models.studies import Criterion, Study
from annotation.studies.services import samples, studies
from core.accounts.models.users import User
from core.errors import InputError
from tests.support.factories import DialogueFactory, ResponsePairFactory

PAIR = {"kind": "pair", "criteria": ["preference"]}


def make(alice: User, **given) -> Study:
    given = {"name": "Pilot", "kind": "dialogue", "criteria": ["task_completion"]} | given
    return studies.create(by=alice, **given)


def test_a_new_study_is_a_draft_with_its_criteria_in_order(alice: User) -> None:
    study = make(alice, criteria=["personalization", "task_completion"], overlap=2, seed=7, instructions="Take care.")
    assert (study.state, study.slug, study.overlap, study.seed) == ("draft", "pilot", 2, 7)
    assert study.created_by == alice
    assert [(c.key, c.position) for c in study.criteria.all()] == [("personalization", 1), ("task_completion", 2)]
    assert study.criteria.get(key="personalization").values == ["1", "2", "3", "4"]


def test_all_parts_of_the_context_are_shown_unless_some_are_named(alice: User) -> None:
    assert make(alice).shown[:3] == ["goal", "situation", "preferences"]
    assert make(alice, name="Blind", shown=["situation", "goal"]).shown == ["goal", "situation"]
    assert make(alice, name="Bare", shown=[]).shown == []


@pytest.mark.parametrize(("allow_tie", "values"), [(False, ["1", "2"]), (True, ["1", "2", "tie"])])
def test_a_tie_is_offered_only_where_it_is_allowed(alice: User, allow_tie: bool, values: list[str]) -> None:
    assert make(alice, **PAIR, allow_tie=allow_tie).criteria.get().values == values


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"name": "  "}, "name"),
        ({"name": "n" * 121}, "name"),
        ({"kind": "poem"}, "kind"),
        ({"criteria": []}, "criteria"),
        ({"criteria": ["charm"]}, "criteria"),
        ({"criteria": ["preference"]}, "criteria"),
        ({"criteria": ["task_completion", "task_completion"]}, "criteria"),
        ({"overlap": 0}, "overlap"),
        ({"overlap": 1001}, "overlap"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**63}, "seed"),
        ({"shown": ["source_label"]}, "shown"),
    ],
)
def test_bad_input_names_its_field_and_saves_nothing(alice: User, given: dict, field: str) -> None:
    with pytest.raises(InputError) as raised:
        make(alice, **given)
    assert raised.value.field == field
    assert not Study.objects.exists()
    assert not Criterion.objects.exists()


def test_a_name_is_taken_once_and_an_address_made_unique(alice: User) -> None:
    make(alice, name="Pilot")
    assert make(alice, name="Pilot!").slug == "pilot-2"
    assert make(alice, name="Pilot?").slug == "pilot-3"
    assert make(alice, name="试点").slug == "study"
    assert make(alice, name="New").slug == "new-2"
    with pytest.raises(InputError, match="already") as raised:
        make(alice, name="Pilot")
    assert raised.value.field == "name"


def test_opening_makes_as_many_slots_as_the_overlap(alice: User) -> None:
    DialogueFactory.create_batch(4)
    study = make(alice, overlap=3)
    samples.draw(by=alice, study=study)
    assert studies.open(by=alice, study=study) == 12
    assert study.state == Study.objects.get().state == "open"
    assert {(a.item.position, a.slot) for a in study.assignments.all()} == {
        (position, slot) for position in range(1, 5) for slot in range(1, 4)
    }
    assert {(a.state, a.rank == a.item.position, a.order) for a in study.assignments.all()} == {("open", True, "")}


def test_a_study_without_items_cannot_be_opened(alice: User) -> None:
    study = make(alice)
    with pytest.raises(InputError, match="draw a sample"):
        studies.open(by=alice, study=study)
    assert Study.objects.get().state == "draft"


def test_opening_again_makes_no_second_slots(alice: User) -> None:
    DialogueFactory()
    study = make(alice)
    samples.draw(by=alice, study=study)
    studies.open(by=alice, study=study)
    studies.close(by=alice, study=study)
    assert Study.objects.get().state == "closed"
    assert studies.open(by=alice, study=study) == 0
    assert study.assignments.count() == 3


def test_only_an_open_study_can_be_closed(alice: User) -> None:
    with pytest.raises(InputError, match="not open"):
        studies.close(by=alice, study=make(alice))


def test_an_open_slot_of_a_pair_has_no_order_yet(alice: User) -> None:
    """It is drawn for whoever takes the slot."""
    ResponsePairFactory.create_batch(3)
    study = make(alice, **PAIR, name="One", overlap=2)
    samples.draw(by=alice, study=study)
    studies.open(by=alice, study=study)
    assert set(study.assignments.values_list("order", flat=True)) == {""}
