"""Files as other tools write them, and what can be wrong with them."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from annotation.corpus.exchange.dataset import Naming, Package, parse_naming
from annotation.corpus.exchange.registry import EXCHANGES, exchange_named
from core.errors import InputError
from core.files.input_files import InputFile, Problems

TURNS = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
SPOKEN = [{"author": "customer", "text": "Hi"}, {"author": "agent", "text": "Hello"}]


def document(tmp_path: Path, content: Any, name: str = "file.json") -> InputFile:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = "\n".join(json.dumps(one) for one in content) if name.endswith("jsonl") else json.dumps(content)
    path.write_text(rows)
    return InputFile.from_path(path)


def read(key: str, file: InputFile, told: Naming | None = None, *, skip: bool = False) -> tuple[Package, Problems]:
    problems = Problems("skip" if skip else "stop")
    return exchange_named(key).read(file, problems, told or Naming(), {}), problems


def said(package: Package) -> list[tuple[str, str, str, str]]:
    return [
        (str(item.record["id"]), one.rater, one.criterion, one.value) for item in package.items for one in item.answers
    ]


def result(name: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"id": "x", "from_name": name, "to_name": "item", "type": kind, "value": value}


# ---------- Label Studio ----------


def task(**more: Any) -> dict[str, Any]:
    results = [result("nat", "rating", {"rating": 4}), result("done", "choices", {"choices": ["yes"]})]
    annotation = {"completed_by": 7, "was_cancelled": False, "lead_time": 5.0, "result": results}
    predicted = {"model_version": "judge-v1", "score": 0.8, "result": [result("nat", "rating", {"rating": 3})]}
    given = {"id": 1, "data": {"dialogue": SPOKEN}, "annotations": [annotation], "predictions": [predicted]}
    return {**given, **more}


def test_label_studio_ratings_choices_and_predictions(tmp_path):
    package, _ = read("labelstudio", document(tmp_path, [task()]))
    assert said(package) == [("1", "7", "nat", "4"), ("1", "7", "done", "yes"), ("1", "judge-v1", "nat", "3")]
    assert [one.of_judge for one in package.items[0].answers] == [False, False, True]
    assert package.items[0].answers[0].active_seconds == 5.0
    turns = package.items[0].record["turns"]
    assert [(turn["role"], turn["content"]) for turn in turns] == [("user", "Hi"), ("assistant", "Hello")]
    assert package.head.scale("nat").values == ["1", "2", "3", "4", "5"]


def test_label_studio_left_is_the_first_response(tmp_path):
    chosen = [
        {"completed_by": n, "result": [result("pw", "pairwise", {"selected": side})]}
        for n, side in enumerate(["left", "right"])
    ]
    file = document(tmp_path, [{"id": 3, "data": {"text1": "A", "text2": "B"}, "annotations": chosen}])
    package, _ = read("labelstudio", file, parse_naming(["response_1=text1", "response_2=text2"]))
    assert said(package) == [("3", "0", "pw", "1"), ("3", "1", "pw", "2")]
    assert package.head.kind == "pair"
    assert package.head.scale("pw").values == ["1", "2"]


def test_label_studio_says_what_it_leaves_out(tmp_path):
    words = [result("why", "textarea", {"text": ["Because."]}), result("spans", "labels", {"labels": ["x"]})]
    annotation = {"completed_by": 7, "result": [*words, words[0], result("nat", "rating", {"rating": 4})]}
    package, _ = read("labelstudio", document(tmp_path, [task(annotations=[annotation])]))
    assert package.notes == (
        "2 textarea results were left out: no criterion can be answered so",
        "1 labels result was left out: no criterion can be answered so",
    )


def test_a_cancelled_annotation_is_not_an_answer(tmp_path):
    cancelled = {"completed_by": 7, "was_cancelled": True, "result": [result("nat", "rating", {"rating": 1})]}
    package, _ = read("labelstudio", document(tmp_path, [task(annotations=[cancelled])]))
    assert said(package) == [("1", "judge-v1", "nat", "3")]


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        ({"a": 1}, "a JSON list of tasks"),
        ([], "holds nothing that could be read"),
        ([{"annotations": []}], "has no 'data'"),
        ([task(data={"image": "x.png"})], "neither a dialogue nor two responses"),
        ([task(data={"dialogue": [{"author": "nobody", "text": "x"}]})], "nobody knows who 'nobody' is"),
        ([task(), task()], "answers it twice"),
        ([7], "field 0: is not spelt as this format is$"),
    ],
)
def test_what_is_no_export_of_label_studio(tmp_path, content, wrong):
    with pytest.raises(InputError, match=wrong):
        read("labelstudio", document(tmp_path, content))


def test_a_bad_task_can_be_left_out(tmp_path):
    package, problems = read("labelstudio", document(tmp_path, [task(), task(id=2, data={})]), skip=True)
    assert len(package.items) == 1
    assert [error.field for error in problems.errors] == ["1: data"]


# ---------- Argilla ----------


def test_argilla_responses_and_suggestions(tmp_path):
    record = {
        "id": "r1",
        "fields": {"chat": TURNS},
        "metadata": {"domain": "Travel"},
        "suggestions": {"naturalness": {"value": 4, "score": 0.7, "agent": "judge"}},
        "responses": {"naturalness": [{"value": 5, "user_id": "u-1"}], "why": [{"value": "x" * 80, "user_id": "u-1"}]},
        "vectors": {},
        "status": "pending",
    }
    package, _ = read("argilla", document(tmp_path, [record]))
    assert said(package) == [("r1", "u-1", "naturalness", "5"), ("r1", "judge", "naturalness", "4")]
    assert package.items[0].record["domain"] == "Travel"


def test_an_argilla_ranking_is_refused(tmp_path):
    ranked = {"id": "r1", "fields": {"chat": TURNS}, "responses": {"rank": [{"value": ["a", "b"], "user_id": "u"}]}}
    with pytest.raises(InputError, match="several answers at once"):
        read("argilla", document(tmp_path, [ranked]))


# ---------- Potato ----------


def potato(folder: Path, **row: Any) -> InputFile:
    items = [{"id": "p1", "text": "Which?", "responses": ["first", "second"]}]
    document(folder, items, "data_files/items.jsonl")
    given = {"instance_id": "p1", "user_id": "ann", "labels": {"pref": {"selection": "A"}}, "spans": {}}
    document(folder, [{**given, **row}], "annotation_output/annotated_instances.jsonl")
    return InputFile.from_path(folder)


def test_a_side_of_potato_is_turned_back_by_the_order_in_which_it_was_shown(tmp_path):
    package, _ = read("potato", potato(tmp_path, presentation_order={"pref": [1, 0]}))
    assert said(package) == [("p1", "ann", "pref", "2")]
    assert package.items[0].answers[0].order == "BA"


def test_a_side_of_potato_without_an_order_is_refused_unless_somebody_answers_for_it(tmp_path):
    file = potato(tmp_path)
    with pytest.raises(InputError, match="not which response"):
        read("potato", file)
    package, _ = read("potato", file, parse_naming([], fixed_order=True))
    assert said(package) == [("p1", "ann", "pref", "1")]


def test_potato_state_of_one_person(tmp_path):
    document(tmp_path, [{"id": "d1", "conversation": [{"speaker": "user", "text": "Hi"}]}], "data.jsonl")
    state = {
        "user_id": "ann",
        "instance_id_to_label_to_value": {"d1": [[{"schema": "nat", "name": "4"}, "4"]]},
        "instance_id_to_presentation_order": {},
    }
    document(tmp_path, state, "annotation_output/ann/user_state.json")
    package, _ = read("potato", InputFile.from_path(tmp_path))
    assert said(package) == [("d1", "ann", "nat", "4")]


def test_potato_annotations_of_nothing(tmp_path):
    file = potato(tmp_path, instance_id="p9", presentation_order={"pref": [0, 1]})
    with pytest.raises(InputError, match="'p9', which no data file holds"):
        read("potato", file)


# ---------- An id of 0 ----------


def test_an_id_of_0_is_an_id(tmp_path):
    """The defects: doccano took the text for it, Label Studio its own number, and Potato found no such item."""
    package, _ = read("doccano", document(tmp_path, [{"id": 0, "text": "Good", "label": ["pos"]}], "bob.jsonl"))
    assert said(package) == [("0", "bob", "label", "pos")]
    package, _ = read("labelstudio", document(tmp_path, [task(id=7, data={"id": 0, "dialogue": SPOKEN})]))
    assert package.items[0].record["id"] == "0"
    record = {"id": 0, "fields": {"chat": TURNS}, "responses": {"nat": [{"value": 5, "user_id": "u"}]}}
    package, _ = read("argilla", document(tmp_path, [record]))
    assert said(package) == [("0", "u", "nat", "5")]
    document(tmp_path / "potato", [{"id": 0, "conversation": [{"speaker": "user", "text": "Hi"}]}], "data.jsonl")
    given = {"instance_id": 0, "user_id": "ann", "labels": {"nat": {"4": "4"}}, "spans": {}}
    document(tmp_path / "potato", [given], "annotated_instances.jsonl")
    package, _ = read("potato", InputFile.from_path(tmp_path / "potato"))
    assert said(package) == [("0", "ann", "nat", "4")]


def test_a_record_of_argilla_without_an_id_is_refused(tmp_path):
    record = {"fields": {"chat": TURNS}, "responses": {"nat": [{"value": 5, "user_id": "u"}]}}
    with pytest.raises(InputError) as caught:
        read("argilla", document(tmp_path, [record]))
    assert caught.value.field == "0: id"


# ---------- doccano, votes ----------


def test_doccano_labels_are_by_whom_the_file_is_called_after(tmp_path):
    rows = [{"id": 1, "text": "Good", "label": ["pos"]}, {"id": 2, "text": "Bad", "label": ["neg"], "annotator": "eve"}]
    package, _ = read("doccano", document(tmp_path, rows, "bob.jsonl"))
    assert said(package) == [("1", "bob", "label", "pos"), ("2", "eve", "label", "neg")]


def test_an_id_that_is_larger_than_any_number_is_refused(tmp_path):
    path = tmp_path / "bob.jsonl"
    path.write_text('{"id": 1e999, "text": "Good", "label": ["pos"]}')
    with pytest.raises(InputError, match="finite"):
        read("doccano", InputFile.from_path(path))


def test_doccano_spans_are_refused(tmp_path):
    with pytest.raises(InputError, match="marks words"):
        read("doccano", document(tmp_path, [{"text": "Good", "label": [[0, 2, "ORG"]]}], "a.jsonl"))


def vote(**more: Any) -> dict[str, Any]:
    talks = {f"conversation_{side}": [TURNS[0], {"role": "assistant", "content": side}] for side in "ab"}
    given = {"question_id": 81, "model_a": "zephyr", "model_b": "alpaca", "winner": "model_a", "judge": "expert_1"}
    return {**given, **talks, "turn": 1, **more}


def test_both_orders_of_two_models_are_one_pair(tmp_path):
    back = {"model_a": "alpaca", "model_b": "zephyr", "judge": ["gpt-4", "pair-v2"], "winner": "tie (bothbad)"}
    turned = {"conversation_a": vote()["conversation_b"], "conversation_b": vote()["conversation_a"]}
    package, _ = read("votes", document(tmp_path, [vote(), vote(**back, **turned)], "votes.jsonl"))
    (item,) = package.items
    assert (item.record["model_1"], item.record["response_1"]) == ("alpaca", "b")
    human, judge = item.answers
    assert (human.value, human.order, human.of_judge) == ("2", "BA", False)
    assert (judge.rater, judge.value, judge.order, judge.of_judge) == ("gpt-4-pair-v2", "tie", "AB", True)
    assert judge.note == "Both are bad."


def test_an_unknown_winner_names_the_line(tmp_path):
    with pytest.raises(InputError, match="is one of model_a") as caught:
        read("votes", document(tmp_path, [vote(winner="left")], "votes.jsonl"))
    assert (caught.value.line, caught.value.field) == (1, "winner")


# ---------- inspect_ai ----------


SAMPLE = {
    "id": "a",
    "epoch": 1,
    "messages": [
        {"role": "system", "content": "Be kind."},
        TURNS[0],
        {"role": "assistant", "content": "attachment://h"},
    ],
    "target": "4",
    "scores": {
        "match": {"value": "C", "explanation": "attachment://h"},
        "graded": {"value": {"tone": 4, "help": 3.0}},
        "none": {"value": "N"},
    },
    "attachments": {"h": "A long answer"},
}
LOG = {"version": 2, "status": "success", "eval": {"task": "demo", "model": "m"}, "samples": [SAMPLE]}


def packed(tmp_path: Path) -> InputFile:
    """A log as inspect_ai packs it today: ZIP members with Zstandard (method 93), which `zipfile` cannot write."""
    path = tmp_path / "log.eval"
    members = {"header.json": {"eval": LOG["eval"]}, "samples/a_epoch_1.json": SAMPLE}
    pieces = {name: json.dumps(content).encode() for name, content in members.items()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, piece in pieces.items():
            archive.writestr(name, pa.compress(piece, codec="zstd", asbytes=True))
    data = bytearray(path.read_bytes())
    for mark, method, size in ((b"PK\x03\x04", 8, 22), (b"PK\x01\x02", 10, 24)):
        place = -1
        for piece in pieces.values():
            place = data.index(mark, place + 1)
            data[place + method : place + method + 2] = (93).to_bytes(2, "little")
            data[place + size : place + size + 4] = len(piece).to_bytes(4, "little")
    path.write_bytes(bytes(data))
    return InputFile.from_path(path)


def test_a_log_of_inspect_is_dialogues_and_judges(tmp_path):
    for file in (document(tmp_path, LOG, "log.json"), packed(tmp_path)):
        package, _ = read("inspect", file)
        (item,) = package.items
        assert [turn["content"] for turn in item.record["turns"]] == ["Be kind.", "Hi", "A long answer"]
        assert [(one.rater, one.criterion, one.value, one.reason) for one in item.answers] == [
            ("match of m", "match", "C", ""),
            ("graded of m", "tone", "4", ""),
            ("graded of m", "help", "3", ""),
            ("none of m", "none", "", "no answer"),
        ]
        assert item.answers[0].note == "A long answer"
        assert package.head.scale("match").values == ["I", "P", "C"]


def test_a_log_that_is_cut_off_is_told_so(tmp_path):
    file = packed(tmp_path)
    file.path.write_bytes(file.path.read_bytes()[:200])
    with pytest.raises(InputError):
        read("inspect", file)


# ---------- all ----------


def test_a_study_that_was_written_down_wrongly_is_refused(tmp_path):
    scale = {"key": "nat", "name": "N", "question": "N?", "level": "ordinal", "categories": [{"label": "One"}]}
    kept = {
        "record": {"id": "1", "turns": TURNS},
        "facts": {"study": {"name": "S", "kind": "dialogue", "scales": [scale]}},
    }
    row = {"id": "1", "text": "Hi", "label": [], "annotator": "", "concord": {**kept, "answers": []}}
    with pytest.raises(InputError, match="a category has a value and a label"):
        read("doccano", document(tmp_path, [row], "bob.jsonl"))


@pytest.mark.parametrize("key", list(EXCHANGES))
def test_a_file_that_is_not_there(key, tmp_path):
    with pytest.raises(InputError):
        read(key, InputFile.from_path(tmp_path / "none"))


def test_a_field_that_nobody_asks_for():
    with pytest.raises(InputError, match="should be FIELD=NAME"):
        parse_naming(["colour=red"])
