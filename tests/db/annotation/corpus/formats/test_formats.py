"""Each format by name on a sample of its specification: recognised as itself, read whole, and imported."""

from __future__ import annotations

import json

import pytest

from annotation.corpus.formats.registry import CHAT_FORMATS, find_format, recognise_format
from annotation.corpus.imports import tables
from annotation.corpus.models import Dialogue, ResponsePair
from annotation.corpus.parsing.mappings import ColumnMapping
from annotation.corpus.parsing.records import Turn
from core.errors import InputError
from core.files.input_files import InputFile
from tests.support import format_samples as samples
from tests.support.format_samples import CALL, SHORT, TALK

SYSTEM = {"role": "system", "content": "Be short."}
BLUE, NO = "Blue.", "No."

SAMPLES = {
    "openai": samples.OPENAI,
    "sharegpt": samples.SHAREGPT,
    "anthropic": samples.ANTHROPIC,
    "ultrafeedback": samples.ULTRAFEEDBACK,
    "ultrafeedback (binarised)": samples.BINARIZED,
    "hh_rlhf": samples.HH_RLHF,
    "openai_preferences": samples.PREFERENCES,
    "lmsys": samples.LMSYS,
    "wildchat": samples.WILDCHAT,
    "arena": samples.ARENA,
    "arena (55k)": samples.ARENA_55K,
    "opentelemetry": samples.OPENTELEMETRY,
    "opentelemetry (events)": samples.OLD_EVENTS,
    "langsmith": samples.LANGSMITH,
    "langfuse": samples.LANGFUSE,
    "mlflow": samples.MLFLOW,
    "mlflow (table)": samples.MLFLOW_ROW,
}


def name(sample: str) -> str:
    return sample.partition(" ")[0]


def read(sample: str) -> list[dict]:
    return list(find_format(name(sample)).parse(SAMPLES[sample]))


def sides(record: dict) -> dict[str, str]:
    """The responses by whether they are the better one."""
    better = record["label"]
    return {"chosen": record[f"response_{better}"], "rejected": record[f"response_{3 - int(better)}"]}


def test_there_is_a_sample_of_every_format():
    assert {name(sample) for sample in SAMPLES} == set(CHAT_FORMATS)


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_row_is_recognised_as_its_own_format(sample):
    found = recognise_format([SAMPLES[sample]])
    assert found is not None
    assert found.key == name(sample)


@pytest.mark.parametrize("sample", SAMPLES)
def test_an_import_keeps_what_was_read_and_a_second_changes_nothing(sample, db, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(SAMPLES[sample]) + "\n")
    file, mapping = InputFile.from_path(path), ColumnMapping(format=name(sample))
    outcome = tables.load(by=None, file=file, mapping=mapping, source="s")
    records = read(sample)
    assert sum(outcome.created.values()) == len(records) > 0
    stored = [*Dialogue.objects.all(), *ResponsePair.objects.all()]
    assert {row.external_id for row in stored} == {record["id"] for record in records}
    turns = [Turn.model_validate(turn).model_dump() for turn in records[0].get("turns", ())]
    assert all(row.turns == turns for row in stored if isinstance(row, Dialogue))
    assert sum(tables.load(by=None, file=file, mapping=mapping, source="s").created.values()) == 0


def test_openai_with_the_answer_of_its_completion():
    assert read("openai") == [
        {"id": "chatcmpl-1", "turns": [SYSTEM, *TALK], "assistant_model": "gpt-4o-2024-08-06"},
    ]


def test_sharegpt_with_calls_of_functions():
    (record,) = read("sharegpt")
    call = {**CALL, "id": ""}
    said = [SYSTEM, TALK[0], {**TALK[1], "tool_calls": [call]}, {"role": "tool", "content": "rain"}, TALK[3]]
    assert record == {"id": "s-1", "turns": said}


def test_anthropic_with_thoughts_and_results():
    (record,) = read("anthropic")
    thought = {**TALK[1], "reasoning_content": "I have to look."}
    assert record["turns"] == [SYSTEM, TALK[0], thought, TALK[2], TALK[3]]
    assert (record["id"], record["assistant_model"]) == ("a-1", "claude-sonnet-4-5")


def test_ultrafeedback_keeps_all_completions_of_an_instruction_together():
    (record,) = read("ultrafeedback")
    assert (record["question"], record["label"]) == ("Name a colour.", "tie")
    assert [one["text"] for one in record["responses"]] == [NO, BLUE, "Red!"]
    assert [one["model"] for one in record["responses"]] == ["alpaca-7b", "gpt-4", "llama-2-7b-chat"]
    assert record["scores"][0] == {"helpfulness": "2", "overall_score": 2.0, "fine-grained_score": 1.5}


@pytest.mark.parametrize("sample", ["ultrafeedback (binarised)", "openai_preferences"])
def test_a_preferred_answer(sample):
    (record,) = read(sample)
    assert record["question"] == "Name a colour."
    assert sides(record) == {"chosen": BLUE, "rejected": NO}


def test_hh_rlhf_parts_where_the_conversations_do():
    (record,) = read("hh_rlhf")
    assert record["question"] == "User: Hi\n\nAssistant: Hello.\n\nUser: Name a colour."
    assert sides(record) == {"chosen": "Blue: like the sky.", "rejected": NO}


def test_the_better_response_is_first_in_half_of_all_pairs():
    rows = [
        {"chosen": f"\n\nHuman: {n}\n\nAssistant: yes {n}", "rejected": f"\n\nHuman: {n}\n\nAssistant: no {n}"}
        for n in range(400)
    ]
    firsts = [next(iter(find_format("hh_rlhf").parse(row)))["label"] for row in rows]
    assert 160 < firsts.count("1") < 240


def test_conversations_that_begin_differently_are_refused():
    row = {"chosen": "\n\nHuman: a\n\nAssistant: b", "rejected": "\n\nHuman: c\n\nAssistant: d"}
    with pytest.raises(InputError, match="do not begin alike"):
        list(find_format("hh_rlhf").parse(row))


PICTURE = {"type": "image_url", "image_url": {"url": "https://example.org/blue.png"}}


def test_a_pair_keeps_the_pictures_of_its_question_and_its_responses():
    asked = [{"type": "text", "text": "Which is blue?"}, PICTURE]
    row = {
        "input": {"messages": [{"role": "user", "content": asked}]},
        "preferred_output": [{"role": "assistant", "content": [PICTURE]}],
        "non_preferred_output": [{"role": "assistant", "content": "None."}],
    }
    (pair,) = find_format("openai_preferences").parse(row)
    preferred, other = ("1", "2") if pair["label"] == "1" else ("2", "1")
    assert (pair["question"], pair[f"response_{preferred}"], pair[f"response_{other}"]) == (asked, [PICTURE], "None.")


def test_several_turns_with_a_picture_are_no_text():
    row = {
        **samples.PREFERENCES,
        "input": {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": [PICTURE]}]},
    }
    with pytest.raises(InputError, match="one of them is more than text"):
        list(find_format("openai_preferences").parse(row))


def test_lmsys_and_wildchat():
    assert read("lmsys") == [
        {
            "id": "33f01939a744455c869cb234afca47f1",
            "turns": SHORT,
            "assistant_model": "wizardlm-13b",
            "language": "English",
            "redacted": False,
            "flagged": False,
        }
    ]
    (record,) = read("wildchat")
    assert "22fd" not in json.dumps(record)
    assert "Mozilla" not in json.dumps(record)
    assert (record["country"], record["toxic"]) == ("United States", False)
    assert record["turns"][0] == {**SHORT[0], "language": "English"}


def test_battles_of_the_arena():
    (record,) = read("arena")
    assert (record["response_1"], record["response_2"], record["label"]) == ("Hello from A.", "Hello from B.", "2")
    (record,) = read("arena (55k)")
    assert record["question"] == "One?\n\n---\n\nAnd two?"
    assert (record["response_1"], record["response_2"], record["label"]) == (
        "Eins.\n\n---\n\nZwei.",
        "Un.\n\n---\n\n",
        "1",
    )


def test_spans_of_opentelemetry():
    (record,) = read("opentelemetry")
    assert record["turns"] == [SYSTEM, *TALK]
    assert record["id"] == "5B8EFFF798038103D269B633813FC60C-EEE19B7EC3C1B174"
    assert record["scores"] == {"Relevance": 0.25}
    assert (record["assistant_model"], record["session_id"]) == ("gpt-4o-2024-08-06", "conv-5")
    (older,) = read("opentelemetry (events)")
    assert older["turns"] == SHORT


@pytest.mark.parametrize(
    ("sample", "identity", "model", "scores"),
    [
        ("langsmith", "5b0d7b4e-0f5d-4a5b-8a6e-7f1d2c3b4a5f", "gpt-4o", {"user_score": 0.0}),
        ("langfuse", "trace-1", "gpt-4o", {"user-feedback": 0, "tone": "rude"}),
        ("mlflow", "tr-1", "gpt-4o", {"correct": False}),
        ("mlflow (table)", "tr-2", "", {}),
    ],
)
def test_traces_with_their_scores(sample, identity, model, scores):
    (record,) = read(sample)
    assert record["turns"] == SHORT
    assert (record["id"], record.get("assistant_model", ""), record.get("scores", {})) == (identity, model, scores)


@pytest.mark.parametrize(
    "row",
    [
        {**samples.LANGSMITH, "run_type": "tool"},
        {**samples.LANGSMITH, "outputs": None},
        {**samples.LANGSMITH, "inputs": {"x": 1}, "outputs": {"y": [1, 2]}},
    ],
)
def test_runs_without_a_conversation_give_nothing(row):
    assert list(find_format("langsmith").parse(row)) == []


def test_rows_without_a_conversation_are_counted(db, tmp_path):
    path = tmp_path / "runs.jsonl"
    tool = {**samples.LANGSMITH, "id": "t", "run_type": "tool"}
    path.write_text(f"{json.dumps(tool)}\n{json.dumps(samples.LANGSMITH)}\n")
    outcome = tables.load(by=None, file=InputFile.from_path(path), mapping=ColumnMapping(format="langsmith"))
    assert outcome.created["dialogues"] == 1
    assert "Rows that hold no conversation are left out: 1." in outcome.warnings


def attempt(file: InputFile, key: str) -> str | list[int]:
    """Why the file is refused as a whole, else the lines that are left out."""
    try:
        outcome = tables.load(by=None, file=file, mapping=ColumnMapping(format=key), on_error="skip")
    except InputError as error:
        return error.message
    return [problem["line"] for problem in outcome.skipped]


@pytest.mark.parametrize("key", CHAT_FORMATS)
@pytest.mark.parametrize(
    "row", [{}, {"messages": 3}, {"conversations": [{"from": "x"}]}, {"chosen": None}, {"a": [[1]]}]
)
def test_a_row_of_another_format_is_refused_by_line_and_never_crashes(key, row, db, tmp_path):
    path = tmp_path / "other.jsonl"
    path.write_text(json.dumps(row) + "\n")
    nothing = f"no row is a conversation in the format {CHAT_FORMATS[key].title}"
    assert attempt(InputFile.from_path(path), key) in (nothing, [1])
    assert not Dialogue.objects.exists()
    assert not ResponsePair.objects.exists()


def test_a_format_that_is_none_is_named():
    with pytest.raises(InputError, match="there is no format 'chatml'; there are opentelemetry"):
        find_format("chatml")


def test_a_row_of_another_shape_is_refused_without_words_of_python(db, tmp_path):
    path = tmp_path / "other.jsonl"
    path.write_text('{"chosen": 5, "rejected": {}}\n')
    with pytest.raises(InputError, match=r"is not spelt as HH-RLHF is$"):
        tables.load(by=None, file=InputFile.from_path(path), mapping=ColumnMapping(format="hh_rlhf"))
