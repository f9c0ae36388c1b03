"""UltraFeedback: completions of several models with their scores, and the binarised form with a chosen and a rejected.

https://huggingface.co/datasets/openbmb/UltraFeedback,
https://huggingface.co/datasets/HuggingFaceH4/ultrafeedback_binarized
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from annotation.corpus.formats.base import (
    PREFERENCES,
    ChatFormat,
    Record,
    Row,
    build_pair,
    drop_nothing,
    identify,
    select,
)
from annotation.corpus.parsing.messages import is_dialogue, to_turns
from core.errors import gettext_noop


def recognise(row: Row) -> bool:
    return is_full(row) or all(is_dialogue(row.get(name)) for name in ("chosen", "rejected"))


def is_full(row: Row) -> bool:
    return "instruction" in row and isinstance(row.get("completions"), list)


def parse(row: Row) -> Iterator[Record]:
    """One item of all completions, with the best one by its overall score; of the binarised form one pair."""
    if is_full(row):
        yield gather_completions(row)
        return
    chosen, rejected = (to_turns(row[name]) for name in ("chosen", "rejected"))
    known = ("chosen", "rejected", "messages", "prompt", "id", "prompt_id")
    rest = {name: value for name, value in row.items() if name not in known}
    yield drop_nothing({**rest, "id": identify(row, "id", "prompt_id"), **build_pair(chosen, rejected)})


def gather_completions(row: Row) -> Record:
    completions = row["completions"]
    identity = identify(row, "id", content=[row["instruction"], [one.get("response") for one in completions]])
    return drop_nothing(
        {
            "id": identity,
            "question": row["instruction"],
            "responses": [{"text": one["response"], "model": str(one.get("model") or "")} for one in completions],
            "label": find_best([one.get("overall_score") for one in completions]),
            "scores": [read_ratings(one) for one in completions],
            "origin": row.get("source"),
        }
    )


def find_best(scores: Sequence[object]) -> str:
    """The number of the response with the highest score, a tie where several have it; empty where one has no score."""
    numbers = [score for score in scores if isinstance(score, int | float)]
    if len(numbers) < max(2, len(scores)):
        return ""
    best = [number for number, score in enumerate(numbers, start=1) if score == max(numbers)]
    return str(best[0]) if len(best) == 1 else "tie"


def read_ratings(completion: Row) -> dict[str, object]:
    """The ratings of a completion by aspect, and its scores over all."""
    rated = completion.get("annotations") or {}
    ratings = {name: one.get("Rating") for name, one in rated.items() if isinstance(one, Mapping)}
    return {**ratings, **select(completion, "overall_score", "fine-grained_score")}


FORMAT = ChatFormat(
    "ultrafeedback",
    "UltraFeedback",
    PREFERENCES,
    "pairs",
    gettext_noop(
        "Completions of one instruction with their scores become one item. The binarised form is read as well."
    ),
    '{"instruction": "…", "completions": [{"model": "…", "response": "…", "overall_score": 7.5, …}, …]}',
    "https://huggingface.co/datasets/openbmb/UltraFeedback",
    recognise,
    parse,
)
