"""Which column is what, by name and by content."""

from __future__ import annotations

import pytest

from annotation.corpus.parsing.guessing import find_columns, guess_mapping, normalise
from core.files.tables.rows import TableRow

TALK = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
WRITTEN = "User: Hi\nAssistant: Hello"


def guess(row: dict, *more: dict) -> dict:
    rows = [TableRow(number, one) for number, one in enumerate((row, *more), start=1)]
    return guess_mapping(find_columns(rows)).to_document()


@pytest.mark.parametrize(
    ("row", "kind", "columns"),
    [
        (
            {"ID": "1", "Prompt": "?", "Model Response": "!"},
            "dialogues",
            {"id": "ID", "user": "Prompt", "assistant": "Model Response"},
        ),
        ({"x": "1", "y": WRITTEN}, "dialogues", {"turns": "y"}),
        ({"id": "1", "log": {"chat": TALK}}, "dialogues", {"id": "id", "turns": "log.chat"}),
        ({"id": "1", "speaker": "user", "text": "Hi"}, "dialogues", {"id": "id", "role": "speaker", "content": "text"}),
        (
            {
                "promptId": "1",
                "promptText": "?",
                "responseA": "x",
                "responseB": "y",
                "winner": "model_a",
                "category": "k",
            },
            "pairs",
            {
                "id": "promptId",
                "response_1": "responseA",
                "response_2": "responseB",
                "label": "winner",
                "kind": "category",
            },
        ),
        (
            {"prompt": "?", "chosen": "x", "rejected": "y"},
            "pairs",
            {"question": "prompt", "chosen": "chosen", "rejected": "rejected"},
        ),
        (
            {"item_id": "1", "annotator": "ann", "score": "4"},
            "ratings",
            {"item": "item_id", "rater": "annotator", "value": "score"},
        ),
        ({"name": "Ann", "persona": "A gardener"}, "profiles", {"name": "name", "persona": "persona"}),
        (
            {"description": "Book", "goal": "a table", "domain": "Food"},
            "tasks",
            {"description": "description", "goal": "goal", "domains": "domain"},
        ),
    ],
)
def test_a_guess_by_name_and_content(row, kind, columns):
    assert guess(row) == {"kind": kind, "columns": columns}


def test_a_label_of_other_words_is_none():
    found = guess({"response_a": "x", "response_b": "y", "label": "spam"})
    assert "label" not in found["columns"]


def test_an_empty_column_is_not_guessed():
    found = guess({"question": "?", "prompt": "", "answer": "!"})
    assert found["columns"] == {"user": "question", "assistant": "answer"}


def test_no_column_is_guessed_twice():
    row = {"id": "1", "prompt": "?", "question": "??", "input": "???", "response": "!", "model": "m", "messages": TALK}
    columns = guess(row)["columns"]
    assert len(set(columns.values())) == len(columns)


@pytest.mark.parametrize(
    ("name", "normal"),
    [("Response A", "response_a"), ("responseA", "response_a"), (" Antwort-A ", "antwort_a"), ("MODEL", "model")],
)
def test_names_are_compared_without_their_spelling(name, normal):
    assert normalise(name) == normal


def test_at_most_three_hundred_columns_are_offered():
    assert len(find_columns([TableRow(1, {f"c{number}": 1 for number in range(400)})])) == 300
