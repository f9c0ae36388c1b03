"""Rubrics of every type of answer, for studies of dialogues and of pairs."""

from __future__ import annotations

from typing import Any

PIXEL = "data:image/png;base64," + (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

DIALOGUE: dict[str, Any] = {
    "kind": "dialogue",
    "criterion": [
        {"key": "done", "type": "binary", "question": "Is it done?"},
        {
            "key": "faults",
            "type": "multi_choice",
            "question": "What is missing?",
            "help": "All that you see.",
            "condition": {"criterion": "done", "values": ["no"]},
            "category": [{"value": "time", "label": "A time"}, {"value": "place", "label": "A place"}, "size"],
            "example": [{"good": True, "text": "A time, where none is named", "image": PIXEL}],
        },
        {
            "key": "share",
            "type": "number",
            "question": "How much is done?",
            "limits": {"least": 0, "most": 100, "step": 5, "unit": "%", "slider": True},
        },
        {
            "key": "errors",
            "type": "span",
            "question": "Mark what is wrong.",
            "limits": {"where": "assistant_turns", "severities": ["minor", "major"]},
            "category": [{"value": "wrong", "label": "Wrong"}, {"value": "rude", "label": "Rude"}],
        },
        {"key": "critique", "type": "text", "question": "What would help?", "required": False},
        {"key": "better", "type": "rewrite", "unit": "assistant_turn", "question": "Say it better.", "required": False},
    ],
}

PAIR: dict[str, Any] = {
    "kind": "pair",
    "criterion": [
        {"key": "preference", "question": "Which is better?", "category": ["1", "2", "tie"]},
        {
            "key": "helpful",
            "type": "ordinal",
            "unit": "response",
            "question": "How helpful is it?",
            "category": ["1", "2", "3"],
        },
        {"key": "order", "type": "ranking", "question": "Rank them.", "limits": {"ties": True}},
        {"key": "ends", "type": "ranking", "question": "Best and worst?", "limits": {"best_worst": True}},
        {
            "key": "errors",
            "type": "span",
            "unit": "response",
            "question": "Mark what is wrong.",
            "category": ["wrong", "rude"],
        },
        {
            "key": "why",
            "type": "text",
            "question": "Why the first?",
            "condition": {"criterion": "preference", "values": ["1"]},
        },
        {"key": "better", "type": "rewrite", "unit": "response", "question": "Say it better.", "required": False},
    ],
}
