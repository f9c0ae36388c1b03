"""A judge's reply -> a verdict, or the reason why it holds none (pure).

A reply that cannot be read is *unscored*, never a middle value and never a zero.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

VERDICT_KEYS = ("verdict", "score", "rating")
SPOKEN = re.compile(
    r"^(?:[^\w\n]|_)*+(?:[^\W\d_]++[ _-]){0,4}?(?:verdict|score|rating)[^\w:=]{0,40}[:=]\W{0,40}"
    r"(?P<value>[^\s*\"'.,;]+(?:\.\d+)?)",
    re.IGNORECASE | re.MULTILINE,
)
"""A line such as `Score: 3` or `**Personalization Score:** 3`."""

FIRST = re.compile(r"\A\W*(?P<value>\w+)\W+(?:explanation|justification|reason)\b", re.IGNORECASE)
"""A reply such as `True EXPLANATION: …`."""

LONGEST = 500_000
"""Characters of a reply that are read, where the site does not say otherwise."""

OBJECT_FIRST = re.compile(r"\s*(?:```\w*\s*)?\{")
SAME = {"true": "yes", "false": "no"}
REASON = re.compile(r"\b(?:explanation|justification|reason)\b\W*(?P<reason>.*)\Z", re.IGNORECASE | re.DOTALL)


UNREAD = ("unparsable", "off_scale", "truncated", "oversized")
"""Reasons for which a model is asked again by itself: its reply was not read. A refusal was."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A value of the scale, or an answer of another type with what does not fit into it."""

    value: str
    explanation: str = ""
    content: object = None


@dataclass(frozen=True, slots=True)
class Unscored:
    """`reason` is refusal, truncated, oversized, unparsable or off_scale; a provider may add its own."""

    reason: str
    explanation: str = ""


def parse(text: str, *, scale: Mapping[str, str], stop: str = "end", longest: int = LONGEST) -> Verdict | Unscored:
    """Read a reply. `scale` maps each value to its label; `stop` is why the reply ended (end, length, refusal).

    The time taken grows with the length of the reply. One of more than `longest` characters is not read.

    The verdict is what is said last, as a model that corrects itself does so at the end: a JSON object that holds one,
    or a line such as `Score: 3` outside of any. Without either, it is the first word before an explanation, or the
    whole reply if that is a value and nothing else. A value is taken if it is on the scale or is a label of it, else
    it is off scale: nothing is rounded or clipped.
    """
    if stop == "refusal":
        return Unscored("refusal", text.strip())
    if len(text) > longest:
        return Unscored("oversized")
    found = find_last_verdict(text) or find_first_verdict(text) or parse_bare_value(text, scale)
    if found is None:
        return Unscored("truncated" if stop == "length" else "unparsable")
    value = match_scale(found.value, scale)
    return Unscored("off_scale", found.explanation) if value is None else Verdict(value, found.explanation)


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """A verdict as it was said, and where in the text."""

    value: object
    explanation: str
    place: int = 0


Found = tuple[int, int, dict[str, object]]
"""A JSON object with its start and end."""


def find_last_verdict(text: str) -> ParsedReply | None:
    """The last verdict in JSON or in words. What stands inside an object, whole or cut off, is quoted."""
    objects = list(find_objects(text))
    in_json = parse_json_verdict(objects)
    in_words = None if OBJECT_FIRST.match(text) and not objects else parse_worded_verdict(text, objects)
    return max((one for one in (in_json, in_words) if one), key=lambda one: one.place, default=None)


def parse_json_verdict(objects: Sequence[Found]) -> ParsedReply | None:
    """The verdict of the last object that holds one."""
    for start, _, found in reversed(objects):
        if key := next((key for key in VERDICT_KEYS if key in found), None):
            return ParsedReply(found[key], str(found.get("explanation") or ""), start)
    return None


def parse_worded_verdict(text: str, objects: Sequence[Found]) -> ParsedReply | None:
    """The verdict of the last line that states one outside of the objects."""
    starts = [start for start, _, _ in objects]
    last = None
    for match in SPOKEN.finditer(text):
        before = bisect_right(starts, match.start("value"))
        if not before or objects[before - 1][1] <= match.start("value"):
            last = match
    if last is None:
        return None
    explanation = reason_after(text[last.end() :]) or text[: last.start()].strip()
    return ParsedReply(last["value"], explanation, last.start("value"))


def find_first_verdict(text: str) -> ParsedReply | None:
    match = FIRST.match(text)
    return ParsedReply(match["value"], reason_after(text)) if match else None


def parse_bare_value(text: str, scale: Mapping[str, str]) -> ParsedReply | None:
    """The whole reply, if it is a value of the scale."""
    word = text.strip().strip("*_`\"'.[]()").strip()
    return ParsedReply(word, "") if match_scale(word, scale) is not None else None


def reason_after(text: str) -> str:
    """What follows a word such as `Explanation:`; empty if there is none."""
    match = REASON.search(text)
    return match["reason"].strip() if match else ""


def match_scale(said: object, scale: Mapping[str, str]) -> str | None:
    """The value of the scale that was meant, by its value or its label; None if it is none of them."""
    names = {label.casefold(): value for value, label in scale.items()}
    names |= {value.casefold(): value for value in scale}
    return next((names[text] for text in to_texts(said) if text in names), None)


def to_texts(said: object) -> tuple[str, ...]:
    """How a scale may spell what was said: true may be a yes, and 3.0 is a 3."""
    if isinstance(said, bool):
        said = str(said)
    if isinstance(said, float) and said.is_integer():
        return (str(int(said)),)
    word = str(said).strip().casefold()
    return (word, SAME[word]) if word in SAME else (word,)


TOKEN = re.compile(
    r"""[ \t\n\r]*+(?:
        (?P<string>"(?:[^"\\]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+")
      | (?P<scalar>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null|NaN|-?Infinity)
      | (?P<mark>[{}\[\]:,]))""",
    re.VERBOSE,
)
BLANK = re.compile(r"[ \t\n\r]*+")
DEEPEST = 200
"""Objects and lists inside each other. Deeper is no verdict, and would exhaust the decoder."""

KEY, KEY_OR_END, COLON, VALUE, VALUE_OR_END, AFTER_VALUE, AFTER_ITEM = range(7)
ALLOWED = {
    KEY: "s",
    KEY_OR_END: "s}",
    COLON: ":",
    VALUE: "sv{[",
    VALUE_OR_END: "sv{[]",
    AFTER_VALUE: ",}",
    AFTER_ITEM: ",]",
}
"""What may stand where: a string (s), another single value (v), or a mark."""

NEXT = {":": VALUE, "{": KEY_OR_END, "[": VALUE_OR_END}


def find_objects(text: str) -> Iterator[tuple[int, int, dict[str, object]]]:
    """Yield the outermost objects with start and end, wherever they stand: alone, in code, between sentences.

    A reply is text from outside, and may be made to hold one up. `json.JSONDecoder.raw_decode` at every brace takes
    time by the square of the length: each failure counts the lines before it, and objects that are not closed are read
    again from each brace inside. Here nothing is read twice: where an object breaks off, so does every open one inside
    it, and only the last string may hold the beginning of another.
    """
    start = text.find("{")
    while start >= 0:
        spans, resume = scan(text, start)
        for begin, end in spans:
            try:
                yield begin, end, json.loads(text[begin:end], strict=False)
            except (ValueError, RecursionError):  # a number of thousands of digits
                continue
        start = text.find("{", resume)


def scan(text: str, start: int) -> tuple[list[tuple[int, int]], int]:
    """Read the object at `start`. Return its span, or those of the whole ones in it if it breaks off; and where to
    look for the next one."""
    open_at: list[int] = []
    spans: list[tuple[int, int]] = []
    state, position, resume = VALUE, start, start + 1
    while token := TOKEN.match(text, position):
        kind = token["mark"] or ("s" if token["string"] else "v")
        if kind not in ALLOWED[state] or len(open_at) > DEEPEST:
            break
        position, begin = token.end(), token.start(token.lastgroup or 0)
        resume = begin + 1 if kind == "s" else position
        if kind in "{[":
            open_at.append(begin)
        elif kind in "}]":
            opened = open_at.pop()
            if kind == "}":
                keep_outermost(spans, (opened, position))
            if not open_at:
                return spans, position
        state = find_next_state(state, kind, in_object=text[open_at[-1]] == "{")
    broken = BLANK.match(text, position)
    at = broken.end() if broken else position
    return spans, at + 1 if text[at : at + 1] == '"' else resume


def find_next_state(state: int, kind: str, *, in_object: bool) -> int:
    """What is expected after a string, value or mark."""
    if kind in NEXT:
        return NEXT[kind]
    if kind == ",":
        return KEY if in_object else VALUE
    if state in (KEY, KEY_OR_END) and kind == "s":
        return COLON
    return AFTER_VALUE if in_object else AFTER_ITEM


def keep_outermost(spans: list[tuple[int, int]], span: tuple[int, int]) -> None:
    """Add a span, in place of those inside it."""
    while spans and spans[-1][0] > span[0]:
        spans.pop()
    spans.append(span)
