"""How a judge is told to give an answer that is not a choice: in words, and as a JSON schema (pure)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from annotation.studies.parsing.answers import LONGEST_TEXT, AnswerFormat, describe_bounds, describe_count
from judging.judges.prompts import templates
from judging.judges.providers.requests import Content, CriterionSpec, PairContent

Schema = Mapping[str, object]

TEXT: Schema = {"type": "string"}
ROLES = {"user_turns": "user", "assistant_turns": "assistant"}


def build_format(criterion: CriterionSpec, content: Content) -> AnswerFormat:
    """Which answers to the criterion there are, in the names of the prompt: responses are A, B, …."""
    texts = list_texts(criterion, content)
    is_part = content.is_alone if isinstance(content, PairContent) else content.turn is not None
    return AnswerFormat(
        type=criterion.type,
        values=criterion.values,
        limits=criterion.limits,
        responses=tuple(content.responses) if isinstance(content, PairContent) else (),
        texts=texts,
        original=next(iter(texts.values()), None) if criterion.type == "rewrite" and is_part else None,
    )


def list_texts(criterion: CriterionSpec, content: Content) -> dict[str, str]:
    """The texts in which spans may lie, by their names in the prompt; with line ends as people saw them."""
    if isinstance(content, PairContent):
        found = content.responses
    else:
        role = ROLES.get(str(criterion.limits.get("where", "")))
        found = {
            f"turn-{number}": turn.content
            for number, turn in enumerate(content.turns, start=1)
            if role in (None, turn.role) and content.turn in (None, number)
        }
    return {name: text.replace("\r\n", "\n").replace("\r", "\n") for name, text in found.items()}


@dataclass(frozen=True)
class AnswerWords:
    """What a prompt says of the answer: the scale, the values alone, how to give it, and its JSON schema."""

    scale: str
    values: str
    how: str
    schema: Schema


def describe(criterion: CriterionSpec, content: Content) -> AnswerWords:
    """How the answer to a criterion of this type is asked for."""
    asked = build_format(criterion, content)
    describe_values, build_schema = WORDS_AND_SCHEMAS[asked.type]
    values = describe_values(asked)
    scale = "\n".join(
        f"{json.dumps(one.value, ensure_ascii=False)}: {'. '.join(filter(None, (one.label, one.guideline)))}"
        for one in criterion.categories
    )
    how, _ = templates.fill(templates.text(f"answers/{asked.type}"), {"values": values}.__getitem__)
    return AnswerWords(scale or values, values, how, wrap(build_schema(asked)))


def wrap(verdict: Schema) -> Schema:
    """The schema of a reply. The explanation stands first, since what is written first shapes what follows."""
    return {
        "type": "object",
        "properties": {"explanation": TEXT, "verdict": verdict},
        "required": ["explanation", "verdict"],
        "additionalProperties": False,
    }


def describe_number(asked: AnswerFormat) -> str:
    has_bounds = "least" in asked.limits or "most" in asked.limits
    bounds = describe_bounds(asked.limits) if has_bounds else str(asked.limits.get("unit") or "")
    step = f", in steps of {asked.limits['step']}" if asked.limits.get("step") else ""
    return f"a number {bounds}{step}".strip()


def describe_several(asked: AnswerFormat) -> str:
    least, most = asked.limits.get("least", 0), asked.limits.get("most", len(asked.values))
    return f"{describe_count(least, most)} of {list_names(asked.values)}"


def describe_ranking(asked: AnswerFormat) -> str:
    if asked.limits.get("best_worst"):
        return f"the best and the worst of the responses {list_names(asked.responses)}, all others level between them"
    ties = "responses may be level" if asked.limits.get("ties") else "no two level"
    return f"the responses {list_names(asked.responses)}, the best first, {ties}"


def describe_spans(asked: AnswerFormat) -> str:
    return f"passages of {list_names(tuple(asked.texts))}, each of one of {list_names(asked.values)}"


def describe_text(asked: AnswerFormat) -> str:
    return f"a text of at most {asked.limits.get('longest', LONGEST_TEXT):,} characters"


def list_names(names: Sequence[str]) -> str:
    return ", ".join(json.dumps(name, ensure_ascii=False) for name in names)


def enum(names: Sequence[str]) -> Schema:
    return {"type": "string", "enum": list(names)}


def schema_of_ranking(asked: AnswerFormat) -> Schema:
    return {"type": "array", "items": {"type": "array", "items": enum(asked.responses)}}


def schema_of_spans(asked: AnswerFormat) -> Schema:
    severities = [str(one) for one in asked.limits.get("severities", ())]
    fields = {"part": enum(tuple(asked.texts)), "quote": TEXT, "category": enum(asked.values)}
    fields |= {"severity": enum(severities)} if severities else {}
    one = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    return {"type": "array", "items": one}


WORDS_AND_SCHEMAS: dict[str, tuple[Callable[[AnswerFormat], str], Callable[[AnswerFormat], Schema]]] = {
    "number": (describe_number, lambda _: {"type": "number"}),
    "several": (describe_several, lambda asked: {"type": "array", "items": enum(asked.values)}),
    "ranking": (describe_ranking, schema_of_ranking),
    "spans": (describe_spans, schema_of_spans),
    "text": (describe_text, lambda _: TEXT),
    "rewrite": (describe_text, lambda _: TEXT),
}
"""By type, what of the answer is said in words, and its schema. How it is given stands in `texts/answers`."""
