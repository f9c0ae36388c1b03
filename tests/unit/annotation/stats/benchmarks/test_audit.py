"""Repeats, contradictions, shortcuts, scripts and keys of a small benchmark, by hand."""

from __future__ import annotations

import json
import math

import pytest

from annotation.stats.benchmarks import audit as audits, cleaning, repeats, scripts, shortcuts
from annotation.stats.benchmarks.audit import persona_keys
from annotation.stats.benchmarks.cases import Case


def case(name: str, tier: str, first: str, second: str, *, gold: str = "1", persona: str = "p", question: str = "q?"):
    return Case(name, "general", tier, persona, question, first, second, gold)


# A pair in hard and easy with opposite labels (one of them stored the other way round), one with the same label,
# one that stands alone.
CASES = [
    case("h1", "hard", "long one", "short"),
    case("e1", "easy", "short", "long one"),
    case("h2", "hard", "aa", "b", question="r?"),
    case("m2", "medium", "b", "aa", gold="2", question="r?"),
    case("e3", "easy", "same", "size", persona="z"),
]


def by_tier(found):
    return {one.tier: one for one in found if not one.kind}


def test_what_recurs_in_another_tier_and_with_which_label():
    found = by_tier(repeats.compute_recurring(CASES, bootstrap=0, seed=0))
    assert {tier: (one.n, one.recurring, one.opposite) for tier, one in found.items()} == {
        "": (5, 4, 2),
        "easy": (2, 1, 1),
        "medium": (1, 1, 0),
        "hard": (2, 2, 1),
    }
    assert found["hard"].recurring_share.value == 1.0
    assert found["hard"].opposite_share.value == 0.5
    assert found["hard"].opposite_share.n_items == 2


def test_a_pair_of_another_persona_or_question_is_another_pair():
    a, b = case("a", "hard", "x", "y"), case("b", "easy", "x", "y", persona="other")
    assert repeats.groups([a, b]) == []
    assert repeats.groups([a, case("c", "easy", "x", "y", question="other?")]) == []


def test_groups_say_whether_labels_contradict_each_other():
    assert [(group.cases, group.opposite) for group in repeats.groups(CASES)] == [
        (("h1", "e1"), True),
        (("h2", "m2"), False),
    ]


def test_labels_that_go_round():
    circle = [case("ab", "easy", "a", "b"), case("bc", "easy", "b", "c"), case("ca", "easy", "c", "a")]
    assert repeats.circles(circle) == [("ab", "bc", "ca")]
    # the same texts asked of another persona, or about something else, close no circle
    elsewhere = case("ca", "easy", "c", "a", persona="other")
    assert repeats.circles([*circle[:2], elsewhere]) == []
    assert repeats.circles([*circle[:2], case("ca", "easy", "c", "a", question="other?")]) == []
    assert repeats.circles([]) == []
    assert repeats.circles([*circle[:2], case("ac", "easy", "a", "c")]) == []
    # two opposite labels are a contradiction and no circle of three
    assert (
        repeats.circles([case("ab", "easy", "a", "b"), case("ba", "easy", "b", "a"), case("c", "easy", "c", "d")]) == []
    )


def test_equal_lengths_count_one_half():
    found = {one.tier: one.accuracy for one in shortcuts.shortcuts(CASES, bootstrap=0, seed=0) if "longer" in one.rule}
    # all: h1 1, e1 0, h2 1, m2 1, e3 0.5
    assert found[""].value == pytest.approx(3.5 / 5)
    assert found["easy"].value == pytest.approx(0.25)
    assert found["easy"].n_items == 2


def test_layout_is_counted_by_its_marks():
    assert shortcuts.structure("# Title\n- one\n2. two\nand **bold** words - not a list") == 4


def test_a_case_without_gold_takes_no_part_in_rules():
    assert math.isnan(shortcuts.RULES["the longer response"](case("a", "easy", "aa", "b", gold="")))


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("去哪里旅行？", "Han"),
        ("Where to go?", "Latin"),
        ("Куда поехать?", "Cyrillic"),
        ("どこへ行きますか", "Kana"),
        ("去日本吃お好み焼き和拉面，再去爬山，晚上住在温泉旅馆，第二天去看博物馆和公园", "Han"),
        ("ab 去哪", "mixed"),
        ("123 ?!", "no letters"),
        ("", "no letters"),
    ],
)
def test_scripts_of_texts(text, script):
    assert scripts.detect_scripts(["", text, "山"]) == ["no letters", script, "Han"]


def test_scripts_are_the_same_however_many_texts_are_counted_together(monkeypatch):
    texts = ["去哪里", "", "Where to?", "どこへ行きますか", "\ud800 lone", "ab 去哪", "𝒜 math"] * 5
    together = scripts.detect_scripts(texts)
    monkeypatch.setattr(scripts, "AT_ONCE", 3)
    assert scripts.detect_scripts(texts) == together
    assert together[4] == "Latin"


def test_responses_in_another_script_than_the_question():
    cases = [
        case("a", "easy", "在山里", "in the hills", question="去哪里？"),
        case("b", "easy", "in the hills", "在山里", question="去哪里？", persona="z"),
        case("c", "easy", "山", "水", question="去哪里？"),
    ]
    found = scripts.script_mix(cases, bootstrap=0, seed=0)
    assert found.other == ("a", "b")
    assert found.other_than_question.value == pytest.approx(2 / 3)
    assert (found.choosing_the_question.value, found.choosing_the_question.n_items) == (0.5, 2)


def test_a_rare_key_that_resembles_a_usual_one_is_named():
    usual = {"Personality": {"Sensing_or_Intuition": "S", "Judging_or_Perceiving": "J"}}
    odd = {"Personality": {"Sensing_or_Intution": "S", "Judging_or_Perceiving": "J"}, "Bias": "none"}
    found = persona_keys([usual] * 19 + [odd])
    assert found.rare == ("Bias", "Personality.Sensing_or_Intution")
    assert found.like == {"Personality.Sensing_or_Intution": "Personality.Sensing_or_Intuition"}


def test_nearly_the_same():
    long = "Take the train to the coast on Friday evening and stay for two nights at the inn by the harbour."
    assert repeats.nearly_same_responses([case("a", "easy", long, long + "!"), case("b", "easy", long, "no")]) == ["a"]
    first, second = case("a", "easy", long, "stay at home"), case("b", "hard", "stay at home!", long + "!")
    assert repeats.nearly_same_cases([first, second]) == [("a", "b")]
    assert repeats.nearly_same_cases([first, first]) == []


def test_cleaning_follows_its_rules_in_their_order():
    found = cleaning.find_left_out(CASES, ["repeated", "contradicting"])
    # the contradicting pair goes as a whole before the repeated one is looked at; of that the hardest copy stays
    assert found == {
        "h1": "contradicting: its pair has the opposite label in easy",
        "e1": "contradicting: its pair has the opposite label in hard",
        "m2": "repeated: its pair stands in hard too, as h2",
    }
    assert cleaning.find_left_out([case("a", "easy", "a", "b", persona="")], ["without_persona"]) == {
        "a": "without_persona: it has no persona"
    }
    for wrong in ([], ["everything"]):
        with pytest.raises(ValueError, match="contradicting"):
            cleaning.find_left_out(CASES, wrong)


def test_a_benchmark_of_nothing_is_undefined_with_a_reason():
    found = audits.audit([], [], bootstrap=10).to_json()
    assert found["n"] == 0
    assert found["nearly_same_responses"]["share"]["value"] is None
    assert found["nearly_same_responses"]["share"]["reason"] == "no case takes part"
    json.dumps(found, allow_nan=False)
