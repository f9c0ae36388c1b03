from __future__ import annotations

import pytest

from annotation.corpus.models import Task
from core.errors import InputError
from simulation.experiments.services import estimates, experiments
from simulation.experiments.services.grids import Grid, grid
from tests.support import factories
from tests.support.simulation import people, scripted

pytestmark = pytest.mark.django_db


def pairs(**asked):
    return [(one.user, one.task) for one in grid(**({"users": "all", "tasks": "all"} | asked)).scenarios]


def test_all():
    people(2, 2)

    assert pairs() == [("user0", "task0"), ("user0", "task1"), ("user1", "task0"), ("user1", "task1")]


def test_named():
    people(3, 3)

    assert pairs(users="user2, user0", tasks="task1") == [("user0", "task1"), ("user2", "task1")]


def test_drawn_with_a_seed():
    people(6, 4)

    first = pairs(users="3", tasks="2", seed=1)
    assert len(first) == 6
    assert first == pairs(users="3", tasks="2", seed=1)
    assert any(first != pairs(users="3", tasks="2", seed=seed) for seed in range(2, 6))


def test_kinds_of_tasks():
    people(1, 4)

    assert [task for _, task in pairs(tasks="multi")] == ["task3"]
    assert len(pairs(tasks="single 2, multi 1")) == 3
    assert [task for _, task in pairs(tasks="task0, multi")] == ["task0", "task3"]


def test_a_mask_takes_out_every_task_of_its_domain():
    people(2, 2, Books=0)

    found = grid(users="all", tasks="all")
    assert [(one.user, one.task) for one in found.scenarios] == [("user0", "task0"), ("user1", "task0")]
    assert found.masked == 0, "task1 is about Books too and was not asked for"


def test_a_masked_domain_that_is_asked_for_is_said():
    people(2, 2, Books=0)

    with pytest.raises(InputError, match="task1 is about Books, which none of these users cares for"):
        grid(users="all", tasks="task1")


def test_a_masked_pair_is_left_out_and_counted_where_others_may():
    people(1, 2)
    profile = factories.ProfileFactory(external_id="user9", interests={"Books": 0})
    factories.ScenarioFactory(profile=profile, task=people_task("task1"))

    found = grid(users="all", tasks="task1")
    assert [one.user for one in found.scenarios] == ["user0"]
    assert found.masked == 1


def people_task(name: str):
    return Task.objects.get(external_id=name)


@pytest.mark.parametrize(
    ("asked", "field", "message"),
    [
        ({"users": "user7"}, "users", "'user7' is not there"),
        ({"users": "9"}, "users", "There are 2 to choose from"),
        ({"users": " "}, "users", "Say which"),
        ({"tasks": "task9"}, "tasks", "'task9' is not there"),
        ({"domains": ["Cooking"]}, "domains", "No task has the domain 'Cooking'"),
    ],
)
def test_what_is_not_there_is_said_at_its_field(asked, field, message):
    people(2, 2)

    with pytest.raises(InputError, match=message) as error:
        grid(**({"users": "all", "tasks": "all"} | asked))
    assert error.value.field == field


def test_without_material_it_says_what_to_do():
    with pytest.raises(InputError, match="import profiles and tasks"):
        grid(users="all", tasks="all")


def test_ids_are_those_of_one_source():
    people(1, 1)
    factories.ScenarioFactory(profile=factories.ProfileFactory(source="other"))

    with pytest.raises(InputError, match="several sources: name one of other, test"):
        grid(users="all", tasks="all")
    assert pairs(source="test") == [("user0", "task0")]


def test_an_experiment_may_have_every_scenario_of_the_full_data():
    people(1, 1)
    (one,) = grid(users="all", tasks="all").scenarios
    every = Grid((one,) * 122_133, ("user0",), ("task0",), 0, absent=0, asked={})
    plan = experiments.plan(
        name="All", user_agent=scripted("user"), assistants=[scripted("assistant")], conditions=["base"], grid=every
    )
    assert estimates.estimate(plan).dialogues == 122_133
