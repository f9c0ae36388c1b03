from __future__ import annotations

import json
import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.corpus.models import Task
from annotation.studies.models.studies import Study
from simulation.experiments.models import Experiment, Turn
from tests.support.simulation import ASSISTANT_LINES, USER_LINES, people

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sent")]

USER = "scripted " + json.dumps({"lines": USER_LINES})
ASSISTANT = "scripted:mine " + json.dumps({"lines": ASSISTANT_LINES})


def simulate(*arguments: str, **options):
    out = StringIO()
    asked = {"users": "all", "tasks": "all", "assistant": [ASSISTANT], "condition": ["base"], "user_agent": USER}
    call_command("simulate", *arguments, stdout=out, stderr=StringIO(), **(asked | options))
    return out.getvalue()


def test_now_as_json():
    people(2, 2)

    document = json.loads(simulate("--now", "--json", condition=["base", "base+I"]))

    assert document["state"] == "finished"
    assert document["counts"] == {"dialogues": 8, "ended": 8, "material": 8, "turns": 48, "cut": 0, "cut_off": 0}
    assert document["endings"] == {"done": 8}
    assert document["cost_usd"] == {"known": 0.0, "unknown": 0}
    assert document["study"] is None


def test_in_words():
    people(1, 1)

    said = simulate("--now")

    assert "is finished: 1 of 1 dialogues ended, 6 turns." in said
    assert "1 × the user said that the task is done" not in said, "keys, as in the JSON"
    assert "1 × done" in said


def test_also_annotate_makes_a_study():
    people(2, 2)

    document = json.loads(simulate("--now", "--json", also_annotate=3))

    study = Study.objects.get(name=document["study"])
    assert study.items.count() == 3
    assert study.overlap == 3


def test_asked_again_it_goes_on_with_what_it_began():
    people(1, 1)
    first = json.loads(simulate("--no-wait", "--json"))
    assert first["counts"]["turns"] == 0

    second = json.loads(simulate("--now", "--json"))

    assert second["experiment"] == first["experiment"]
    assert second["counts"]["turns"] == 6
    assert Experiment.objects.count() == 1


def test_when_it_is_over_asking_again_is_a_new_experiment():
    people(1, 1)
    simulate("--now")
    simulate("--now")

    assert Experiment.objects.count() == 2


def test_an_estimate_starts_nothing():
    people(2, 1)

    document = json.loads(simulate("--estimate", "--json"))

    assert document["estimate"]["dialogues"] == 2
    assert document["estimate"]["turns"] == 2 * 41
    assert not Turn.objects.exists()
    assert "2 dialogues, about 82 turns" in simulate("--estimate")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"users": "nobody"}, "field users: 'nobody' is not there"),
        ({"condition": ["base+X"]}, "field conditions: 'base+X' is not one of vanilla"),
        ({"assistant": ["mystery"]}, "field assistant: 'mystery': say where it speaks"),
        ({"assistant": ["scripted {"]}, "field assistant: This is not JSON"),
        ({"seed": -1}, "field seed"),
        ({"max_turns": 1}, "field single_turns: The limit is from 2 to 200 turns"),
        ({"max_exchanges": 0}, "field single_exchanges: The limit is from 1 to 200 exchanges"),
        ({"max_exchanges": 5, "max_turns": 10}, "field single_exchanges: Give limits in exchanges or in turns"),
        ({"users": "0"}, "field users: There are 1 to choose from: cannot draw 0 of 1"),
        ({"assistant": ['local {"template": "x"}']}, "field assistant: A speaker has no use for template"),
        ({"also_annotate": 0}, "field also_annotate"),
    ],
)
def test_bad_input_is_named_and_ends_with_2(options, message):
    people(1, 1)

    with pytest.raises(CommandError, match=re.escape(message)) as error:
        simulate("--now", **options)
    assert error.value.returncode == 2
    assert not Experiment.objects.exists()


def test_turns_are_messages_without_a_closing_reply():
    people(1, 1)

    document = json.loads(simulate("--now", "--json", max_turns=4))

    assert (document["counts"]["turns"], document["endings"]) == (4, {"limit": 1})
    assert Experiment.objects.get().limit_unit == "messages"


@pytest.mark.any_database
def test_many_ids_need_no_name():
    people(60, 1)

    simulate("--estimate", "--json", users=",".join(f"user{n}" for n in range(60)))
    document = json.loads(simulate("--estimate", "--json", users=",".join(f"user{n}" for n in range(60))))

    assert document["name"] == "Users 60 named; tasks all"


def test_pairs_without_a_scenario_are_counted():
    made = people(3, 2)
    made[0].delete()
    made[3].delete()

    document = json.loads(simulate("--estimate", "--json"))["estimate"]

    assert (document["dialogues"], document["masked"], document["absent"]) == (4, 0, 2)
    assert "2 pairs of user and task have no scenario and are left out." in simulate("--estimate")
    played = json.loads(simulate("--now", "--json"))
    assert (played["absent"], Experiment.objects.get().grid["absent"]) == (2, 2)


def test_tasks_without_a_goal_are_counted():
    people(1, 2)
    Task.objects.filter(external_id="task0").update(goal="")

    assert json.loads(simulate("--estimate", "--json"))["estimate"]["without_goal"] == 1
    assert "1 tasks have no goal: their completion cannot be judged." in simulate("--estimate")


def test_a_sample_needs_the_end():
    people(1, 1)

    with pytest.raises(CommandError, match="not with --no-wait"):
        simulate("--no-wait", also_annotate=1)


def test_without_a_worker_it_says_so():
    people(1, 1)
    err = StringIO()

    call_command(
        "simulate",
        "--no-wait",
        users="all",
        tasks="all",
        assistant=[ASSISTANT],
        condition=["base"],
        user_agent=USER,
        stdout=StringIO(),
        stderr=err,
    )

    assert "No worker is running" in err.getvalue()


def test_the_schema_is_imported(tmp_path):
    path = tmp_path / "schema.json"
    path.write_text(json.dumps([{"domain": "Books", "affinities": [{"name": "Genre", "possible_values": ["a"]}]}]))
    out = StringIO()

    call_command("import_schema", str(path), stdout=out)

    assert out.getvalue().strip() == "Preference types: 1 created, 0 updated, 0 unchanged."


def test_what_the_user_agent_is_told_and_prompts_of_ones_own(tmp_path):
    people(1, 1)
    own = tmp_path / "own.txt"
    own.write_text("You want $intent. End with $mark.")

    simulate("--now", user_information="faithful", prompt=[f"user_later={own}"])

    experiment = Experiment.objects.get()
    assert experiment.user_information == "faithful"
    assert experiment.prompts == {"user_later": own.read_text()}
    for wrong, said in (("user_later", "say NAME=FILE"), (f"user_later={tmp_path / 'none'}", "cannot be read")):
        with pytest.raises(CommandError, match=said):
            simulate("--now", prompt=[wrong])
