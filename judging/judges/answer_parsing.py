"""Answers of judges that are no choice: read, and called as they are stored (pure).

What comes is turned into what people give on the page, and read by the same rules
(`annotation.studies.parsing.answers`): a judge's number, set, ranking, spans or text is held to the same limits. What
does not fit is off scale: nothing is rounded, clipped or guessed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from annotation.stats.orders import list_places
from annotation.stats.rankings import BETTER, TIED
from annotation.studies.parsing.answers import JOINED_BY, NOTHING, Answer, AnswerFormat, parse_answer
from core.errors import InputError
from judging.judges import parsing
from judging.judges.parsing import Unscored, Verdict
from judging.judges.providers.requests import CriterionSpec

QUOTES = ("quote", "text", "words")
"""What a judge may call the words that it marks."""


def read_reply(asked: AnswerFormat, text: str, *, stop: str, longest: int) -> Verdict | Unscored:
    """Read a reply in words, or the reason why it holds no answer."""
    if stop == "refusal":
        return Unscored("refusal", text.strip())
    if len(text) > longest:
        return Unscored("oversized")
    found = parsing.find_last_verdict(text)
    if found is None:
        return Unscored("truncated" if stop == "length" else "unparsable")
    try:
        return read_value(asked, found.value, found.explanation)
    except InputError as error:
        return Unscored("off_scale", f"{found.explanation}\n{error.message}".strip())


def read_value(asked: AnswerFormat, value: object, explanation: str = "") -> Verdict:
    """Read what stands under "verdict". Raises InputError where it is no answer."""
    answer = parse_answer(asked, TO_GIVEN[asked.type](asked, value))
    return Verdict(answer.value, explanation, answer.content)


def give_number(_: AnswerFormat, value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError("The verdict is not a number.")
    return str(value).strip()


def give_several(asked: AnswerFormat, value: object) -> str:
    named = value if isinstance(value, list) else str(value).replace(",", JOINED_BY).split(JOINED_BY)
    names = [str(one).strip() for one in named]
    by_name = {value.casefold(): value for value in asked.values}
    if names in (["none"], [NOTHING], [""]):
        return NOTHING
    return JOINED_BY.join(dict.fromkeys(by_name.get(name.casefold(), name) for name in names)) or NOTHING


def give_ranking(_: AnswerFormat, value: object) -> str:
    if isinstance(value, list):
        groups = [one if isinstance(one, list) else [one] for one in value]
        return BETTER.join(TIED.join(str(name).strip() for name in group) for group in groups)
    return "".join(str(value).split())


def give_spans(asked: AnswerFormat, value: object) -> str:
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise InputError("The verdict is not a list of passages.")
    return json.dumps([locate(asked, one) for one in value])


def locate(asked: AnswerFormat, given: Mapping[str, object]) -> dict[str, object]:
    """A passage by its place: quoted words are looked for where they are said to stand, else everywhere, once."""
    told = {name: one for name, one in given.items() if name not in QUOTES}
    quote = next((str(given[name]) for name in QUOTES if given.get(name)), "")
    if not quote or "start" in given:
        return told
    said = str(given.get("part"))
    parts = [said] if said in asked.texts else list(asked.texts)
    places = [(name, asked.texts[name].find(quote)) for name in parts if quote in asked.texts[name]]
    if not places:
        raise InputError("{quote!r} does not stand in what is rated.", quote=quote[:60])
    name, start = places[0]
    return {**told, "part": name, "start": start, "end": start + len(quote)}


def give_text(_: AnswerFormat, value: object) -> str:
    if not isinstance(value, str):
        raise InputError("The verdict is not text.")
    return value


TO_GIVEN: dict[str, Callable[[AnswerFormat, object], str]] = {
    "number": give_number,
    "several": give_several,
    "ranking": give_ranking,
    "spans": give_spans,
    "text": give_text,
    "rewrite": give_text,
}


def to_stored(value: str, content: object, criterion: CriterionSpec, order: str) -> Answer:
    """The answer with responses by their numbers, whichever side they were shown on."""
    numbers = list_places(order)
    if criterion.type == "ranking" and order:
        groups = [sorted(numbers.get(name, name) for name in group.split(TIED)) for group in value.split(BETTER)]
        return Answer(BETTER.join(TIED.join(group) for group in groups))
    if isinstance(content, list) and order:
        spans = [{**one, "part": f"response-{numbers[one['part']]}"} for one in content]
        return Answer(value, sorted(spans, key=lambda one: (one["part"], one["start"], one["end"], one["category"])))
    return Answer(value, content)
