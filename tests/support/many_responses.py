"""Items of three responses with all that a response may hold, and a rubric of eight criteria of six types."""

from __future__ import annotations

from typing import Any

from tests.support.answer_types import PIXEL

RUBRIC: dict[str, Any] = {
    "kind": "pair",
    "criterion": [
        {"key": "best", "question": "Which is best?", "category": ["1", "2", "3", "tie"]},
        {
            "key": "helpful",
            "type": "ordinal",
            "unit": "response",
            "question": "How helpful is it?",
            "category": ["1", "2", "3"],
        },
        {"key": "order", "type": "ranking", "question": "Rank them."},
        {"key": "ends", "type": "ranking", "question": "Best and worst?", "limits": {"best_worst": True}},
        {"key": "share", "type": "number", "question": "How much is done?", "limits": {"least": 0, "most": 100}},
        {"key": "faults", "type": "multi_choice", "question": "What is missing?", "category": ["time", "place"]},
        {
            "key": "errors",
            "type": "span",
            "unit": "response",
            "question": "Mark what is wrong.",
            "category": ["wrong"],
            "required": False,
        },
        {"key": "why", "type": "text", "question": "Why?", "required": False},
    ],
}
"""Of six types: choice, ranking, number, several, spans, text."""

MARKDOWN = """# Fish {n}

Some are **red**, some are *blue*:

| fish | colour |
| --- | --- |
| one | red |
| two | blue |

```python
def count(fish: int) -> int:
    return fish + {n}
```
"""


def build_record(n: int) -> dict[str, Any]:
    """A record of three responses: Markdown with code and a table, a picture, and a dialogue with a call of a tool."""
    call = {"id": "c1", "function": {"name": "fish", "arguments": f'{{"n": {n}}}'}}
    return {
        "id": f"q{n}",
        "question": f"How many fish are there in pond {n}?",
        "responses": [
            {"text": MARKDOWN.format(n=n), "model": "m1"},
            {
                "text": [{"type": "text", "text": "There are two."}, {"type": "image_url", "image_url": PIXEL}],
                "model": "m2",
            },
            {
                "model": "m3",
                "turns": [
                    {"role": "user", "content": "How many fish?"},
                    {"role": "assistant", "content": "I look.", "tool_calls": [call]},
                    {"role": "tool", "content": "2", "tool_call_id": "c1"},
                    {"role": "assistant", "content": "Two."},
                ],
            },
        ],
    }
