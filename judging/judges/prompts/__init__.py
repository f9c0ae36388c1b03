"""Rubric + item -> the words that a model is asked in (pure).

Concord's own templates are the files in `texts`, one for each criterion and kind of item; a judge may bring its own
(`templates` says what may stand in it). The item comes first and the criterion last, so that a server can reuse the
part that several requests share. What is rated, and what is known of its user, stands between lines that carry a mark
which does not occur in it, so that nothing inside can close the fence. Nothing is ever cut.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from annotation.stats.orders import LETTERS
from judging.judges.prompts import answers, templates
from judging.judges.prompts.known_facts import TASK, USER, join_paragraphs, list_known
from judging.judges.prompts.templates import (
    NO_TURN,
    TemplateError,
    kinds,
    names_criterion,
    names_turn,
    placeholders,
    problems,
    shows_examples,
    template,
    version,
)
from judging.judges.providers.requests import Content, CriterionSpec, DialogueContent, PairContent, Prompt

NOT_KNOWN = "(not known)"
NO_EXAMPLES = "The template has no $examples, so the judge's examples would not be shown."
OPTIONAL = ("about_user", "about_task", "about_intent", "about_goal", "about_situation", "about_preferences")
"""Paragraphs that are left out where nothing is known. What is asked for by its own name is said not to be known."""

RESPONSES = [f"response_{letter.lower()}" for letter in LETTERS]

OF_AN_EXAMPLE = {
    "dialogue": ("conversation", "about_user", "about_task"),
    "pair": ("question", "about_user", *RESPONSES),
}
"""What is shown of an example, in this order."""

TITLES = {
    "conversation": "the conversation",
    "question": "the question",
    **{f"response_{letter.lower()}": f"response {letter}" for letter in LETTERS},
    "about_user": "what is known of the user",
    "about_task": "what is known of the task",
    "about_intent": "what the user asks for",
    "about_goal": "when the task is done",
    "about_situation": "the situation",
    "about_preferences": "the user's preferences",
}


@dataclass(frozen=True, slots=True)
class ShownExample:
    """A settled item as a prompt shows it: its material by placeholder, people's verdict, and why if they said so.

    With `turn`, the verdict is on that turn of its conversation, or on the response that stands there alone.
    """

    material: Mapping[str, str]
    verdict: str
    why: str = ""
    turn: int = 0


def render(
    criterion: CriterionSpec,
    content: Content,
    *,
    template: str = "",
    system: str | None = None,
    examples: Sequence[ShownExample] = (),
) -> Prompt:
    """The prompt that asks for one criterion of one item. TemplateError if the template given cannot do so.

    Examples stand where `$examples` is, which in Concord's own templates is between the item and the criterion.
    """
    kind = "pair" if isinstance(content, PairContent) else "dialogue"
    if template and (wrong := problems(template, kind)):
        raise TemplateError(" ".join(wrong))
    whole = chosen = template or choose_template(kind, criterion.key, content)
    if examples and not shows_examples(whole):
        raise TemplateError(NO_EXAMPLES)
    facts = build_placeholders(content)
    settled = render_examples(examples, kind, facts)
    if not settled:
        chosen = templates.drop_placeholder(chosen, "examples")
    if isinstance(content, PairContent) and content.is_alone:
        chosen = templates.drop_placeholder(chosen, "response_b")
    for name in OPTIONAL:
        chosen = chosen if facts.get(name) else templates.drop_placeholder(chosen, name)
    mark = build_mark(content)
    turn = describe_turn(content)
    if turn:
        check_names_turn(whole)
        facts["conversation"] += turn_line(content.turn if isinstance(content, DialogueContent) else None, mark)
    words_of_answer = None if criterion.is_choice else answers.describe(criterion, content)
    values = {
        **{name: fence(name, fact, mark) for name, fact in facts.items()},
        **describe_criterion(criterion, words_of_answer),
    }
    if isinstance(content, PairContent):
        values["response_b"] = "\n\n".join(values[name] for name in RESPONSES[1:] if name in values)
    values["examples"] = settled
    if turn:
        values |= {"turn": turn, "asked": f"{criterion.question}\n{turn}"}
    words, ends = templates.fill(chosen, (values | {"mark": mark}).__getitem__)
    said = templates.system_text(system)
    return Prompt(
        system=said,
        user=words,
        schema=schema(criterion.values) if words_of_answer is None else words_of_answer.schema,
        version=templates.digest(said, whole, find_answer_text(criterion), *build_extras(turn, examples)),
        shared=end_of_item(ends, kind),
    )


def choose_template(kind: str, key: str, content: Content) -> str:
    """Concord's own template: of a pair that of its criterion, of any other number of responses the one for them."""
    is_other = isinstance(content, PairContent) and len(content.responses) != 2
    return templates.template("responses", key) if is_other else templates.template(kind, key)


def find_answer_text(criterion: CriterionSpec) -> str:
    """What says how an answer of this type is given."""
    return templates.text("answer" if criterion.is_choice else f"answers/{criterion.type}")


def build_extras(turn: str, examples: Sequence[ShownExample]) -> list[str]:
    """What the prompt is made of besides, where it asks about a turn or shows examples."""
    of_turn = [templates.text("turn")] if turn else []
    shown = [
        json.dumps([sorted(one.material.items()), one.verdict, one.why, *([one.turn] if one.turn else [])])
        for one in examples
    ]
    return [*of_turn, *([templates.text("examples"), templates.text("example"), *shown] if shown else [])]


def render_examples(examples: Sequence[ShownExample], kind: str, facts: Mapping[str, str]) -> str:
    """The paragraph of all examples, empty without any. Their mark occurs neither in them nor in the item."""
    if not examples:
        return ""
    texts = [*facts.values(), *(text for one in examples for text in (*one.material.values(), one.why))]
    mark = find_unused_mark("\n".join(sorted(texts)))
    each = "\n\n".join(example(one, number, kind, mark) for number, one in enumerate(examples, start=1))
    return templates.fill(templates.text("examples"), {"each": each}.__getitem__)[0]


def example(shown: ShownExample, number: int, kind: str, mark: str) -> str:
    """One example: its material and what people said of it, fenced, and their verdict."""
    material = dict(shown.material)
    if shown.turn and "conversation" in material:
        material["conversation"] += turn_line(shown.turn, mark)
    texts = [(TITLES[name], material.get(name, "")) for name in OF_AN_EXAMPLE[kind]]
    parts = [
        mark_section(f"example {number}: {title}", text, mark) for title, text in (*texts, ("why", shown.why)) if text
    ]
    values = {"material": "\n\n".join(parts), "number": str(number), "verdict": json.dumps(shown.verdict)}
    return templates.fill(templates.text("example"), values.__getitem__)[0]


def build_example_placeholders(content: Content) -> dict[str, str]:
    """What an example shows of an item, by placeholder; what is not known is left out."""
    kind = "pair" if isinstance(content, PairContent) else "dialogue"
    facts = build_placeholders(content)
    return {name: facts[name] for name in OF_AN_EXAMPLE[kind] if facts.get(name)}


def end_of_item(ends: Mapping[str, int], kind: str) -> int:
    """How far the prompt is the same whatever is asked: to the end of the item, if the criterion comes after it."""
    end = max(ends[name] for name in templates.NEEDED[kind] if name in ends)
    asked = any(place <= end for name, place in ends.items() if name in templates.OF_THE_CRITERION)
    return 0 if asked else end


def build_placeholders(content: Content) -> dict[str, str]:
    """What is to be rated and what is known, by placeholder; empty where nothing is known."""
    known = list_known(content)
    known |= {"about_user": join_paragraphs(known, USER)}
    if isinstance(content, DialogueContent):
        return {**known, "about_task": join_paragraphs(known, TASK), "conversation": number_turns(content)}
    question = "\n\n".join(part for part in (content.question, content.context) if part)
    return {**known, "question": question, **dict(zip(RESPONSES, content.responses.values(), strict=False))}


def fence(name: str, fact: str, mark: str) -> str:
    """The material between two marked lines."""
    if not fact and name in OPTIONAL:
        return ""
    return mark_section(TITLES.get(name, name), fact or NOT_KNOWN, mark)


def mark_section(title: str, text: str, mark: str) -> str:
    return f"---- {mark} {title} begins ----\n{text}\n---- {mark} {title} ends ----"


def describe_turn(content: Content) -> str:
    """Which turn is to be rated, in words; empty if it is the whole item."""
    if not isinstance(content, DialogueContent) or content.turn is None:
        return ""
    return templates.fill(templates.text("turn"), {"number": str(content.turn)}.__getitem__)[0]


def turn_line(number: int | None, mark: str) -> str:
    """What follows the turn to be rated. It carries the mark, so that nothing said in the dialogue can stand for it."""
    return f"\n---- {mark} this was turn [{number}], the one to rate ----"


def check_names_turn(template: str) -> None:
    if not templates.names_turn(template):
        raise TemplateError(templates.NO_TURN)


def number_turns(content: DialogueContent) -> str:
    return "\n\n".join(
        f"[{number}] {turn.role}: {turn.content}" for number, turn in enumerate(content.turns[: content.turn], start=1)
    )


def build_mark(content: Content) -> str:
    """The same for all turns of an item and both orders of its responses, so that their prompts begin alike."""
    whole = replace(content, turn=None) if isinstance(content, DialogueContent) else content
    return find_unused_mark("\n".join(sorted(build_placeholders(whole).values())))


def find_unused_mark(material: str) -> str:
    """Eight digits that do not occur in the material, and are the same whenever it is the same."""
    mark = hashlib.sha256(material.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return mark if mark not in material else find_unused_mark(material + mark)


def describe_criterion(criterion: CriterionSpec, told: answers.AnswerWords | None) -> dict[str, str]:
    """What a prompt says of the criterion; `told` is how the answer is given where that is not a choice."""
    values = ", ".join(json.dumps(value, ensure_ascii=False) for value in criterion.values)
    answer, _ = templates.fill(templates.text("answer"), {"values": values}.__getitem__)
    of_type = (
        {}
        if told is None
        else {"level": criterion.type, "scale": told.scale, "values": told.values, "answer": told.how}
    )
    return {
        "turn": "",
        "examples": "",
        "criterion": criterion.name,
        "asked": criterion.question,
        "guideline": criterion.guideline.strip(),
        "level": criterion.level,
        "scale": "\n".join(category_in_words(c.value, c.label, c.guideline) for c in criterion.categories),
        "values": values,
        "answer": answer,
        **of_type,
    }


def category_in_words(value: str, label: str, guideline: str) -> str:
    return f"{json.dumps(value, ensure_ascii=False)}: {'. '.join(part for part in (label, guideline) if part)}"


def schema(values: Sequence[str]) -> Mapping[str, object]:
    """JSON schema of the answer. The explanation stands first, since what is written first shapes what follows."""
    return {
        "type": "object",
        "properties": {"explanation": {"type": "string"}, "verdict": {"type": "string", "enum": list(values)}},
        "required": ["explanation", "verdict"],
        "additionalProperties": False,
    }


__all__ = [
    "NO_EXAMPLES",
    "NO_TURN",
    "ShownExample",
    "TemplateError",
    "build_example_placeholders",
    "kinds",
    "names_criterion",
    "names_turn",
    "placeholders",
    "problems",
    "render",
    "shows_examples",
    "template",
    "version",
]
