from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.corpus.models import Task
from simulation.experiments.models import PreferenceType
from simulation.generation.models import Conflict
from tests.support import factories

pytestmark = pytest.mark.django_db

TASKS = {"tasks": [{"description": "d", "intent": "i", "goal": "g", "preference_types": ["Genre"]}]}


def make(*arguments: str, reply, **options) -> str:
    out = StringIO()
    agent = "scripted " + json.dumps({"otherwise": json.dumps(reply)})
    call_command("make_material", *arguments, agent=agent, stdout=out, stderr=StringIO(), **options)
    return out.getvalue()


@pytest.fixture(autouse=True)
def _books():
    PreferenceType.objects.create(source="personalens", domain="Books", name="Genre", possible_values=["history"])


def test_tasks():
    document = json.loads(make("tasks", "--json", reply=TASKS, domains="Books"))

    assert document["made"] == [{"kind": "task", "id": Task.objects.get().pk}]
    assert document["replies"] == 1


def test_all_profiles_are_checked():
    factories.ProfileFactory.create_batch(2)
    found = {"label": "Odd", "explanation": "e", "fields": ["Restaurants: Cuisine"]}

    said = make("check", reply={"conflicts": [found]}, profiles="all")

    assert "2 made from 2 replies." in said
    assert Conflict.objects.count() == 2


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("tasks", {"domains": "Cooking"}, "field domains: No preference types of 'Cooking' are known"),
        ("check", {"profiles": "nobody"}, "field profiles: There is no profile 'nobody'"),
        ("situation", {"task": "nothing"}, "field task: There is no task 'nothing'"),
        ("profile", {"demographics": "{"}, "field demographics: This is not JSON"),
        ("tasks", {"domains": "Books", "n": 2}, "tasks: holds 1 and not 2"),
    ],
)
def test_bad_input_is_named_and_ends_with_2(kind, options, message):
    with pytest.raises(CommandError, match=message) as error:
        make(kind, reply=TASKS, **options)
    assert error.value.returncode == 2
    assert not Task.objects.exists()
