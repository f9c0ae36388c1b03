"""Messages in parts become one source text, with the place of each part in it."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st
from pydantic import ValidationError

from annotation.corpus.parsing.records import PairRecord, Turn

CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}


def read(message: dict) -> tuple[Turn, list[tuple[str, str, str]]]:
    turn = Turn.model_validate(message)
    return turn, [(part.kind, part.name, turn.content[part.start : part.end]) for part in turn.parts]


@given(st.text(), st.sampled_from(["user", "assistant", "system"]))
def test_a_plain_message_stays_as_it_is(text, role):
    assert Turn.model_validate({"role": role, "content": text, "more": 1}).model_dump() == {
        "role": role,
        "content": text,
        "more": 1,
    }


@pytest.mark.parametrize(
    ("message", "text", "parts"),
    [
        (
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            'Tool call weather:\n{"city": "Oslo"}',
            [("tool_call", "weather", '{"city": "Oslo"}')],
        ),
        (
            {"role": "tool", "tool_call_id": "c1", "name": "weather", "content": "3 °C"},
            "Tool result weather:\n3 °C",
            [("tool_result", "weather", "3 °C")],
        ),
        (
            {"role": "assistant", "reasoning_content": "Hm.", "content": "Yes."},
            "Reasoning:\nHm.\n\nYes.",
            [("reasoning", "", "Hm."), ("text", "", "Yes.")],
        ),
        (
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "So."},
                    {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}},
                ],
            },
            'Reasoning:\nSo.\n\nTool call f:\n{\n  "a": 1\n}',
            [("reasoning", "", "So."), ("tool_call", "f", '{\n  "a": 1\n}')],
        ),
        (
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "4"}]},
            "Tool result:\n4",
            [("tool_result", "", "4")],
        ),
        (
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "See"},
                    {"type": "image_url", "image_url": {"url": "https://a.example/x.png"}},
                ],
            },
            "See\n\n[picture elsewhere: https://a.example/x.png]",
            [
                ("text", "", "See"),
                ("elsewhere", "https://a.example/x.png", "[picture elsewhere: https://a.example/x.png]"),
            ],
        ),
        (
            {
                "role": "assistant",
                "content": "It is.",
                "annotations": [{"type": "url_citation", "url_citation": {"title": "T", "url": "https://a.example"}}],
            },
            "It is.\n\nCitation T:\nhttps://a.example",
            [("text", "", "It is."), ("citation", "T", "https://a.example")],
        ),
    ],
)
def test_parts_of_messages_are_told_by_their_place(message, text, parts):
    turn, found = read(message)
    assert turn.content == text
    assert found == parts
    again = Turn.model_validate(turn.model_dump())
    assert again == turn  # what is exported is read back as it was


def test_several_texts_are_one_text():
    turn, found = read(
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "input_text", "text": "b"}]}
    )
    assert (turn.content, found) == ("a\n\nb", [])


def test_a_developer_speaks_as_the_system():
    assert Turn.model_validate({"role": "developer", "content": "Be kind.", "tool_calls": []}).role == "system"


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ({"role": "user", "content": [{"type": "video"}]}, "a part has a type"),
        ({"role": "user", "content": [{"type": "image"}]}, "lacks 'file'"),
        ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png,x"}}]}, "base64"),
        ({"role": "assistant", "content": None, "tool_calls": [{"id": 1}]}, "names a function"),
        ({"role": "user", "content": "abc", "parts": [{"kind": "text", "start": 0, "end": 9}]}, "0 to 9"),
        ({"role": "user", "content": "a\r\nb", "parts": [{"kind": "text", "start": 0, "end": 1}]}, "line ends"),
        ({"role": "user", "content": "abc", "parts": [{"kind": "image", "start": 0, "end": 1}]}, "names no file"),
        ({"role": "user", "content": "abc", "parts": [{"kind": "script", "start": 0, "end": 1}]}, "kind"),
    ],
)
def test_what_cannot_be_shown_is_refused_with_a_reason(message, says):
    with pytest.raises(ValidationError, match=says):
        Turn.model_validate(message)


def test_texts_of_a_pair_may_come_in_parts():
    image = {"type": "image", "file": "cat.png", "alt": "a cat"}
    pair = PairRecord.model_validate(
        {"id": 1, "question": [{"type": "text", "text": "What?"}, image], "response_1": "A cat.", "response_2": "No."}
    )
    assert pair.question == "What?\n\n[image: cat.png: a cat]"
    assert [part.kind for part in pair.parts["question"]] == ["text", "image"]
    plain = PairRecord.model_validate({"id": 1, "question": "q", "response_1": "a", "response_2": "b"})
    assert "parts" not in plain.model_dump()
