"""Alice asks how large her study has to be, before there is one."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests.db.annotation.agreement.services.test_more_ratings import voted


def told(*words: object) -> str:
    out = StringIO()
    few = () if "--settle-tiers" in words else ("--simulations", "8")
    call_command("plan", *few, *map(str, words), stdout=out)
    return out.getvalue()


def refused(*words: object) -> str:
    with pytest.raises(CommandError) as raised:
        told(*words)
    assert raised.value.returncode == 2
    return str(raised.value)


@pytest.mark.long
def test_the_document() -> None:
    document = json.loads(told("--raters", 3, "--categories", 2, "--kappa", 0.6, "--width", 0.2, "--json"))
    assert document["ratings"] == 3 * document["items"]
    assert 100 < document["items"] < 200
    assert [one["raters"] for one in document["alternatives"]] == [2, 3, 4, 5, 7, 9]
    assert document["tiers"]["empty_bands"] == ["hard", "medium"]
    assert document["overlap"] == 13


@pytest.mark.long
def test_how_often_the_verdict_would_be_replace() -> None:
    words = ("--width", 0.3, "--items", "60,600", "--per-cluster", 15, "--json")
    few, many = json.loads(told(*words))["replace"]
    assert (few["design"]["n_clusters"], many["design"]["n_clusters"]) == (4, 40)
    assert [one["below"] for one in many["judges"]] == [0, 0.115]
    assert [one["replace"] for one in few["judges"]] == [0, 0], "4 clusters are not enough evidence"
    good, worse = (one["replace"] for one in many["judges"])
    assert good > 0.5 > 0.06 > worse
    assert "of judges 0.115 below the human ceiling (600 items in 40 clusters, 3 people, kappa 0.60)" in told(
        *words[:-1]
    )
    assert "at least 1" in refused("--per-cluster", 0)


@pytest.mark.long
def test_in_words() -> None:
    said = told("--width", 0.2)
    assert "items with 3 ratings each" in said
    assert "no item can be hard or medium" in said
    assert "13 ratings per item reach every tier" in said


@pytest.mark.long
def test_a_width_that_cannot_be_had() -> None:
    assert "No affordable number of items" in told("--width", 0.0001)


@pytest.mark.long
def test_expected_shares() -> None:
    even, skewed = (
        json.loads(told("--width", 0.2, "--shares", shares, "--json"))["items"] for shares in ("0.5,0.5", "0.9,0.1")
    )
    assert skewed > 2 * even


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--kappa", 1), "kappa is 1.0; it must be at least 0 and below 1"),
        (("--raters", 1), "agreement needs two of each"),
        (("--width", 3), "width"),
        (("--raters", 10**9), "no more than 100 of each"),
        (("--categories", 10**6), "no more than 100 of each"),
        (("--simulations", 10**20), "it must be from 1 to"),
        (("--seed", -1), "the seed is -1"),
        (("--shares", "half,half"), "field shares: 'half,half' is not a list of numbers"),
        (("--shares", "0.5,0.4"), "sum to 1"),
        (("--items", "inf"), "field items: 'inf' is not a list of numbers"),
        (("--cuts", "0.4,0.6"), "field cuts: '0.4,0.6' has 2 numbers, not 3"),
        (("--cuts", "0.8,0.6,0.4"), "ascending"),
        (("--ask",), "field ask: --ask belongs to --settle-tiers"),
        (("--criterion", "tone"), "--criterion belongs to --settle-tiers"),
        (("--ahead", 0), "--ahead belongs to --settle-tiers"),
        (("--agreement-cuts", "0.6,0.75,0.9"), "--agreement-cuts belongs to --settle-tiers"),
        (("--study", "Suits", "--settle-tiers", "--raters", 5), "--raters belongs to a plan for a new study"),
        (("--study", "Suits", "--settle-tiers", "--seed", 1), "--seed belongs to a plan for a new study"),
    ],
)
def test_bad_questions_are_refused_with_exit_code_2(words: tuple[object, ...], message: str) -> None:
    assert message in refused(*words)


def test_what_more_ratings_of_a_study_would_settle(db) -> None:
    study = voted().study
    words = ("--study", "Suits", "--settle-tiers")
    said = told(*words)
    assert "done: " in said
    assert "are expected to settle" in said
    document = json.loads(told(*words, "--ask", "--json"))
    assert document["asked"] == len(document["criteria"]["done"]["ask"]) > 0
    assert study.assignments.filter(state="open").count() == document["asked"]
    assert "Asked for one more rating of 0 items" in told(*words, "--ask")
    assert "no criterion is called 'nope'" in refused(*words, "--criterion", "nope")


@pytest.mark.parametrize("words", [("--settle-tiers",), ("--study", "Suits")])
def test_study_and_settle_tiers_go_together(words) -> None:
    assert "go together" in refused(*words)
