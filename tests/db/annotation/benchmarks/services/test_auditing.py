"""alice audits a benchmark and makes a cleaned version of it; the old one stays as it was."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command

from annotation.benchmarks.imports import personafeedback
from annotation.benchmarks.models import Benchmark
from annotation.benchmarks.queries import benchmarks as queries
from annotation.benchmarks.services import versions
from core.errors import InputError
from tests.support.factories import BenchmarkCaseFactory, BenchmarkFactory, ProfileFactory, ResponsePairFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark():
    """One pair in hard and, with the opposite label, in easy; and one case beside them."""
    found, persona = BenchmarkFactory(name="Trips", version="1", slug="trips-1"), ProfileFactory(external_id="mei")
    both = {"profile": persona, "question": "Where?"}
    hard = ResponsePairFactory(external_id="h", response_1="to the hills", response_2="home", **both)
    easy = ResponsePairFactory(external_id="e", response_1="home", response_2="to the hills", **both)
    BenchmarkCaseFactory(benchmark=found, pair=hard, tier="hard")
    BenchmarkCaseFactory(benchmark=found, pair=easy, tier="easy")
    BenchmarkCaseFactory(benchmark=found, pair__external_id="alone", tier="easy")
    return versions.release(by=None, benchmark=found)


def test_an_audit_is_kept_and_not_computed_twice(benchmark):
    first = versions.audit(by=None, benchmark=benchmark, bootstrap=50)
    assert versions.audit(by=None, benchmark=benchmark, bootstrap=50) == first
    assert versions.audit(by=None, benchmark=benchmark, bootstrap=60) != first
    assert first.result["n"] == 3
    assert first.result["contradicting_pairs"] == 1
    assert first.input_hash == versions.audit(by=None, benchmark=benchmark, bootstrap=60).input_hash


def test_a_cleaned_version_says_what_it_left_out_and_why(benchmark):
    made = versions.clean(by=None, benchmark=benchmark, rules=["contradicting"], version="2")
    assert (made.parent, made.state, made.name) == (benchmark, "draft", "Trips")
    assert made.made["left_out"] == {"contradicting": 2}
    assert (made.made["before"], made.made["after"]) == (3, 1)
    left = made.cases.get(pair__external_id="h")
    assert left.excluded_reason == "contradicting: its pair has the opposite label in easy"
    assert left.history == [{"step": "cleaned", "outcome": "left out", "version": "2", "reason": left.excluded_reason}]
    assert [case.pair.external_id for case in made.cases.only_counting()] == ["alone"]
    assert benchmark.cases.only_counting().count() == 3
    assert benchmark.cases.get(pair__external_id="h").history == []


def test_votes_and_kappa_go_along(benchmark):
    made = versions.clean(by=None, benchmark=benchmark, rules=["contradicting"], version="2")
    kept = made.cases.get(pair__external_id="alone")
    assert (kept.votes_1, kept.votes_2, kept.votes_tie, kept.kappa) == (8, 1, 0, 5 / 9)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"rules": ["magic"]}, "rules"),
        ({"rules": []}, "rules"),
        ({"version": "1"}, "version"),
        ({"version": " "}, "version"),
    ],
)
def test_what_cannot_be_cleaned_names_the_field(benchmark, wrong, field):
    with pytest.raises(InputError) as caught:
        versions.clean(**{"by": None, "benchmark": benchmark, "rules": ["contradicting"], "version": "2", **wrong})
    assert caught.value.field == field
    assert Benchmark.objects.count() == 1


def test_only_what_has_gold_is_released_and_only_once(benchmark):
    empty = BenchmarkFactory()
    for one, words in ((empty, "no case with gold"), (benchmark, "released already")):
        with pytest.raises(InputError, match=words):
            versions.release(by=None, benchmark=one)


def test_the_commands(benchmark, capsys):
    call_command("audit_benchmark", "Trips", "--bootstrap", "20", "--clean", "contradicting", "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["cleaned"]["slug"] == "trips-1-clean"
    assert found["cleaned"]["parent"] == "trips-1"
    call_command("benchmark", "--json")
    listed = json.loads(capsys.readouterr().out)["benchmarks"]
    assert [(one["slug"], one["counting"], one["excluded"]) for one in listed] == [
        ("trips-1", 3, 0),
        ("trips-1-clean", 1, 2),
    ]
    call_command("benchmark")
    assert "trips-1-clean" in capsys.readouterr().out
    call_command("audit_benchmark", "trips-1")
    assert "the longer response" in capsys.readouterr().out
    with pytest.raises(CommandError, match="There is no benchmark 'Tripz'") as caught:
        call_command("benchmark", "Tripz")
    assert caught.value.returncode == 2


@pytest.mark.any_database
@pytest.mark.long
def test_the_published_part_and_its_cleaned_version(shared_data):
    """385 hard pairs recur, 120 with the opposite label: what contradicts goes, of what repeats one copy stays."""
    personafeedback.load(by=None, folder=shared_data / "personafeedback")
    benchmark = queries.find_benchmark("PersonaFeedback")
    found = versions.audit(by=None, benchmark=benchmark, bootstrap=100).result
    hard = next(one for one in found["recurring"] if one["tier"] == "hard")
    assert (found["n"], hard["recurring"], hard["opposite"]) == (1547, 385, 120)
    made = versions.clean(by=None, benchmark=benchmark, rules=["contradicting", "repeated"], version="2")
    # every pair stands in two tiers at most: 120 contradicting pairs lose both cases, 265 repeated ones one case
    assert made.made["left_out"] == {"contradicting": 240, "repeated": 265}
    again = versions.audit(by=None, benchmark=made, bootstrap=0).result
    assert again["n"] == 1547 - 240 - 265
    assert again["repeated_pairs"] == []
