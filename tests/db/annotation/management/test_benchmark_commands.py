"""From votes to a released folder and back on the command line."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command, load_command_class

from annotation.benchmarks.models import Benchmark
from tests.db.annotation.benchmarks.services.voting import FITTED, pairs, study_of, vote

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    criterion = study_of(pairs(4), name="Trips", slug="trips")
    vote(criterion, [(9, 0), (1, 8), (5, 4), (4, 4)])
    return criterion.study


def said(capsys, *arguments) -> dict:
    call_command(*arguments, "--json")
    return json.loads(capsys.readouterr().out)


def refused(*arguments) -> str:
    with pytest.raises(CommandError) as caught:
        call_command(*arguments)
    assert caught.value.returncode == 2
    return str(caught.value)


@pytest.mark.any_database
def test_the_whole_way(study, capsys, tmp_path):
    better = tmp_path / "better.jsonl"
    better.write_text('{"id": "pair2", "response_2": "shorter", "reason": "it was too long"}\n')
    found = said(capsys, "filter_round", "trips", "--rule", "tied=dropped", "--revise", str(better), "--open")
    assert found["outcomes"] == {"kept": 2, "revised": 1, "dropped": 1}
    assert found["items"][2]["revised"].startswith("pair2~")

    made = said(capsys, "build_benchmark", "trips", "Trips", "--split", "dev=0.5", "test=0.5")
    assert (made["state"], made["tiers"], made["excluded"]) == ("draft", {"easy": 1, "hard": 1}, 2)

    out = tmp_path / "out"
    released = said(capsys, "release", "Trips", "-o", str(out))
    assert released["state"] == "released"
    assert said(capsys, "release", "Trips", "-o", str(out))["digest"] == released["digest"]
    assert said(capsys, "import_benchmark", str(out))["unchanged"]["benchmarks"] == 1
    call_command("datasheet", "trips-1", "--bootstrap", "10")
    assert "# Trips 1: datasheet" in capsys.readouterr().out
    assert said(capsys, "datasheet", "trips-1", "--bootstrap", "10")["votes"]["cases"] == 4
    with pytest.raises(CommandError, match="field bootstrap: must be between 0 and"):
        call_command("datasheet", "trips-1", "--bootstrap", "-1")


def test_what_cannot_be_done_names_the_place(study, tmp_path):
    better = tmp_path / "better.jsonl"
    better.write_text('{"id": "pair2", "response_2": "shorter"}\n')
    assert refused("filter_round", "trips", "--revise", str(better)) == f"{better}, line 1, field reason: is missing"
    better.write_text('{"id": "pair2", "reason": "why"}\n')
    assert "line 1: revises neither response_1 nor response_2" in refused(
        "filter_round", "trips", "--revise", str(better)
    )
    better.write_text('{"id": "pair9", "response_1": "x", "reason": "why"}\n')
    assert "field revisions: 'pair9' is not an item" in refused("filter_round", "trips", "--revise", str(better))
    assert "field rule" in refused("filter_round", "trips", "--rule", "tied=burnt")
    assert "field rule: 'tied' is not NAME=VALUE" in refused("filter_round", "trips", "--rule", "tied")
    assert "field cuts" in refused("filter_round", "trips", "--cuts", "1,2")
    assert "field splits" in refused("build_benchmark", "trips", "T", "--split", "a=0.5")
    assert "field splits: 'half' is not a number" in refused("build_benchmark", "trips", "T", "--split", "a=half")
    assert "field study" in refused("build_benchmark", "nothing", "T")
    assert "holds neither general/easy.jsonl" in refused("import_benchmark", str(tmp_path))
    assert not Benchmark.objects.exists()


def test_the_help_names_the_outcomes_as_they_are_written():
    text = load_command_class("annotation", "filter_round").create_parser("manage.py", "filter_round").format_help()
    assert "outcomes: kept, dropped, asked_again" in " ".join(text.split())


def test_tiers_by_the_model(capsys):
    vote(study_of(pairs(len(FITTED)), name="Trips", slug="trips"), FITTED)
    call_command("build_benchmark", "trips", "Trips", "--tiers", "model", "--agreement-cuts", "0.55,0.7,0.9")
    assert "On 24 cases with votes the likeliest tier has probability" in capsys.readouterr().out
    assert Benchmark.objects.get().made["agreement_cuts"] == [0.55, 0.7, 0.9]
    assert "field agreement_cuts" in refused("build_benchmark", "trips", "T", "--agreement-cuts", "0.5,2,3")


def test_in_words(study, capsys, tmp_path):
    call_command("filter_round", "trips")
    assert "Round 1 of trips: 2 kept, 1 dropped, 1 asked again." in capsys.readouterr().out
    call_command("build_benchmark", "trips", "Trips", "--release")
    assert "2 more are excluded, each with its reason." in capsys.readouterr().out
    with pytest.raises(CommandError, match="This is written to a folder, not to standard output"):
        call_command("release", "trips-1", "-o", "-")
    call_command("release", "trips-1", "-o", str(tmp_path / "out"))
    assert "/general/easy.jsonl: 1" in capsys.readouterr().out
