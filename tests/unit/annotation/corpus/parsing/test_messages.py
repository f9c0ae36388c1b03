"""Messages in the spellings of many tools become the same turns."""

from __future__ import annotations

import pytest

from annotation.corpus.parsing.messages import is_dialogue, to_turns
from annotation.corpus.parsing.records import DialogueRecord
from core.errors import InputError

CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


@pytest.mark.parametrize(
    "call",
    [
        CALL,
        {"id": "c", "function": "f", "arguments": {"a": 1}, "type": "function"},  # inspect_ai
        {"id": "c", "name": "f", "args": {"a": 1}, "type": "tool_call"},  # LangChain
    ],
)
def test_calls_of_tools_are_spelt_as_openai_does(call):
    turns = to_turns([{"role": "user", "content": "?"}, {"role": "assistant", "content": None, "tool_calls": [call]}])
    assert turns[1] == {"role": "assistant", "content": "", "tool_calls": [CALL]}
    assert DialogueRecord.model_validate({"id": "1", "turns": turns}).turns[1].content == 'Tool call f:\n{"a": 1}'


def test_parts_that_are_no_text_are_kept_as_given():
    (turn,) = to_turns([{"role": "user", "content": [{"type": "text", "text": "See:"}, IMAGE]}])
    assert turn == {"role": "user", "content": [{"type": "text", "text": "See:"}, IMAGE]}


def test_results_of_tools_with_several_parts_and_errors():
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    given = [
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": parts, "is_error": True}]},
        {"role": "assistant", "content": "Sorry."},
    ]
    assert to_turns(given)[0] == {"role": "tool", "content": "a\nb", "tool_call_id": "c", "is_error": True}


def test_nulls_of_parquet_are_dropped_and_other_keys_kept():
    given = [{"role": "user", "content": "Hi", "name": None, "language": "English", "tool_calls": None}]
    assert to_turns(given) == [{"role": "user", "content": "Hi", "language": "English"}]


def test_read_again_turns_stay_as_they_are():
    turns = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "See:", "parts": [IMAGE]},
        {"role": "assistant", "content": "", "tool_calls": [CALL], "reasoning_content": "Hm."},
        {"role": "tool", "content": "x", "tool_call_id": "c"},
    ]
    assert to_turns(turns) == turns


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "a dialogue is a list of turns"),
        ("Hi", "a dialogue is a list of turns"),
        ([{"role": "robot", "content": "Hi"}], "nobody knows who 'robot' is"),
        ([{"content": "Hi"}], "a turn has none of: role"),
        ([{"role": "user"}], "a turn has none of: content"),
        ([{"role": "user", "content": 3}], "a turn says text, not 3"),
        ([{"role": "assistant", "content": None}], "a turn says text, not None"),
        ([{"role": "system", "content": "x"}], "has no turn of a user or an assistant"),
    ],
)
def test_what_is_no_dialogue_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        to_turns(given)


@pytest.mark.parametrize("given", [None, [], [1], [{"a": 1}], [{"role": "user"}], "User: hi"])
def test_what_does_not_look_like_a_dialogue(given):
    assert not is_dialogue(given)
