"""Rubrics: read from a document, checked, and written again."""

from __future__ import annotations

import copy
import json

import pytest

from annotation.studies.parsing.rubric_files import FORMATS, read_rubric, read_text, write_rubric
from annotation.studies.parsing.rubrics import parse_rubric
from core.errors import InputError
from core.files.input_files import InputFile
from tests.support.answer_types import PIXEL

ALL_TYPES = {
    "name": "Everything",
    "description": 'Says "all"\nof it: \\ and """.',
    "citation": "Nobody (2026)",
    "criterion": [
        {"key": "done", "type": "binary", "question": "Is it done?"},
        {
            "key": "clear",
            "type": "ordinal",
            "question": "How clear is it?",
            "help": "All in all.",
            "guideline": "Read twice.\n\nThen answer.",
            "category": [
                {"value": 1, "label": "Not", "guideline": "Nobody follows.\n"},
                {"value": 2, "label": "Partly"},
                {"value": 3, "label": "Quite"},
            ],
            "example": [
                {"good": True, "text": "3 for a list", "image": PIXEL},
                {"good": False, "text": "1 as it is long"},
            ],
        },
        {
            "key": "minutes",
            "type": "number",
            "question": "?",
            "limits": {"least": 0, "most": 1.5, "step": 0.1, "unit": "min"},
        },
        {
            "key": "share",
            "type": "number",
            "level": "ratio",
            "question": "?",
            "limits": {"least": 0, "most": 100, "slider": True},
        },
        {
            "key": "faults",
            "type": "multi_choice",
            "question": "Which?",
            "required": False,
            "condition": {"criterion": "done", "values": ["no"]},
            "limits": {"most": 2},
            "category": [{"value": "long", "label": "Too long"}, {"value": "off", "label": "Off topic"}],
        },
        {
            "key": "errors",
            "type": "span",
            "unit": "assistant_turn",
            "question": "Mark them.",
            "limits": {"severities": ["minor", "major"]},
            "category": [{"value": "wrong", "label": "Wrong"}],
        },
        {
            "key": "why",
            "type": "text",
            "question": "Why?",
            "condition": {"criterion": "faults", "values": ["-", "long"]},
        },
        {
            "key": "better",
            "type": "rewrite",
            "unit": "assistant_turn",
            "question": "Better?",
            "limits": {"longest": 900},
        },
    ],
}
PAIR = {
    "kind": "pair",
    "criterion": [
        {"key": "order", "type": "ranking", "question": "?", "limits": {"ties": True}},
        {"key": "ends", "type": "ranking", "question": "?", "limits": {"best_worst": True}},
        {"key": "safe", "type": "binary", "unit": "response", "question": "?"},
        {"key": "better", "type": "rewrite", "unit": "response", "question": "?"},
    ],
}


def one(**changes):
    """A rubric of one good criterion, changed."""
    given = {"key": "c", "type": "choice", "question": "?", "category": ["a", "b"], **changes}
    return {"criterion": [{name: value for name, value in given.items() if value is not None}]}


def refused(document) -> tuple[str, str]:
    with pytest.raises(InputError) as caught:
        parse_rubric(document)
    return caught.value.field or "", caught.value.message


def test_every_type_is_read_with_what_goes_without_saying():
    rubric = parse_rubric(ALL_TYPES)
    assert [(c.key, c.type, c.level, c.unit) for c in rubric.criteria] == [
        ("done", "choice", "nominal", "item"),
        ("clear", "choice", "ordinal", "item"),
        ("minutes", "number", "interval", "item"),
        ("share", "number", "ratio", "item"),
        ("faults", "several", "set", "item"),
        ("errors", "spans", "spans", "assistant_turn"),
        ("why", "text", "text", "item"),
        ("better", "rewrite", "text", "assistant_turn"),
    ]
    done, clear = rubric.criteria[:2]
    assert (done.name, done.values) == ("Done", ["yes", "no"])
    assert clear.to_fields() | {"guideline": ""} == {
        "key": "clear",
        "name": "Clear",
        "type": "choice",
        "level": "ordinal",
        "unit": "item",
        "question": "How clear is it?",
        "help": "All in all.",
        "guideline": "",
        "categories": [
            {"value": "1", "label": "Not", "guideline": "Nobody follows."},
            {"value": "2", "label": "Partly", "guideline": ""},
            {"value": "3", "label": "Quite", "guideline": ""},
        ],
        "limits": {},
        "is_required": True,
        "condition": None,
        "examples": [
            {"good": True, "text": "3 for a list", "image": PIXEL},
            {"good": False, "text": "1 as it is long", "image": ""},
        ],
    }


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("document", [ALL_TYPES, PAIR, one(), one(question='"""\\\n\tx\x7f“')])
def test_what_is_written_is_read_as_the_same_rubric(fmt, document):
    rubric = parse_rubric(document)
    text = write_rubric(rubric, fmt)
    assert read_text(text, fmt) == rubric
    assert write_rubric(read_text(text, fmt), fmt) == text


def test_a_file_is_read_by_its_ending(tmp_path):
    for fmt, name in (("toml", "r.toml"), ("yaml", "r.yml"), ("json", "r.JSON")):
        (tmp_path / name).write_text(write_rubric(parse_rubric(PAIR), fmt), encoding="utf-8")
        assert read_rubric(InputFile.from_path(tmp_path / name)) == parse_rubric(PAIR)
    (tmp_path / "r.txt").write_text("x")
    with pytest.raises(InputError, match=r"ends with .toml, .yaml or .json"):
        read_rubric(InputFile.from_path(tmp_path / "r.txt"))


def test_yaml_calls_a_category_yes_and_knows_no_aliases():
    text = "criterion:\n- key: c\n  question: Q\n  category: [yes, no, on]\n"
    assert parse_rubric({"criterion": [{"key": "c", "question": "Q", "category": ["yes", "no", "on"]}]}) == read_text(
        text, "yaml"
    )
    for bad, line in (
        ("a: &x [1]\nb: *x\n", 2),
        ("key: c\nquestion: Q\nkey: d\n", 3),
        ("criterion:\n\t- a", 2),
        ("!!python/object/apply:os.system ['true']", 1),
    ):
        with pytest.raises(InputError) as caught:
            read_text(bad, "yaml")
        assert caught.value.line == line, bad


def test_an_error_names_file_line_and_field(tmp_path):
    path = tmp_path / "r.toml"
    path.write_text('name = "x"\n[[criterion]\n')
    with pytest.raises(InputError, match=r"r.toml, line 2: is not TOML"):
        read_rubric(InputFile.from_path(path))
    path.write_text(
        '[[criterion]]\nkey = "c"\nquestion = "Q"\ntype = "number"\n[criterion.limits]\nleast = 5\nmost = 1\n'
    )
    with pytest.raises(InputError, match=r"field criterion.c.limits: the least value, 5, is not below the most, 1"):
        read_rubric(InputFile.from_path(path))
    path.write_bytes(b'name = "\xff"')
    with pytest.raises(InputError, match=r"is not UTF-8"):
        read_rubric(InputFile.from_path(path))


@pytest.mark.parametrize(
    ("document", "field", "said"),
    [
        ({}, "criterion", "is needed"),
        ([], "criterion", "is a table"),
        ({"criterion": []}, "criterion", "needs at least 1"),
        ({"criterion": [7]}, "criterion.1", "is a table"),
        (one(colour="red"), "criterion.c.colour", "is not a field of a rubric"),
        (one(question=" "), "criterion.c.question", "is empty"),
        (one(key="é!"), "criterion.é!.key", "is made of letters without accents, digits, _ and -"),
        (one(type="stars"), "criterion.c.type", "there is no type 'stars'"),
        (one(category=None), "criterion.c", "a scale has at least two categories"),
        (one(category=["a"]), "criterion.c", "a scale has at least two categories"),
        (one(category=["a", "a"]), "criterion.c", "the category 'a' stands twice"),
        (one(category=[{"label": "A"}, "b"]), "criterion.c.category.1.value", "is needed"),
        (one(type="ordinal", category=list(range(12))), "criterion.c", "an ordered scale has 2 to 11 steps, not 12"),
        (one(type="ordinal", category=["1", "2", "1e300"]), "criterion.c", "1e+300 is too large: numbers go from"),
        (one(type="number"), "criterion.c", "a number has no categories"),
        (one(type="text", category=None, level="nominal"), "criterion.c", "the level of this type is text"),
        (one(limits={"least": 1}), "criterion.c.limits.least", "is not a field of a rubric"),
        (one(type="multi_choice", limits={"least": 3}), "criterion.c.limits", "asks for more than the 2 categories"),
        (one(type="multi_choice", limits={"least": 2, "most": 1}), "criterion.c.limits", "cannot both hold"),
        (one(type="multi_choice", category=["a|b", "c"]), "criterion.c", "holds no |"),
        (one(type="multi_choice", category=["-", "c"]), "criterion.c", "is not -"),
        (one(type="multi_choice", category=[f"{n:064}" for n in range(9)]), "criterion.c", "more than 400 characters"),
        (one(type="span", category=[]), "criterion.c", "say what may be marked"),
        (one(type="span", limits={"severities": ["a"]}), "criterion.c.limits.severities", "two severities or more"),
        (one(type="span", limits={"where": "title"}), "criterion.c.limits.where", "is '', 'turns', 'responses'"),
        (one(type="rewrite", category=None), "criterion.c", "a rewrite is asked of response or assistant_turn"),
        (one(type="ranking", category=None, unit="response"), "criterion.c", "a ranking is asked of item"),
        (
            one(type="ranking", category=None, limits={"ties": True, "best_worst": True}),
            "criterion.c.limits",
            "not both",
        ),
        (one(type="number", category=None, limits={"step": 0}), "criterion.c.limits.step", "is above 0"),
        (one(type="number", category=None, limits={"slider": True}), "criterion.c.limits", "a slider needs"),
        (
            one(type="number", category=None, limits={"least": 0, "most": 1, "step": 5}),
            "criterion.c.limits",
            "is wider",
        ),
        (one(type="number", category=None, limits={"least": "NaN"}), "criterion.c.limits.least", "is a"),
        (one(example=[{"text": "x", "image": "https://x.org/a.png"}]), "criterion.c.example.1.image", "is a data URI"),
        (one(example=[{"text": "x", "image": "data:image/png;base64,PHN2Zz4="}]), "criterion.c.example.1.image", "PNG"),
        (
            one(example=[{"text": "x", "image": "data:image/svg+xml;base64,PHN2Zz4="}]),
            "criterion.c.example.1.image",
            "PNG",
        ),
        (one(question="a\0b"), "criterion.c.question", "cannot be kept"),
        ({"kind": "dialogue", **PAIR | {"kind": "dialogue"}}, "criterion.order", "a dialogue has none"),
        ({**ALL_TYPES, "kind": "pair"}, "criterion.errors", "a response pair has none"),
    ],
)
def test_a_bad_rubric_is_refused_at_its_field(document, field, said):
    where, message = refused(document)
    assert (where, said in message) == (field, True), (where, message)


def condition(**changes):
    """Two criteria, of which the second waits for the first."""
    first = {"key": "a", "type": "binary", "question": "?"}
    second = {"key": "b", "type": "binary", "question": "?", "condition": {"criterion": "a", "values": ["yes"]}}
    return {"criterion": [{**first, **changes.get("a", {})}, {**second, **changes.get("b", {})}]}


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (condition(b={"condition": {"criterion": "z", "values": ["yes"]}}), "there is no criterion 'z'"),
        (condition(b={"condition": {"criterion": "a", "values": ["maybe"]}}), "can never hold: a has no value 'maybe'"),
        (condition(b={"condition": {"criterion": "a", "values": []}}), "needs at least 1"),
        (condition(b={"condition": {"criterion": "b", "values": ["yes"]}}), "goes in a circle"),
        (condition(a={"condition": {"criterion": "b", "values": ["yes"]}}), "goes in a circle"),
        (condition(a={"type": "text"}), "which has no categories"),
        (condition(a={"unit": "user_turn"}), "asked of each user turn"),
    ],
)
def test_a_condition_that_can_never_hold_is_refused(document, said):
    assert said in refused(document)[1]


def test_a_condition_on_what_is_asked_later_is_refused():
    later = copy.deepcopy(condition())
    later["criterion"].reverse()
    assert refused(later) == ("criterion.b.condition", "waits for a, which is asked later: move that before it")
    assert parse_rubric(condition()).criteria[1].condition is not None


def test_two_criteria_have_two_keys():
    assert refused(condition(b={"key": "a", "condition": None})) == (
        "criterion.a.key",
        "another criterion has this key; each needs its own",
    )


def test_a_file_of_one_criterion_is_a_rubric():
    scale = '[[categories]]\nvalue = "1"\n[[categories]]\nvalue = "2"\n'
    text = f'key = "c"\nkind = "pair"\nquestion = "?"\nturn = "user"\n{scale}'
    rubric = read_text(text, "toml")
    assert (rubric.kind, rubric.criteria[0].level, rubric.criteria[0].values) == ("pair", "nominal", ["1", "2"])
    assert json.loads(write_rubric(rubric, "json"))["criterion"][0]["key"] == "c"
