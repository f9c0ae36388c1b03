"""Alice sets a study up on the command line."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.studies.models.studies import Study
from tests.support.factories import DialogueFactory, ResponsePairFactory, UserFactory

pytestmark = pytest.mark.django_db


def told(*words: object) -> str:
    out = StringIO()
    call_command(*map(str, words), stdout=out)
    return out.getvalue()


def run(*words: object) -> dict:
    return json.loads(told(*words, "--json"))


def refused(*words: object) -> str:
    with pytest.raises(CommandError) as raised:
        told(*words)
    assert raised.value.returncode == 2
    return str(raised.value)


def test_a_study_from_nothing_to_open() -> None:
    for name in ("bob", "charlie"):
        UserFactory(username=name)
    DialogueFactory.create_batch(6, source="demo", condition="base")
    DialogueFactory.create_batch(2, source="demo", condition="base+I")
    DialogueFactory(source="other")

    made = run("study", "My pilot", "--criteria", "task_completion,personalization", "--overlap", 2, "--seed", 4)
    assert made == {
        "study": "My pilot",
        "slug": "my-pilot",
        "kind": "dialogue",
        "state": "draft",
        "criteria": ["task_completion", "personalization"],
        "each_turn": [],
        "overlap": 2,
        "most_overlap": None,
        "is_adaptive": False,
        "shown": ["goal", "situation", "preferences", "persona", "demographics", "interactions", "memories"],
        "seed": 4,
        "clustering": "",
        "content_form": "rendered",
        "warnings": [],
    }

    drawn = run(
        "sample", "my-pilot", "--method", "stratified", "--size", 4, "--strata", "condition", "--source", "demo"
    )
    assert (drawn["frame_size"], drawn["size"], drawn["filters"]) == (8, 4, {"source": ["demo"]})
    assert drawn["drawn"] == [
        {"stratum": "base", "size": 3, "probability": 0.5},
        {"stratum": "base+I", "size": 1, "probability": 0.5},
    ]

    ready = run("assign", "My pilot", "--annotators", "bob,charlie", "--open")
    assert ready == {
        "study": "My pilot",
        "state": "open",
        "annotators": ["bob", "charlie"],
        "overlap": 2,
        "items": 4,
        "ratings_planned": 8,
        "ratings_submitted": 0,
    }


def test_pairs_with_ties_and_all_criteria_by_default() -> None:
    ResponsePairFactory.create_batch(3)
    made = run("study", "Pairs", "--kind", "pair", "--allow-tie", "--shown", "persona")
    assert (made["criteria"], made["shown"]) == (["preference"], ["persona"])
    assert Study.objects.get().criteria.get().values == ["1", "2", "tie"]
    assert run("sample", "pairs")["method"] == "all"
    assert run("study", "Dialogues")["criteria"][0] == "task_completion"


def test_an_adaptive_overlap() -> None:
    made = run("study", "Votes", "--kind", "pair", "--overlap", 3, "--most-overlap", 9)
    assert (made["overlap"], made["most_overlap"], made["is_adaptive"]) == (3, 9, True)


def test_the_method_follows_from_what_is_given() -> None:
    DialogueFactory.create_batch(4)
    run("study", "One")
    assert run("sample", "one", "--size", 2)["method"] == "simple"
    run("study", "Two")
    assert run("sample", "two", "--size", 2, "--strata", "condition")["method"] == "stratified"


def test_a_person_is_told_what_happened_and_what_is_next() -> None:
    UserFactory(username="bob")
    DialogueFactory.create_batch(3)
    assert "Next: manage.py sample pilot" in told("study", "Pilot")
    assert "Drew 3 of 3" in told("sample", "pilot", "--method", "stratified", "--size", 3, "--strata", "condition")
    assert "2 more are needed" in told("assign", "pilot", "--annotators", "bob")


def test_bad_input_exits_with_2_and_changes_nothing() -> None:
    UserFactory(username="bob")
    assert "criteria" in refused("study", "Pilot", "--criteria", "charm")
    assert "no study called 'Nowhere'" in refused("sample", "Nowhere")
    run("study", "Pilot")
    assert "already" in refused("study", "Pilot")
    assert "Nothing in the corpus" in refused("sample", "pilot")
    assert "nobody called dora" in refused("assign", "pilot", "--annotators", "bob,dora")
    assert "draw a sample" in refused("assign", "pilot", "--annotators", "bob", "--open")
    assert not Study.objects.get().annotators.exists()


def test_clusters_are_named_shown_and_set_back() -> None:
    DialogueFactory.create_batch(2)
    run("study", "My pilot")
    run("sample", "my-pilot")
    assert run("clustering", "my-pilot", "none")["clustering"] == "none"
    assert run("clustering", "my-pilot")["clustering"] == "none", "only shown"
    assert run("clustering", "my-pilot", "")["clustering"] == ""
