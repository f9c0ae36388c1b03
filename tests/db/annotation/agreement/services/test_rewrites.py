"""Rewrites as training data, and labels of every type as a table and back."""

from __future__ import annotations

import csv
import io
import json

import pytest

from annotation.agreement.services import exports, rewrites
from annotation.studies.imports import ratings
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Study
from annotation.studies.queries.labels import load_people
from annotation.workbench.services import annotations, assignments
from core.accounts.models.users import User
from core.errors import InputError
from core.files.input_files import InputFile
from tests.support.answer_types import DIALOGUE, PAIR
from tests.support.people import OpenStudy

SPAN = {"part": "turn-2", "start": 1, "end": 5, "category": "rude", "severity": "minor"}
GIVEN = {
    "dialogue": {
        "done": "no",
        "faults": "time|size",
        "share": "35",
        "errors": json.dumps([SPAN]),
        "critique": "=1+1, she said.",
        "better.2": "So, then.",
    },
    "pair": {
        "preference": "tie",
        "helpful.A": "1",
        "helpful.B": "3",
        "order": "B>A",
        "ends": "B>A",
        "errors.A": "[]",
        "errors.B": json.dumps([{"part": "B", "start": 0, "end": 3, "category": "wrong"}]),
        "better.A": "So, then.",
    },
}


@pytest.fixture(params=["dialogue", "pair"])
def rated(request, open_study: OpenStudy, bob: User) -> Study:
    kind = request.param
    study = open_study([bob], kind=kind, criteria=None, rubric={"dialogue": DIALOGUE, "pair": PAIR}[kind])
    annotations.submit(by=bob, assignment=assignments.lease_next(by=bob, study=study), values=GIVEN[kind])
    return study


def lines(study: Study) -> dict[str, list[dict]]:
    return {name: [json.loads(line) for line in pieces] for name, pieces in rewrites.members(study)}


def test_a_rewrite_is_chosen_over_what_it_mends(rated: Study) -> None:
    item = rated.items.get(assignments__state="submitted")
    slot = Assignment.objects.get(state="submitted")
    if item.dialogue:
        prompt = [{"role": "user", "content": item.dialogue.turns[0]["content"]}]
        original, about = item.dialogue.turns[1]["content"], {"turn": 2}
    else:
        prompt = [{"role": "user", "content": item.pair.question}]
        number = slot.sides["A"]
        original, about = getattr(item.pair, f"response_{number}"), {"response": int(number)}
    facts = {"item": item.external_id, "source": "test", "criterion": "better", "annotator": "bob", **about}
    better = {"role": "assistant", "content": "So, then."}
    assert lines(rated) == {
        "preferences.jsonl": [
            {"prompt": prompt, "chosen": [better], "rejected": [{"role": "assistant", "content": original}], **facts}
        ],
        "sft.jsonl": [{"messages": [*prompt, better], **facts}],
    }


def test_who_could_not_rewrite_or_is_excluded_gives_no_rows(rated: Study) -> None:
    Annotation.objects.filter(criterion__key="better").update(value="", content=None, unscored_reason="no idea")
    assert lines(rated) == {"preferences.jsonl": [], "sft.jsonl": []}


def to_table(study: Study) -> str:
    """The export's CSV as the import reads it: by the names that it knows."""
    rows = csv.DictReader(io.StringIO("".join(exports.csv_lines(load_people(study)))))
    out = io.StringIO()
    names = {"item_id": "item", "unscored_reason": "reason"}
    kept = ["item_id", "rater", "criterion", "value", "unscored_reason", "order", "turn", "content"]
    writer = csv.DictWriter(out, [names.get(name, name) for name in kept])
    writer.writeheader()
    writer.writerows({names.get(name, name): row[name] for name in kept} for row in rows)
    return out.getvalue()


def everything() -> dict:
    found = Annotation.objects.select_related("criterion")
    return {(a.criterion.key, a.turn): (a.value, a.content, a.assignment.order) for a in found}


def test_a_table_of_labels_is_read_back_as_it_was(rated: Study, tmp_path, alice: User) -> None:
    before, path = everything(), tmp_path / "r.csv"
    path.write_text(to_table(rated), encoding="utf-8")
    Annotation.objects.all().delete()
    Assignment.objects.update(state="open", annotator=None, submitted_at=None, number=None)
    outcome = ratings.load(by=alice, file=InputFile.from_path(path), study="Pilot")
    assert outcome.created["annotations"] == len(before)
    assert everything() == before
    again = ratings.load(by=alice, file=InputFile.from_path(path), study="Pilot")
    assert (again.created["annotations"], again.updated["annotations"]) == (0, 0)


def test_jsonl_and_parquet_hold_what_was_given(rated: Study) -> None:
    rows = [json.loads(line) for line in "".join(exports.jsonl_lines(load_people(rated))).splitlines()]
    assert {(row["criterion"], row["turn"] or 0): row["content"] for row in rows} == {
        key: content for key, (_, content, _) in everything().items()
    }
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(io.BytesIO(b"".join(exports.FORMATS["parquet"].pieces(load_people(rated)))))
    found = [json.loads(text) if text else None for text in table.column("content").to_pylist()]
    assert found == [row["content"] for row in rows]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{item},ann,errors,2,,,", "the spans of Errors are missing"),
        (
            '{item},ann,errors,1,,,"[{{""part"": ""turn-2"", ""start"": 0, ""end"": 999, ""category"": ""rude""}}]"',
            "not in what",
        ),
        ("{item},ann,errors,1,,,{{}}", "is not that of a marked spans"),
        ("{item},ann,share,51,,,", "51 is not on a step of 5"),
        ("{item},ann,faults,time|rain,,,", "'rain' is not on the scale"),
        ("{item},ann,critique,1,,,[]", "is not that of a text"),
        ("{item},ann,better,1,,1,", "Better is asked of each turn of the assistant, which turn 1 is not"),
    ],
)
def test_a_table_with_an_answer_that_nobody_could_give_is_refused(
    open_study: OpenStudy, bob: User, alice: User, tmp_path, line: str, said: str
) -> None:
    study = open_study([bob], criteria=None, rubric=DIALOGUE)
    path = tmp_path / "r.csv"
    row = line.format(item=study.items.first().external_id)
    path.write_text(f"item,rater,criterion,value,reason,turn,content\n{row}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"line 2") as caught:
        ratings.load(by=alice, file=InputFile.from_path(path), study="Pilot")
    assert said in str(caught.value)
