"""`queue`, `known` and `admit`."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.studies.models.studies import Study
from annotation.workbench.services import annotations, assignments
from core.accounts.models.users import User
from tests.support.factories import DialogueFactory
from tests.support.people import OpenStudy


def run(*args: str) -> dict:
    out = io.StringIO()
    call_command(*args, "--json", stdout=out)
    return json.loads(out.getvalue())


def refused(*args: str) -> str:
    with pytest.raises(CommandError) as raised:
        call_command(*args)
    assert raised.value.returncode == 2
    return str(raised.value)


@pytest.fixture
def study(open_study: OpenStudy, bob: User) -> Study:
    return open_study([bob])


def csv(tmp_path: Path, text: str) -> str:
    path = tmp_path / "known.csv"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_the_rules_are_shown_and_set(study: Study) -> None:
    assert run("queue", "pilot")["changes"] == 0
    found = run("queue", "pilot", "--check-every", "20", "--limit", "300", "--pass-mark", "0.75")
    assert found["rules"] == {
        "check_every": 20,
        "repeat_every": 0,
        "repeat_after": 10,
        "item_limit": 300,
        "pass_mark": 0.75,
    }
    assert run("queue", "pilot", "--limit", "none")["rules"]["item_limit"] is None
    assert "field check_every" in refused("queue", "pilot", "--check-every", "1")
    assert "neither a number nor none" in refused("queue", "pilot", "--limit", "many")
    assert "field study" in refused("queue", "nowhere")


def test_a_file_is_named_twice_without_a_change(study: Study, tmp_path: Path) -> None:
    DialogueFactory(external_id="d1")
    file = csv(
        tmp_path,
        "item_id;criterion;value;explanation\nd1;task_completion;yes;It is booked.\nd1;personalization;3|4;\n",
    )
    found = run("known", "pilot", "--purpose", "training", "--file", file)
    assert (found["new"], found["pass_mark"]) == (1, 0.8)
    (item,) = found["items"]
    assert item["answers"]["personalization"] == {"value": "3", "also": ["4"], "explanation": ""}
    assert item["answers"]["task_completion"]["explanation"] == "It is booked."
    assert run("known", "pilot", "--purpose", "training", "--file", file)["new"] == 0
    assert run("known", "pilot", "--retire", "d1")["items"] == []
    assert "d1 has no known answer" in refused("known", "pilot", "--retire", "d1")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("item_id,value\nd1,1\n", "line 1: there is no column 'criterion'"),
        ("item_id,criterion,value\nd1,personalization,\n", "line 2, field value: is empty"),
        ("item_id,criterion,value\nd1,personalization,3|\n", "line 2, field personalization: '' is not on the scale"),
        ("item_id,criterion,value\nd1,wit,3\n", "line 2, field criterion: The study asks no criterion 'wit'"),
        ("item_id,criterion,value\nd9,personalization,3\n", "line 2, field item: There is no dialogue called 'd9'"),
        (
            "item_id,criterion,value\nd1,personalization,3\nd1,personalization,4\n",
            "line 3, field criterion: personalization of d1 stands in line 2 already",
        ),
        ("item_id,criterion,value\n", "line 2: there are no rows"),
    ],
)
def test_a_bad_file_is_refused_whole(study: Study, tmp_path: Path, text: str, says: str) -> None:
    DialogueFactory(external_id="d1")
    file = csv(tmp_path, text)
    assert f"{file}, {says}" in refused("known", "pilot", "--purpose", "check", "--file", file)
    assert not study.known_items.exists()


def test_a_purpose_is_needed(study: Study, tmp_path: Path) -> None:
    assert "field purpose" in refused("known", "pilot", "--file", csv(tmp_path, "x"))
    assert "Nothing is decided" in refused("known", "pilot", "--purpose", "check", "--decided", "pilot")


def test_somebody_is_let_through(study: Study, alice: User, bob: User, tmp_path: Path) -> None:
    DialogueFactory(external_id="d1")
    file = csv(tmp_path, "item_id,criterion,value\nd1,personalization,3\n")
    run("known", "pilot", "--purpose", "qualification", "--file", file)
    study.refresh_from_db()
    slot = assignments.lease_next(by=bob, study=study)
    annotations.submit(by=bob, assignment=slot, values={"task_completion": "yes", "personalization": "1"})
    assert assignments.lease_next(by=bob, study=study) is None
    (result,) = run("admit", "pilot")["results"]
    assert (result["outcome"], result["right"], result["asked"]) == ("failed", 0, 1)
    assert "field by" in refused("admit", "pilot", "--annotator", "bob")
    assert "field reason" in refused("admit", "pilot", "--annotator", "bob", "--by", "alice")
    (result,) = run("admit", "pilot", "--annotator", "bob", "--by", "alice", "--reason", "Talked.")["results"]
    assert (result["outcome"], result["decided_by"], result["reason"]) == ("admitted", "alice", "Talked.")


def test_somebody_tries_again_with_other_items(study: Study, alice: User, bob: User, tmp_path: Path) -> None:
    for name in ("d1", "d2"):
        DialogueFactory(external_id=name)
    for number, item in enumerate(("d1", "d2"), start=1):
        file = csv(tmp_path, f"item_id,criterion,value\n{item},personalization,3\n")
        found = run("known", "pilot", "--purpose", "qualification", "--round", str(number), "--file", file)
    assert [(one["item_id"], one["round"]) for one in found["items"]] == [("d1", 1), ("d2", 2)]
    study.refresh_from_db()
    slot = assignments.lease_next(by=bob, study=study)
    annotations.submit(by=bob, assignment=slot, values={"task_completion": "yes", "personalization": "1"})
    assert assignments.lease_next(by=bob, study=study) is None
    assert "field annotator" in refused("admit", "pilot", "--again")
    decided = ("--annotator", "bob", "--by", "alice", "--again", "--reason", "Talked.")
    (result,) = run("admit", "pilot", *decided)["results"]
    assert (result["outcome"], result["round"], result["reason"]) == ("again", 2, "Talked.")
    assert "may try again already" in refused("admit", "pilot", *decided)
    assert assignments.lease_next(by=bob, study=study).item.external_id == "d2"
    assert "field round" in refused("known", "pilot", "--purpose", "check", "--round", "2", "--file", file)


def test_people_read_it_too(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("queue", "pilot")
    call_command("known", "pilot")
    call_command("admit", "pilot")
    out = capsys.readouterr().out
    assert "check every" in out
    assert "0 items with known answers" in out
    assert "Nobody has completed a qualification yet." in out
