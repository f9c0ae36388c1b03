"""Answers of every type: read from what a page or file gives, and written in one canonical form.

| type | given | value | content |
|---|---|---|---|
| choice | a category | the category | |
| number | a decimal number | the number without exponent and trailing zeros | |
| several | categories joined by `|`, `-` for none of them | the same in scale order | |
| ranking | `1>3=2` over the responses, best first | `1>2=3` | |
| spans | JSON: a list of category, part, start, end; or of category, quote | how many there are | the spans in order |
| text | the text | how many words it has | {"text": …} |
| rewrite | the text | how many words it has | {"text": …, "response" or "turn": its number} |

A best–worst answer is a ranking of three groups: best > all others > worst.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, NotRequired, TypedDict

from annotation.stats.rankings import BETTER, TIED, Ranking, check_responses, parse_ranking, spell_ranking
from core.errors import InputError
from core.files.json_text import parse_json

LONGEST_VALUE = 400
"""Characters of a canonical value."""

LONGEST_TEXT = 20_000
"""Characters of a text or rewrite, where the criterion sets no limit of its own."""

MOST_SPANS = 200
LARGEST_NUMBER = Decimal("1e15")
MOST_PLACES = 15

JOINED_BY = "|"
NOTHING = "-"
"""The empty set of categories, as an answer."""


class StoredSpan(TypedDict):
    """A marked passage, and how severe the error in it is where the criterion asks for that."""

    part: str
    start: int
    end: int
    category: str
    text: str
    severity: NotRequired[str]


SPAN_FIELDS = ("part", "start", "end", "category", "severity")
"""What a span is given by, in the order in which it is spelled."""


@dataclass(frozen=True)
class AnswerFormat:
    """What of a criterion, and of the item it is asked of, decides which answers there are.

    `values` are its categories in scale order, `limits` those of its type, `responses` the names of the responses to
    rank, `texts` the parts of the item in which spans may lie, `original` the text that a rewrite begins with.
    """

    type: str
    values: Sequence[str] = ()
    limits: Mapping[str, Any] = field(default_factory=dict)
    responses: Sequence[str] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    original: str | None = None


@dataclass(frozen=True)
class Answer:
    """The canonical short form, and what does not fit there."""

    value: str
    content: Any = None


def parse_answer(asked: AnswerFormat, given: str) -> Answer:
    """The answer that `given` is. Raises InputError, in words for the person who gave it, for anything else."""
    return PARSERS[asked.type](asked, given)


def parse_choice(asked: AnswerFormat, given: str) -> Answer:
    if given not in asked.values:
        raise InputError("{given!r} is not on the scale: {values}.", given=given, values=", ".join(asked.values))
    return Answer(given)


def parse_number(asked: AnswerFormat, given: str) -> Answer:
    number = read_decimal(given)
    limits = {name: Decimal(str(asked.limits[name])) for name in ("least", "most", "step") if name in asked.limits}
    if number < limits.get("least", number) or number > limits.get("most", number):
        bounds = describe_bounds(asked.limits)
        raise InputError("{number} is out of range: {bounds}.", number=spell_decimal(number), bounds=bounds)
    step, start = limits.get("step"), limits.get("least", Decimal(0))
    if step and (number - start) % step:
        number_said, step_said = spell_decimal(number), spell_decimal(step)
        raise InputError("{number} is not on a step of {step}.", number=number_said, step=step_said)
    return Answer(spell_decimal(number))


def read_decimal(given: str) -> Decimal:
    text = given.strip()
    try:
        number = Decimal(text if text.isascii() and "_" not in text else "none")
    except InvalidOperation as error:
        raise InputError("{text!r} is not a number; write it like 12 or 0.5.", text=text[:40]) from error
    if not number.is_finite() or abs(number) > LARGEST_NUMBER:
        raise InputError("{text!r} is not a number that is counted with here.", text=text[:40])
    if spell_decimal(number)[::-1].find(".") > MOST_PLACES:
        raise InputError("A number has at most {most} places behind the point.", most=MOST_PLACES)
    return number


def spell_decimal(number: Decimal) -> str:
    """A number without exponent, trailing zeros and sign of zero."""
    text = f"{number:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def describe_bounds(limits: Mapping[str, object], gettext: Callable[[str], str] = str) -> str:
    """The bounds of a number in words, as `gettext` has these."""
    least, most = limits.get("least"), limits.get("most")
    unit = f" {limits['unit']}" if limits.get("unit") else ""
    if least is None and most is None:
        return ""
    if least is None or most is None:
        template = gettext("at least {least}") if least is not None else gettext("at most {most}")
    else:
        template = gettext("from {least} to {most}")
    return template.format(least=least, most=most) + unit


def parse_several(asked: AnswerFormat, given: str) -> Answer:
    named = [] if given == NOTHING else given.split(JOINED_BY)
    if unknown := [name for name in named if name not in asked.values]:
        raise InputError("{given!r} is not on the scale: {values}.", given=unknown[0], values=", ".join(asked.values))
    chosen = [value for value in asked.values if value in named]
    least, most = asked.limits.get("least", 0), asked.limits.get("most", len(asked.values))
    if not least <= len(chosen) <= most:
        if least == most:
            raise InputError("Choose {most}, not {n}.", most=most, n=len(chosen))
        raise InputError("Choose {least} to {most}, not {n}.", least=least, most=most, n=len(chosen))
    return Answer(JOINED_BY.join(chosen) or NOTHING)


def describe_count(least: int, most: int) -> str:
    return str(least) if least == most else f"{least} to {most}"


def parse_ranked(asked: AnswerFormat, given: str) -> Answer:
    try:
        ranking = parse_ranking(given)
        check_responses(given, asked.responses)
    except ValueError as error:
        raise InputError("Rank every response once: {responses}.", responses=", ".join(asked.responses)) from error
    if asked.limits.get("best_worst"):
        check_best_worst(ranking)
    elif not asked.limits.get("ties") and any(len(group) > 1 for group in ranking):
        raise InputError("Give each response a rank of its own.")
    return Answer(spell_ranking(ranking))


def check_best_worst(ranking: Ranking) -> None:
    if not 2 <= len(ranking) <= 3 or len(ranking[0]) > 1 or len(ranking[-1]) > 1:
        raise InputError("Name one best and one worst response.")


def spell_best_worst(best: str, worst: str, responses: Sequence[str]) -> str:
    """The ranking that a best–worst answer is."""
    rest = TIED.join(name for name in responses if name not in (best, worst))
    return BETTER.join(part for part in (best, rest, worst) if part)


def parse_spans(asked: AnswerFormat, given: str) -> Answer:
    found = [read_span(asked, one) for one in read_list(given)]
    places = {name: place for place, name in enumerate(asked.texts)}
    found.sort(key=lambda one: (places[one["part"]], one["start"], one["end"], one["category"]))
    distinct = [one for place, one in enumerate(found) if one not in found[:place]]
    return Answer(str(len(distinct)), distinct)


def read_list(given: str) -> list[object]:
    try:
        spans = parse_json(given)
    except InputError as error:
        raise InputError("The marked words cannot be read.") from error
    if not isinstance(spans, list) or len(spans) > MOST_SPANS:
        raise InputError("Mark at most {most} passages.", most=MOST_SPANS)
    return spans


def read_span(asked: AnswerFormat, given: object) -> StoredSpan:
    """One span with its text. Raises InputError for one that lies elsewhere or has no category of the criterion."""
    given = given if isinstance(given, dict) else {}
    category = given.get("category")
    if category not in asked.values:
        raise InputError("Say what is marked: {values}.", values=", ".join(asked.values))
    part, start, end = find_quote(asked, given) if "quote" in given else find_offsets(asked, given)
    text = asked.texts[part][start:end]
    found: StoredSpan = {"part": part, "start": start, "end": end, "category": str(category), "text": text}
    if severity := read_severity(asked, given):
        found["severity"] = severity
    return found


def find_offsets(asked: AnswerFormat, given: Mapping[str, object]) -> tuple[str, int, int]:
    part, start, end = (given.get(name) for name in ("part", "start", "end"))
    text = asked.texts.get(part) if isinstance(part, str) else None
    if text is None or type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
        raise InputError("The marked words are not in what is asked about.")
    return str(part), start, end


def find_quote(asked: AnswerFormat, given: Mapping[str, object]) -> tuple[str, int, int]:
    """Where quoted words stand: in the part named, from `start` where that is given. InputError unless in one place."""
    quote, part, start = str(given["quote"]), given.get("part"), given.get("start")
    parts = [name for name in asked.texts if part in (None, "", name)]
    found = [(name, at) for name in parts for at in list_places(asked.texts[name], quote) if start in (None, at)]
    if not found:
        raise InputError("“{quote}” is not in what is asked about; quote it as it stands there.", quote=quote[:60])
    if len(found) > 1:
        raise InputError("“{quote}” stands there more than once: quote more of the words around it.", quote=quote[:60])
    name, at = found[0]
    return name, at, at + len(quote)


def list_places(text: str, quote: str) -> list[int]:
    """Where the quote begins in the text, overlapping places too."""
    return [at for at in range(len(text) - len(quote) + 1) if text.startswith(quote, at)] if quote else []


def read_severity(asked: AnswerFormat, given: Mapping[str, object]) -> str:
    """How severe the marked error is; empty unless the criterion asks for that."""
    severities = [str(one) for one in asked.limits.get("severities", ())]
    if not severities:
        return ""
    severity = given.get("severity")
    if severity not in severities:
        raise InputError("Say how severe each marked passage is: {severities}.", severities=", ".join(severities))
    return str(severity)


def parse_text(asked: AnswerFormat, given: str) -> Answer:
    text = given.replace("\r\n", "\n").replace("\r", "\n").strip()
    longest = asked.limits.get("longest", LONGEST_TEXT)
    if not text:
        raise InputError("Write something.")
    if len(text) > longest:
        raise InputError("Write at most {longest:,} characters; this has {n:,}.", longest=longest, n=len(text))
    return Answer(str(len(text.split())), {"text": text})


def parse_rewrite(asked: AnswerFormat, given: str) -> Answer:
    answer = parse_text(asked, given)
    if is_unchanged(asked, given):
        raise InputError("Nothing was changed yet.")
    return answer


def is_unchanged(asked: AnswerFormat, given: str) -> bool:
    """Whether a rewrite is still the text that it began with."""
    lines = (given.replace("\r\n", "\n").strip(), (asked.original or "").replace("\r\n", "\n").strip())
    return asked.type == "rewrite" and asked.original is not None and lines[0] == lines[1]


def spell_answer(answer: Answer) -> str:
    """What `parse_answer` reads as this answer."""
    if isinstance(answer.content, list):
        kept = [{name: one[name] for name in SPAN_FIELDS if name in one} for one in answer.content]
        return json.dumps(kept, ensure_ascii=False)
    return str(answer.content["text"]) if isinstance(answer.content, dict) else answer.value


PARSERS = {
    "choice": parse_choice,
    "number": parse_number,
    "several": parse_several,
    "ranking": parse_ranked,
    "spans": parse_spans,
    "text": parse_text,
    "rewrite": parse_rewrite,
}
