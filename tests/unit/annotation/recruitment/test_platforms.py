"""What the address of a platform's link says."""

from __future__ import annotations

import pytest

from annotation.recruitment.platforms import PREVIEW, completion_address, submit_address, visit
from core.errors import InputError

PROLIFIC = {"PROLIFIC_PID": ["60aa"], "STUDY_ID": ["s1"], "SESSION_ID": ["x1"], "utm": ["mail"]}
TURK = {"workerId": ["A1B"], "assignmentId": ["3XA"], "hitId": ["H1"], "turkSubmitTo": ["https://www.mturk.com"]}


def test_what_a_platform_appends_is_read_and_nothing_else() -> None:
    found = visit("prolific", PROLIFIC)
    assert (found.person, found.is_preview) == ("60aa", False)
    assert found.parameters == {"PROLIFIC_PID": "60aa", "STUDY_ID": "s1", "SESSION_ID": "x1"}
    assert visit("mturk", TURK).person == "A1B"


def test_a_look_at_the_task_is_told_from_taking_it_up() -> None:
    found = visit("mturk", {"assignmentId": [PREVIEW], "hitId": ["H1"]})
    assert (found.is_preview, found.person) == (True, "")


@pytest.mark.parametrize(
    ("platform", "given", "field"),
    [
        ("prolific", {}, "PROLIFIC_PID"),
        ("prolific", {"PROLIFIC_PID": [""]}, "PROLIFIC_PID"),
        ("prolific", {"PROLIFIC_PID": ["{{%PROLIFIC_PID%}}"]}, "PROLIFIC_PID"),
        ("prolific", {"PROLIFIC_PID": ["a", "b"]}, "PROLIFIC_PID"),
        ("prolific", {"PROLIFIC_PID": ["a\0"]}, "PROLIFIC_PID"),
        ("prolific", {**PROLIFIC, "SESSION_ID": ["<script>"]}, "SESSION_ID"),
        ("mturk", {**TURK, "workerId": ["x" * 256]}, "workerId"),
        ("mturk", {**TURK, "turkSubmitTo": ["https://www.mturk.com.evil.example"]}, "turkSubmitTo"),
        ("mturk", {**TURK, "turkSubmitTo": ["http://www.mturk.com"]}, "turkSubmitTo"),
        ("mturk", {**TURK, "turkSubmitTo": ["https://www.mturk.com@evil.example"]}, "turkSubmitTo"),
    ],
)
def test_what_is_no_id_is_refused_by_name(platform: str, given: dict, field: str) -> None:
    with pytest.raises(InputError) as refused:
        visit(platform, given)
    assert refused.value.field == field


def test_where_the_end_is_told() -> None:
    said = visit("mturk", TURK).parameters
    assert submit_address(said) == "https://www.mturk.com/mturk/externalSubmit"
    assert submit_address({"assignmentId": "3XA"}) == ""
    assert completion_address("prolific", "C0DE").endswith("?cc=C0DE")
    assert completion_address("mturk", "C0DE") == completion_address("prolific", "") == ""
