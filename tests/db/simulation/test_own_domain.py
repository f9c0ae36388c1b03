"""A domain that PersonaLens does not have, from files: imported, generated for, simulated, measured."""

from __future__ import annotations

import json
import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.corpus.models import Scenario, Task
from simulation.agents.prompts.generation import SITUATION
from simulation.experiments.models import PreferenceType
from tests.support.paths import ROOT
from tests.support.shared_rows import share_rows
from tests.support.simulation import ASSISTANT_LINES, USER_LINES

FOLDER = ROOT / "fixtures" / "gardening"
SOURCE = ("--source", "gardening")

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("garden", "sent")]


def command(name: str, *options: str) -> dict:
    out = StringIO()
    call_command(name, *options, "--json", stdout=out, stderr=StringIO())
    return json.loads(out.getvalue())


def speaker(**parameters) -> str:
    return "scripted " + json.dumps(parameters)


def simulate(*options: str) -> dict:
    both = ("--user-agent", speaker(lines=USER_LINES), "--assistant", speaker(lines=ASSISTANT_LINES))
    return command("simulate", *both, "--condition", "base", "--now", *SOURCE, *options)


@pytest.fixture(scope="module")
def garden(django_db_setup, django_db_blocker):
    def make() -> None:
        command("import_schema", str(FOLDER / "schema.json"), *SOURCE)
        for kind in ("profiles", "tasks", "scenarios"):
            command(f"import_{kind}", str(FOLDER / f"{kind}.jsonl"), *SOURCE)

    yield from share_rows(django_db_blocker, make)


def test_importing_again_changes_nothing():
    again = command("import_scenarios", str(FOLDER / "scenarios.jsonl"), *SOURCE)
    assert (again["created"], again["unchanged"]) == ({"scenarios": 0}, {"scenarios": 9})
    assert PreferenceType.objects.filter(source="gardening").count() == 2


def test_it_is_simulated_and_measured():
    found = simulate("--users", "all", "--tasks", "all", "--name", "Garden")
    assert found["counts"]["dialogues"] == found["counts"]["material"] == 9

    measured = command("measures", *SOURCE)
    place = measured["evenness"]["Gardening · Growing place"]
    assert (place["n"], place["n_possible"], place["n_occurring"]) == (3, 4, 2)
    assert place["occurring"]["value"] == pytest.approx(0.9183, abs=1e-4), "H(1/3, 2/3) in bits"
    assert place["possible"]["value"] == pytest.approx(0.9183 / 2, abs=1e-4)
    assert measured["evenness"]["Gardening · Favourite plants"]["n"] == 6
    assert measured["tables"]["1"]["rows"] == [{"domain": "Gardening", "tasks": 3, "scenarios": 9}]


QUIET = {"value": "quiet", "justification": "It suits."}


@pytest.mark.any_database
def test_more_is_generated_for_it():
    one = {"description": "d", "intent": "i", "goal": "g", "preference_types": ["Growing place"]}
    made = command(
        *("make_material", "tasks", "--agent", speaker(otherwise=json.dumps({"tasks": [one]}))),
        *("--domains", "Gardening", *SOURCE),
    )
    task = Task.objects.get(pk=made["made"][0]["id"])
    situation = speaker(otherwise=json.dumps(dict.fromkeys(SITUATION, QUIET)))
    command("make_material", "situation", "--agent", situation, "--profiles", "g1,g2", "--task", task.external_id)

    assert Scenario.objects.filter(task=task).count() == 2
    assert simulate("--users", "all", "--tasks", task.external_id)["counts"]["material"] == 2

    values = {"Growing place": "roof", "Favourite plants": ["basil"]}
    refused = ("make_material", "profile", "--agent", speaker(otherwise=json.dumps(values)), "--domains", "Gardening")
    with pytest.raises(CommandError, match="Gardening: Growing place"):
        command(*refused, "--demographics", '{"age": "30"}', *SOURCE)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"profile_id": "g1"}, "line 2, field task_id: is missing"),
        ({"profile_id": "g9", "task_id": "plan-bed"}, "line 2, field profile_id: there is no profile 'g9'"),
        ({"profile_id": "g1", "task_id": "plan-bed", "when": 1}, "line 2, field when"),
        ({"profile_id": "g1", "task_id": "buy-plant"}, "line 2, field id: the id"),
    ],
)
def test_a_bad_scenario_is_named(tmp_path, line, message):
    path = tmp_path / "s.jsonl"
    path.write_text("\n".join(json.dumps(one) for one in ({"profile_id": "g1", "task_id": "buy-plant"}, line)))

    with pytest.raises(CommandError, match=re.escape(f"{path}, {message}")) as error:
        command("import_scenarios", str(path), *SOURCE)
    assert error.value.returncode == 2


def test_no_users_cannot_be_simulated():
    with pytest.raises(CommandError, match="field users: There are 3 to choose from: cannot draw 0 of 3") as error:
        simulate("--users", "0", "--tasks", "all")
    assert error.value.returncode == 2
