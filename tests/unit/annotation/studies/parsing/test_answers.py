"""Answers of every type, read and written in one form."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from annotation.studies.parsing.answers import (
    LONGEST_TEXT,
    MOST_SPANS,
    Answer,
    AnswerFormat,
    parse_answer,
    spell_answer,
    spell_best_worst,
)
from core.errors import InputError

SCALE = AnswerFormat("choice", ["1", "2", "3"])
NUMBER = AnswerFormat("number", limits={"least": 0, "most": 10, "step": 0.5, "unit": "s"})
SEVERAL = AnswerFormat("several", ["a", "b", "c"])
RANKING = AnswerFormat("ranking", responses=["1", "2", "3"])
SPANS = AnswerFormat("spans", ["wrong", "rude"], texts={"turn-1": "Hello 🙂 you", "turn-2": "Bye"})


def read(asked: AnswerFormat, text: str) -> tuple[str, object]:
    found = parse_answer(asked, text)
    return found.value, found.content


def refused(asked: AnswerFormat, text: str) -> str:
    with pytest.raises(InputError) as caught:
        parse_answer(asked, text)
    return caught.value.message


def test_a_choice_is_a_value_of_the_scale():
    assert read(SCALE, "2") == ("2", None)
    assert refused(SCALE, "4") == "'4' is not on the scale: 1, 2, 3."
    assert "''" in refused(SCALE, "")


@pytest.mark.parametrize(
    ("text", "value"),
    [("2", "2"), (" 2.50 ", "2.5"), ("1e1", "10"), ("-0", "0"), ("0.0", "0"), ("10.000", "10"), (".5", "0.5")],
)
def test_a_number_has_one_spelling(text, value):
    assert read(NUMBER, text) == (value, None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "'' is not a number; write it like 12 or 0.5."),
        ("two", "'two' is not a number; write it like 12 or 0.5."),
        ("1,5", "'1,5' is not a number; write it like 12 or 0.5."),
        ("1_0", "'1_0' is not a number; write it like 12 or 0.5."),
        ("٣", "'٣' is not a number; write it like 12 or 0.5."),
        ("NaN", "'NaN' is not a number that is counted with here."),
        ("-inf", "'-inf' is not a number that is counted with here."),
        ("1e300", "'1e300' is not a number that is counted with here."),
        ("10.5", "10.5 is out of range: from 0 to 10 s."),
        ("-1", "-1 is out of range: from 0 to 10 s."),
        ("0.25", "0.25 is not on a step of 0.5."),
    ],
)
def test_what_is_no_number_of_the_criterion_is_refused(text, said):
    assert refused(NUMBER, text) == said


def test_bounds_and_steps_may_be_missing():
    assert read(AnswerFormat("number"), "-12345.678") == ("-12345.678", None)
    assert refused(AnswerFormat("number", limits={"least": 1}), "0") == "0 is out of range: at least 1."
    assert refused(AnswerFormat("number", limits={"most": 1}), "2") == "2 is out of range: at most 1."
    assert read(AnswerFormat("number", limits={"least": 0.1, "step": 0.1}), "0.7") == ("0.7", None)
    assert "15 places" in refused(AnswerFormat("number"), "0.1234567890123456")


@given(st.decimals(min_value=-(10**9), max_value=10**9, places=6))
def test_a_number_written_is_read_as_itself(number):
    once = parse_answer(AnswerFormat("number"), str(number))
    assert parse_answer(AnswerFormat("number"), once.value) == once
    assert float(once.value) == float(number)


def test_a_set_stands_in_scale_order_and_each_once():
    assert read(SEVERAL, "c|a|c") == ("a|c", None)
    assert read(SEVERAL, "-") == ("-", None)
    assert refused(SEVERAL, "a|d") == "'d' is not on the scale: a, b, c."
    assert refused(SEVERAL, "") == "'' is not on the scale: a, b, c."


def test_a_set_keeps_to_its_limits():
    asked = AnswerFormat("several", ["a", "b", "c"], {"least": 1, "most": 2})
    assert refused(asked, "-") == "Choose 1 to 2, not 0."
    assert refused(asked, "a|b|c") == "Choose 1 to 2, not 3."
    assert refused(AnswerFormat("several", ["a", "b"], {"least": 1, "most": 1}), "a|b") == "Choose 1, not 2."


def test_a_ranking_names_every_response_once():
    assert read(RANKING, "2 > 1>3") == ("2>1>3", None)
    for text in ("2>1", "2>1>3>4", "2>1>1", "", "2>>1", "A>B>C"):
        assert refused(RANKING, text) == "Rank every response once: 1, 2, 3."


def test_ties_are_taken_only_where_they_are_allowed():
    assert refused(RANKING, "3=1>2") == "Give each response a rank of its own."
    assert read(AnswerFormat("ranking", limits={"ties": True}, responses=["1", "2", "3"]), "3=1>2") == ("1=3>2", None)


def test_best_and_worst_are_a_ranking_of_three_groups():
    asked = AnswerFormat("ranking", limits={"best_worst": True}, responses=["1", "2", "3", "4"])
    assert spell_best_worst("3", "1", asked.responses) == "3>2=4>1"
    assert read(asked, "3>4=2>1") == ("3>2=4>1", None)
    for text in ("1>2>3>4", "1=2>3>4", "1>2>3=4", "1=2=3=4"):
        assert refused(asked, text) == "Name one best and one worst response."
    two = AnswerFormat("ranking", limits={"best_worst": True}, responses=["1", "2"])
    assert read(two, spell_best_worst("2", "1", two.responses)) == ("2>1", None)


def test_spans_count_characters_of_the_source_and_stand_in_its_order():
    marked = [
        {"part": "turn-2", "start": 0, "end": 3, "category": "rude"},
        {"part": "turn-1", "start": 6, "end": 7, "category": "wrong", "text": "made up by the page"},
        {"part": "turn-2", "start": 0, "end": 3, "category": "rude"},
    ]
    assert read(SPANS, json.dumps(marked)) == (
        "2",
        [
            {"part": "turn-1", "start": 6, "end": 7, "category": "wrong", "text": "🙂"},
            {"part": "turn-2", "start": 0, "end": 3, "category": "rude", "text": "Bye"},
        ],
    )


def test_that_nothing_was_found_is_an_answer():
    assert read(SPANS, "[]") == ("0", [])


@pytest.mark.parametrize(
    "change",
    [
        {"part": "turn-9"},
        {"part": ["turn-1"]},
        {"start": 3, "end": 3},
        {"start": -1},
        {"end": 99},
        {"end": 2.0},
        {"start": True},
        {"start": None},
    ],
)
def test_a_span_that_lies_elsewhere_is_refused(change):
    one = {"part": "turn-1", "start": 0, "end": 2, "category": "rude"} | change
    assert refused(SPANS, json.dumps([one])) == "The marked words are not in what is asked about."


def test_a_span_needs_a_category_and_spans_are_not_without_end():
    one = {"part": "turn-1", "start": 0, "end": 2}
    assert refused(SPANS, json.dumps([one])) == "Say what is marked: wrong, rude."
    assert refused(SPANS, json.dumps([one | {"category": ["rude"]}])) == "Say what is marked: wrong, rude."
    assert refused(SPANS, json.dumps(["x"])) == "Say what is marked: wrong, rude."
    for text in ("", "nothing", "{", "[" * 5000):
        assert refused(SPANS, text) == "The marked words cannot be read."
    for text in ("{}", "1", json.dumps([one] * (MOST_SPANS + 1))):
        assert refused(SPANS, text) == f"Mark at most {MOST_SPANS} passages."


def test_a_span_may_be_quoted():
    def quoted(**given):
        return json.dumps([{"category": "wrong", **given}])

    found = [{"part": "turn-1", "start": 6, "end": 7, "category": "wrong", "text": "🙂"}]
    assert read(SPANS, quoted(quote="🙂")) == ("1", found)
    assert read(SPANS, quoted(quote="🙂", part="turn-1", start=6)) == ("1", found)
    assert "more than once" in refused(SPANS, quoted(quote="l"))
    assert read(SPANS, quoted(quote="l", start=3))[1] == [
        {"part": "turn-1", "start": 3, "end": 4, "category": "wrong", "text": "l"}
    ]
    for missing in ({"quote": ""}, {"quote": "nowhere"}, {"quote": "🙂", "part": "turn-2"}, {"quote": "l", "start": 1}):
        assert "is not in what is asked about" in refused(SPANS, quoted(**missing))


def test_a_span_may_be_asked_how_severe_it_is():
    asked = AnswerFormat("spans", ["wrong"], {"severities": ["minor", "major"]}, texts={"turn-1": "Hello"})
    one = {"part": "turn-1", "start": 0, "end": 2, "category": "wrong"}
    assert read(asked, json.dumps([one | {"severity": "major"}]))[1] == [one | {"severity": "major", "text": "He"}]
    assert refused(asked, json.dumps([one])) == "Say how severe each marked passage is: minor, major."


def test_a_text_is_kept_whole_and_counted_in_words():
    assert read(AnswerFormat("text"), "  Too long,\r\nand dull. ") == ("4", {"text": "Too long,\nand dull."})
    assert refused(AnswerFormat("text"), " \n ") == "Write something."
    assert refused(AnswerFormat("text", limits={"longest": 3}), "four") == "Write at most 3 characters; this has 4."
    assert "at most 20,000" in refused(AnswerFormat("text"), "x" * (LONGEST_TEXT + 1))


def test_a_rewrite_is_another_text_than_it_began_with():
    asked = AnswerFormat("rewrite", original="One\r\ntwo ")
    assert refused(asked, "One\ntwo") == "Nothing was changed yet."
    assert read(asked, "One\ntwo, three") == ("3", {"text": "One\ntwo, three"})


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (SCALE, "3"),
        (NUMBER, "7.5"),
        (SEVERAL, "-"),
        (SEVERAL, "a|b"),
        (RANKING, "3>1>2"),
        (SPANS, '[{"part": "turn-1", "start": 6, "end": 7, "category": "wrong"}]'),
        (SPANS, "[]"),
        (AnswerFormat("text"), "Why?\nWhy not."),
        (AnswerFormat("rewrite", original="x"), "y"),
    ],
)
def test_what_is_spelled_is_read_as_the_same_answer(asked, text):
    answer = parse_answer(asked, text)
    assert isinstance(answer, Answer)
    assert parse_answer(asked, spell_answer(answer)) == answer
