"""What the user agent is told is chosen with an experiment, kept with it, and ends its dialogues."""

from __future__ import annotations

import pytest

from annotation.corpus.models import Profile
from core.errors import InputError
from simulation.experiments.models import Turn
from simulation.experiments.services import studies
from simulation.results.services import results
from tests.support.simulation import begun, people, played, scripted

pytestmark = pytest.mark.django_db


def test_scenarios_of_personalens_are_played_as_there_and_others_as_before():
    people(1, 1)
    assert begun().user_information == "task_preferences"
    Profile.objects.update(source="personalens")
    assert begun().user_information == "faithful"
    assert begun(user_information="task_preferences").user_information == "task_preferences"


@pytest.mark.parametrize(("information", "mark"), [("faithful", "TERMINATE"), ("task_preferences", "[END]")])
def test_each_has_its_mark_at_the_end(information, mark):
    people(1, 1)
    user = scripted(lines=["A table.", f"Thanks, that is all. {mark}"])

    experiment = played(user=user, user_information=information)

    row = experiment.dialogues.get()
    assert row.ending == "done"
    assert row.dialogue.extra["user_information"] == information
    assert row.turns.filter(side="user").last().text == "Thanks, that is all."


def test_prompts_of_ones_own_are_kept_and_told_to_the_models():
    people(1, 1)
    own = {"user_later": "Ask: $intent. Then $mark.", "assistant": "Help out."}

    first, second = played(), played(prompts=own)

    assert second.prompts == own
    assert second.input_hash != first.input_hash
    versions = {
        experiment: dict(Turn.objects.filter(simulated__experiment=experiment).values_list("number", "prompt"))
        for experiment in (first, second)
    }
    assert [number for number, found in versions[first].items() if found == versions[second][number]] == [1]


@pytest.mark.parametrize(
    ("options", "field", "said"),
    [
        ({"user_information": "all"}, "user_information", "'all' is not one of faithful, task_preferences"),
        ({"prompts": {"user_later": "Talk."}}, "prompts", "lacks \\$mark"),
        ({"prompts": {"judge": "Rate."}}, "prompts", "'judge' is not a role"),
    ],
)
def test_what_cannot_be_is_said_at_its_field(options, field, said):
    people(1, 1)
    with pytest.raises(InputError, match=said) as error:
        begun(**options)
    assert error.value.field == field


def test_a_study_asks_whether_the_user_agent_is_true_to_its_part():
    people(1, 1)
    experiment = played()

    study = studies.create_judge_study(by=None, experiment=experiment, user_checks=True)

    assert list(study.criteria.values_list("key", flat=True)) == list(studies.USER_CHECKS)
    assert study.items.count() == 1
    assert studies.create_judge_study(by=None, experiment=experiment) != study
    assert studies.create_judge_study(by=None, experiment=experiment, user_checks=True) == study


@pytest.mark.parametrize(("information", "leaks"), [("faithful", 1.0), ("task_preferences", 0.0)])
def test_what_the_user_agent_was_told_is_what_it_can_give_away(information, leaks):
    people(1, 1)
    Profile.objects.update(preferences={"Restaurants": {"Cuisine": ["Thai"], "Ambiance": "candlelight"}})
    user = scripted(lines=["A table in candlelight.", "Thanks. TERMINATE [END]"])

    document = results.document(played(user=user, user_information=information), None)

    (row,) = document["tables"]["talk"]["rows"]
    assert row["cells"]["leak"]["value"] == leaks
