"""The demo material keeps the promises its README makes."""

import csv
import json
from collections import Counter, defaultdict
from itertools import pairwise
from statistics import mean

import pytest

from tests.support.paths import ROOT

DEMO = ROOT / "fixtures" / "demo"
DOMAINS = {
    "Alarm",
    "Books",
    "Calendar",
    "Events",
    "Flights",
    "Hotels",
    "Music",
    "Movies",
    "Restaurants",
    "Shopping",
}
FIVE_POINT = ["naturalness_user", "naturalness_assistant", "coherence_user", "coherence_assistant"]


def records(name):
    lines = (DEMO / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def rows(name):
    with (DEMO / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def words(text):
    return len(text.split())


@pytest.fixture(scope="module")
def profiles():
    return {record["id"]: record for record in records("profiles.jsonl")}


@pytest.fixture(scope="module")
def tasks():
    return {record["id"]: record for record in records("tasks.jsonl")}


@pytest.fixture(scope="module")
def dialogues():
    return {record["id"]: record for record in records("dialogues.jsonl")}


@pytest.fixture(scope="module")
def pairs():
    return {record["id"]: record for record in records("pairs.jsonl")}


@pytest.fixture(scope="module")
def quality():
    return {row["dialogue_id"]: row for row in rows("designed_quality.csv")}


@pytest.fixture(scope="module")
def preference():
    return {row["pair_id"]: row for row in rows("designed_preference.csv")}


@pytest.mark.parametrize(
    ("name", "at_least"),
    [("profiles.jsonl", 10), ("tasks.jsonl", 20), ("dialogues.jsonl", 84), ("pairs.jsonl", 84)],
)
def test_enough_records_with_unique_ids(name, at_least):
    ids = [record["id"] for record in records(name)]
    assert len(ids) >= at_least
    assert len(set(ids)) == len(ids)
    assert all(id_.startswith("demo-") for id_ in ids)


@pytest.mark.parametrize(
    ("table", "column", "material"),
    [
        ("designed_quality.csv", "dialogue_id", "dialogues.jsonl"),
        ("designed_preference.csv", "pair_id", "pairs.jsonl"),
    ],
)
def test_every_record_has_exactly_one_designed_row(table, column, material):
    designed = Counter(row[column] for row in rows(table))
    assert designed == Counter(record["id"] for record in records(material))


def test_readme_states_the_counts():
    readme = (DEMO / "README.md").read_text(encoding="utf-8")
    for name in ["profiles.jsonl", "tasks.jsonl", "dialogues.jsonl", "pairs.jsonl"]:
        line = next(line for line in readme.splitlines() if line.startswith(f"| `{name}`"))
        assert line.endswith(f"| {len(records(name))} |")


# People


def test_profiles_are_complete(profiles):
    for id_, profile in profiles.items():
        assert set(profile["interests"]) == DOMAINS, id_
        assert len(profile["preferences"]) >= 6, id_
        assert len(profile["interactions"]) >= 4, id_
        assert 3 <= len(profile["memories"]) <= 6, id_
        assert {"age", "gender", "occupation", "home"} <= set(profile["demographics"]), id_


def test_preferences_are_lists_of_text(profiles):
    for id_, profile in profiles.items():
        for domain, kinds in profile["preferences"].items():
            for kind, values in kinds.items():
                assert values, (id_, domain, kind)
                assert all(isinstance(value, str) and value for value in values), (id_, domain, kind)


def test_masked_domains_are_empty(profiles):
    for id_, profile in profiles.items():
        masked = {domain for domain, interested in profile["interests"].items() if not interested}
        assert masked, id_
        assert not masked & set(profile["preferences"]), id_
        assert not masked & set(profile["interactions"]), id_


# Tasks


def test_tasks_cover_every_domain(tasks):
    single = [task for task in tasks.values() if len(task["domains"]) == 1]
    multi = [task for task in tasks.values() if len(task["domains"]) > 1]
    assert len(single) >= 15
    assert len(multi) >= 5
    assert {domain for task in single for domain in task["domains"]} == DOMAINS
    assert all(set(task["domains"]) <= DOMAINS for task in multi)


def test_preference_types_exist_in_some_profile(tasks, profiles):
    known = defaultdict(set)
    for profile in profiles.values():
        for domain, kinds in profile["preferences"].items():
            known[domain] |= set(kinds)
    for id_, task in tasks.items():
        available = set().union(*(known[domain] for domain in task["domains"]))
        assert task["preference_types"], id_
        assert set(task["preference_types"]) <= available, id_


# Dialogues


def test_dialogues_refer_to_people_and_tasks(dialogues, profiles, tasks):
    assert {dialogue["profile_id"] for dialogue in dialogues.values()} == set(profiles)
    assert {dialogue["task_id"] for dialogue in dialogues.values()} == set(tasks)


def test_dialogues_respect_the_mask(dialogues, profiles, tasks):
    for id_, dialogue in dialogues.items():
        interests = profiles[dialogue["profile_id"]]["interests"]
        assert all(interests[domain] for domain in tasks[dialogue["task_id"]]["domains"]), id_


def test_turns_alternate_from_the_user_on(dialogues):
    for id_, dialogue in dialogues.items():
        roles = [turn["role"] for turn in dialogue["turns"]]
        assert 3 <= len(roles) <= 10, id_
        assert roles[0] == "user", id_
        assert all(first != second for first, second in pairwise(roles)), id_
        assert set(roles) == {"user", "assistant"}, id_
        assert all(turn["content"].strip() for turn in dialogue["turns"]), id_


def test_situations_are_complete(dialogues):
    fields = {"location", "device", "time_of_day", "day", "environment"}
    for id_, dialogue in dialogues.items():
        assert set(dialogue["situation"]) == fields, id_
        assert all(dialogue["situation"].values()), id_


def test_no_message_is_used_twice(dialogues):
    contents = Counter(turn["content"] for dialogue in dialogues.values() for turn in dialogue["turns"])
    assert [text for text, count in contents.items() if count > 1] == []


def test_awkward_content_is_there(dialogues):
    users = [turn for turn in dialogues["demo-d07"]["turns"] if turn["role"] == "user"]
    assert any("<b>bold</b>" in turn["content"] for turn in users)
    assert any("<script>alert(1)</script>" in turn["content"] for turn in users)
    contents = [turn["content"] for dialogue in dialogues.values() for turn in dialogue["turns"]]
    assert max(words(content) for content in contents) >= 200
    assert any("\n- " in content for content in contents)
    assert any("謝" in content for content in contents)


def test_assistants_and_conditions_are_balanced(dialogues):
    cells = Counter((dialogue["assistant_model"], dialogue["condition"]) for dialogue in dialogues.values())
    expected = {(model, shown) for model in ("orchid-large", "fern-small") for shown in ("base", "base+I")}
    assert set(cells) == expected
    assert len(set(cells.values())) == 1


# The quality they were written to have


@pytest.mark.parametrize(
    ("column", "scale"),
    [
        ("task_completion", ["yes", "no"]),
        ("personalization", list("1234")),
        *((name, list("12345")) for name in FIVE_POINT),
    ],
)
def test_scales_are_used_whole_and_evenly(column, scale, quality):
    used = Counter(row[column] for row in quality.values())
    assert set(used) == set(scale)
    # no level holds less than a tenth of the dialogues or more than two thirds
    assert min(used.values()) >= len(quality) / 10
    assert max(used.values()) <= len(quality) * 2 / 3


@pytest.mark.parametrize(
    ("field", "better", "worse"),
    [("assistant_model", "orchid-large", "fern-small"), ("condition", "base+I", "base")],
)
@pytest.mark.parametrize("column", ["personalization", "naturalness_assistant", "coherence_assistant"])
def test_the_better_group_is_better_with_overlap(field, better, worse, column, dialogues, quality):
    levels = defaultdict(list)
    for id_, dialogue in dialogues.items():
        levels[dialogue[field]].append(int(quality[id_][column]))
    assert mean(levels[better]) > mean(levels[worse])
    assert min(levels[better]) < max(levels[worse])


# Pairs


def test_pairs_refer_to_people(pairs, profiles):
    assert {pair["profile_id"] for pair in pairs.values()} == set(profiles)
    assert {pair["kind"] for pair in pairs.values()} == {"general", "specific"}


def test_responses_differ_and_have_30_to_120_words(pairs):
    for id_, pair in pairs.items():
        assert pair["question"].strip(), id_
        assert pair["response_1"] != pair["response_2"], id_
        for response in (pair["response_1"], pair["response_2"]):
            assert 30 <= words(response) <= 120, id_


def test_preferred_positions_and_difficulties_are_balanced(preference):
    preferred = Counter(row["preferred"] for row in preference.values())
    assert set(preferred) == {"1", "2", "tie"}
    assert abs(preferred["1"] - preferred["2"]) <= 4
    assert 1 <= preferred["tie"] <= len(preference) / 8
    difficulty = Counter(row["difficulty"] for row in preference.values())
    assert set(difficulty) == {"easy", "medium", "hard"}
    assert min(difficulty.values()) >= len(preference) / 4


@pytest.mark.parametrize("length", [words, len], ids=["words", "characters"])
def test_length_does_not_predict_the_better_response(length, pairs, preference):
    correct = []
    for id_, row in preference.items():
        if row["preferred"] == "tie":
            continue
        first, second = length(pairs[id_]["response_1"]), length(pairs[id_]["response_2"])
        correct.append(("1" if first > second else "2") == row["preferred"])
    assert 0.4 <= mean(correct) <= 0.6


@pytest.mark.parametrize("level", ["easy", "medium", "hard"])
def test_length_predicts_nothing_within_a_difficulty(level, pairs, preference):
    correct = [
        ("1" if words(pairs[id_]["response_1"]) > words(pairs[id_]["response_2"]) else "2") == row["preferred"]
        for id_, row in preference.items()
        if row["difficulty"] == level and row["preferred"] != "tie"
    ]
    assert 0.4 <= mean(correct) <= 0.6
