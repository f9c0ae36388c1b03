"""Answers of judges that are no choice: how they are asked for, and how what comes is read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from judging.judges.answer_parsing import read_reply, to_stored
from judging.judges.parsing import Unscored, Verdict
from judging.judges.prompts import render
from judging.judges.prompts.answers import WORDS_AND_SCHEMAS, build_format
from judging.judges.providers.requests import Category, CriterionSpec, DialogueContent, PairContent, Turn

PAIR = PairContent("What shall I cook?", "A green curry.\r\nA rice.", "Anything you like.")
DIALOGUE = DialogueContent(
    (Turn("user", "Book me a table."), Turn("assistant", "Done, at eight."), Turn("user", "Thanks."))
)
ERRORS = (Category("accuracy", "Accuracy", "It is wrong."), Category("style", "Style"))


def make_spec(kind: str, **limits: Any) -> CriterionSpec:
    categories = ERRORS if kind in ("several", "spans") else ()
    return CriterionSpec("quality", "Quality", "How good is it?", "Look closely.", "set", categories, kind, limits)


def read(kind: str, verdict: Any, content: Any = PAIR, **limits: Any) -> Verdict | Unscored:
    text = json.dumps({"explanation": "So.", "verdict": verdict}, ensure_ascii=False)
    return read_reply(build_format(make_spec(kind, **limits), content), text, stop="end", longest=10_000)


class TestReading:
    @pytest.mark.parametrize(
        ("kind", "said", "limits", "value"),
        [
            ("number", 12.50, {}, "12.5"),
            ("number", "7", {"least": 0, "most": 10}, "7"),
            ("several", ["style", "accuracy"], {}, "accuracy|style"),
            ("several", [], {}, "-"),
            ("several", "Style, accuracy", {}, "accuracy|style"),
            ("several", "none", {}, "-"),
            ("ranking", [["B"], ["A"]], {}, "B>A"),
            ("ranking", [["B", "A"]], {"ties": True}, "A=B"),
            ("ranking", "B > A", {}, "B>A"),
        ],
    )
    def test_what_fits_is_taken(self, kind: str, said: Any, limits: dict[str, Any], value: str) -> None:
        assert read(kind, said, **limits) == Verdict(value, "So.")

    @pytest.mark.parametrize(
        ("kind", "said", "limits"),
        [
            ("number", 11, {"most": 10}),
            ("number", True, {}),
            ("number", "much", {}),
            ("several", ["charm"], {}),
            ("several", ["accuracy"], {"least": 2}),
            ("ranking", [["A"]], {}),
            ("ranking", [["A", "B"]], {}),
            ("spans", "accuracy", {}),
            ("spans", [{"part": "A", "quote": "red curry", "category": "accuracy"}], {}),
            ("spans", [{"part": "A", "quote": "green", "category": "charm"}], {}),
            ("text", 5, {}),
            ("text", "", {}),
        ],
    )
    def test_what_does_not_fit_is_off_scale_and_says_why(self, kind: str, said: Any, limits: dict[str, Any]) -> None:
        found = read(kind, said, **limits)
        assert isinstance(found, Unscored)
        assert found.reason == "off_scale"
        assert found.explanation.startswith("So.\n")

    def test_quoted_words_are_found_where_they_stand(self) -> None:
        said = [
            {"part": "B", "quote": "Anything", "category": "style"},
            {"part": "A", "quote": "A rice", "category": "accuracy"},
            {"part": "elsewhere", "quote": "curry", "category": "accuracy"},
        ]
        found = read("spans", said)
        assert isinstance(found, Verdict)
        assert found.value == "3"
        texts = build_format(make_spec("spans"), PAIR).texts
        assert [(one["part"], texts[one["part"]][one["start"] : one["end"]]) for one in found.content] == [
            ("A", "curry"),
            ("A", "A rice"),
            ("B", "Anything"),
        ]

    def test_spans_lie_only_where_the_criterion_looks(self) -> None:
        said = [{"part": "turn-1", "quote": "table", "category": "style"}]
        assert isinstance(read("spans", said, DIALOGUE, where="user_turns"), Verdict)
        assert isinstance(read("spans", said, DIALOGUE, where="assistant_turns"), Unscored)

    def test_a_text_is_kept_whole(self) -> None:
        found = read("text", "It is\r\ntoo short.")
        assert found == Verdict("4", "So.", {"text": "It is\ntoo short."})

    def test_the_last_verdict_counts_and_a_line_in_words_does_too(self) -> None:
        asked = build_format(make_spec("number"), PAIR)
        assert read_reply(asked, "Score: 3\nScore: 4.5", stop="end", longest=100) == Verdict("4.5", "Score: 3")

    @pytest.mark.parametrize(
        ("text", "stop", "reason"),
        [
            ("I will not.", "refusal", "refusal"),
            ("Let me see", "length", "truncated"),
            ("Let me see", "end", "unparsable"),
            ("x" * 200, "end", "oversized"),
        ],
    )
    def test_what_holds_no_verdict_has_a_reason(self, text: str, stop: str, reason: str) -> None:
        found = read_reply(build_format(make_spec("number"), PAIR), text, stop=stop, longest=100)
        assert isinstance(found, Unscored)
        assert found.reason == reason


class TestStoring:
    @pytest.mark.parametrize(("order", "expected"), [("AB", "1>2"), ("BA", "2>1")])
    def test_a_ranking_names_responses(self, order: str, expected: str) -> None:
        assert to_stored("A>B", None, make_spec("ranking"), order).value == expected

    def test_level_responses_come_in_their_order(self) -> None:
        assert to_stored("A=B", None, make_spec("ranking"), "BA").value == "1=2"

    def test_spans_name_responses(self) -> None:
        span = {"part": "A", "start": 0, "end": 2, "category": "style", "text": "A "}
        stored = to_stored("1", [span], make_spec("spans"), "BA")
        assert stored.content == [{**span, "part": "response-2"}]

    def test_spans_of_a_dialogue_stay(self) -> None:
        span = {"part": "turn-1", "start": 0, "end": 4, "category": "style", "text": "Book"}
        assert to_stored("1", [span], make_spec("spans"), "").content == [span]


class TestAsking:
    @pytest.mark.parametrize(
        ("kind", "limits", "told", "schema"),
        [
            ("number", {"least": 0, "most": 10, "unit": "points"}, "a number from 0 to 10 points", {"type": "number"}),
            ("several", {}, '0 to 2 of "accuracy", "style"', {"type": "array"}),
            ("ranking", {}, 'the responses "A", "B", the best first, no two level', {"type": "array"}),
            ("ranking", {"ties": True}, "responses may be level", {"type": "array"}),
            ("spans", {}, 'passages of "A", "B", each of one of "accuracy", "style"', {"type": "array"}),
            ("text", {"longest": 300}, "a text of at most 300 characters", {"type": "string"}),
        ],
    )
    def test_prompt_and_schema_say_what_fits(
        self, kind: str, limits: dict[str, Any], told: str, schema: dict[str, str]
    ) -> None:
        prompt = render(make_spec(kind, **limits), PAIR)
        assert told in prompt.user
        assert "Answer with one JSON object" in prompt.user
        assert prompt.schema["properties"]["verdict"].items() >= schema.items()
        assert "$" not in prompt.user

    def test_categories_are_told_with_their_guidelines(self) -> None:
        assert '"accuracy": Accuracy. It is wrong.' in render(make_spec("several"), DIALOGUE).user

    def test_each_type_has_a_version_of_its_own(self) -> None:
        assert len({render(make_spec(kind), PAIR).version for kind in WORDS_AND_SCHEMAS}) == len(WORDS_AND_SCHEMAS)
