"""The people who chose grade the same responses one by one."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command

from annotation.benchmarks.services import grading
from core.errors import InputError
from tests.db.annotation.benchmarks.services.voting import pairs, study_of, vote
from tests.support.labelled import people_say

pytestmark = pytest.mark.django_db


@pytest.fixture
def criterion():
    found = study_of(pairs(2), name="Trips", slug="trips", shown=["demographics"])
    vote(found, [(2, 0), (1, 1)], people=["bob", "dana"])
    return found


def grade(study, grades) -> None:
    """(pair, response) -> person -> grade."""
    asked = study.criteria.get()
    items = list(study.items.select_related("dialogue").order_by("position"))
    keys = [(item.dialogue.turns[0]["content"], item.dialogue.extra["response"]) for item in items]
    people = {name for found in grades.values() for name in found}
    people_say(asked, {name: [grades[key].get(name) for key in keys] for name in sorted(people)})


def test_each_response_is_graded_alone_by_the_same_people(criterion):
    made = grading.make_study(by=None, study=criterion.study, seed=4)
    assert made.kind == "dialogue"
    assert [one.key for one in made.criteria.all()] == ["personalization"]
    assert set(made.annotators.all()) == set(criterion.study.annotators.all())
    dialogues = [item.dialogue for item in made.items.select_related("dialogue__scenario__profile")]
    assert len(dialogues) == 4
    assert {one.turns[1]["content"] for one in dialogues} == {
        f"{which} answer to {k}." for which in ("First", "Another") for k in (0, 1)
    }
    assert {one.scenario.profile.external_id for one in dialogues} == {"persona0", "persona1"}
    assert grading.list_graded_studies(criterion.study) == [made]
    again = grading.make_study(by=None, study=criterion.study, name="Once more")
    assert {item.dialogue_id for item in again.items.all()} == {one.pk for one in dialogues}


def test_what_the_choices_hide(criterion):
    made = grading.make_study(by=None, study=criterion.study)
    # bob and dana chose response 1 of pair 0; of pair 1 bob chose 1 and dana 2
    grade(
        made,
        {
            ("Question 0?", "1"): {"bob": "4", "dana": "3"},
            ("Question 0?", "2"): {"bob": "2", "dana": "3"},
            ("Question 1?", "1"): {"bob": "1", "dana": "2"},
            ("Question 1?", "2"): {"bob": "2"},
        },
    )
    found = grading.compare(study=criterion.study, graded=made, bootstrap=50)
    # dana graded only one response of pair 1: that choice takes no part
    assert (found["n"], found["cases"], found["annotators"]) == (3, 2, 2)
    assert found["no_difference"]["value"] == pytest.approx(1 / 3)
    assert found["same_sign"]["value"] == 1 / 2
    assert found["opposite"]["value"] == pytest.approx(1 / 3)
    assert found["both_low"]["value"] == pytest.approx(1 / 3)


def test_what_is_not_graded_or_no_choice(criterion):
    with pytest.raises(InputError) as caught:
        grading.compare(study=criterion.study, graded=criterion.study)
    assert caught.value.field == "graded"
    with pytest.raises(InputError) as caught:
        grading.make_study(by=None, study=study_of([], name="Empty").study)
    assert caught.value.field == "study"


def test_the_command(criterion, capsys):
    with pytest.raises(CommandError, match="graded nowhere"):
        call_command("graded", "trips")
    call_command("graded", "trips", "--make", "--open", "--json")
    assert json.loads(capsys.readouterr().out) == {
        "study": "trips",
        "graded": "trips-graded",
        "state": "open",
        "items": 4,
    }
    call_command("graded", "trips", "--json")
    found = json.loads(capsys.readouterr().out)
    assert (found["n"], found["correlation"]["reason"]) == (0, "nobody both chose and graded")
    call_command("graded", "trips")
    assert "0 choices with both grades" in capsys.readouterr().out
