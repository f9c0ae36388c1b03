"""Samples written from public specifications, of formats that bring labels with their items."""

from __future__ import annotations

import json

import pytest

from annotation.corpus.exchange.dataset import Naming, Package
from annotation.corpus.exchange.registry import EXCHANGES
from core.files.input_files import InputFile, Problems
from core.files.writing import load_arrow
from tests.support.format_samples import ARENA, TALK

# https://huggingface.co/datasets/lmsys/mt_bench_human_judgments
FIRST_TURN = [{"role": "user", "content": "Name a colour."}, {"role": "assistant", "content": "Blue."}]
MT_BENCH = {
    "question_id": 81,
    "model_a": "alpaca-13b",
    "model_b": "gpt-3.5-turbo",
    "winner": "model_b",
    "judge": "author_2",
    "conversation_a": [
        *FIRST_TURN,
        {"role": "user", "content": "And a second?"},
        {"role": "assistant", "content": "Sorry."},
    ],
    "conversation_b": [
        *FIRST_TURN,
        {"role": "user", "content": "And a second?"},
        {"role": "assistant", "content": "Red."},
    ],
    "turn": 2,
}
GPT4 = {**MT_BENCH, "judge": ["gpt-4", "pair-v2"], "winner": "tie"}

# https://inspect.aisi.org.uk/eval-logs.html: an EvalLog with one EvalSample
INSPECT = {
    "version": 2,
    "status": "success",
    "eval": {"task": "weather", "model": "openai/gpt-4o", "created": "2026-01-02T03:04:05+00:00"},
    "samples": [
        {
            "id": 1,
            "epoch": 1,
            "input": "Is it raining in Ulm?",
            "target": "Yes",
            "messages": [
                {"id": "m1", "role": "user", "content": "Is it raining in Ulm?", "source": "input"},
                {
                    "id": "m2",
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [
                        {"id": "c1", "function": "weather", "arguments": {"city": "Ulm"}, "type": "function"}
                    ],
                },
                {"id": "m3", "role": "tool", "content": "rain", "tool_call_id": "c1", "function": "weather"},
                {"id": "m4", "role": "assistant", "content": "Yes.", "source": "generate"},
            ],
            "scores": {"match": {"value": "C", "answer": "Yes", "explanation": "It matches."}},
        }
    ],
}


def read(key: str, path) -> Package:
    return EXCHANGES[key].read(InputFile.from_path(path), Problems(), Naming(), {})


@pytest.fixture(params=["jsonl", "parquet"])
def votes(request, tmp_path):
    """Votes of people, as JSON Lines and as the hub serves them."""
    path = tmp_path / f"votes.{request.param}"
    if request.param == "jsonl":
        path.write_text(f"{json.dumps(MT_BENCH)}\n{json.dumps({**MT_BENCH, 'judge': 'expert_1', 'winner': 'tie'})}\n")
    else:
        arrow = load_arrow()
        rows = [MT_BENCH, {**MT_BENCH, "judge": "expert_1", "winner": "tie"}]
        arrow.parquet.write_table(arrow.Table.from_pylist(rows), path)
    return path


def test_votes_of_mt_bench(votes):
    (item,) = read("votes", votes).items
    assert item.record["id"] == "81-alpaca-13b-gpt-3.5-turbo-2"
    assert item.record["response_2"] == "Blue.\n\n---\n\nRed."
    assert [(one.rater, one.value, one.of_judge) for one in item.answers] == [
        ("author_2", "2", False),
        ("expert_1", "tie", False),
    ]


def test_a_model_that_votes_is_a_judge(tmp_path):
    (tmp_path / "v.jsonl").write_text(json.dumps(GPT4))
    (item,) = read("votes", tmp_path / "v.jsonl").items
    assert [(one.rater, one.value, one.of_judge) for one in item.answers] == [("gpt-4-pair-v2", "tie", True)]


def test_votes_of_the_arena(tmp_path):
    (tmp_path / "v.jsonl").write_text(json.dumps(ARENA))
    (item,) = read("votes", tmp_path / "v.jsonl").items
    assert [(one.rater, one.value) for one in item.answers] == [("arena_user_973", "2")]


def test_calls_of_tools_in_a_log_of_inspect_are_kept(tmp_path):
    (tmp_path / "log.json").write_text(json.dumps(INSPECT))
    package = read("inspect", tmp_path / "log.json")
    (item,) = package.items
    assert item.record["turns"] == TALK
    assert [(one.rater, one.value, one.note) for one in item.answers] == [
        ("match of openai/gpt-4o", "C", "It matches.")
    ]
