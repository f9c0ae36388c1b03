"""A judge's reply -> a verdict, or the reason why it holds none (pure).

A reply that cannot be read is *unscored*, never a middle value and never a zero.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

VERDICT_KEYS = ("verdict", "score", "rating")
SPOKEN = re.compile(
    r"^\W*(?:[^\W\d]+[ _-]){0,4}(?:verdict|score|rating)\W*[:=]\W*(?P<value>[^\s*\"'.,;]+(?:\.\d+)?)",
    re.IGNORECASE | re.MULTILINE,
)
"""A line such as `Score: 3` or `**Personalization Score:** 3`."""

FIRST = re.compile(r"\A\W*(?P<value>\w+)\W+(?:explanation|justification|reason)\b", re.IGNORECASE)
"""A reply such as `True EXPLANATION: …`."""

OBJECT_FIRST = re.compile(r"\s*(?:```\w*\s*)?\{")
SAME = {"true": "yes", "false": "no"}
REASON = re.compile(r"\b(?:explanation|justification|reason)\b\W*(?P<reason>.*)\Z", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Verdict:
    value: str
    explanation: str = ""


@dataclass(frozen=True, slots=True)
class Unscored:
    """`reason` is refusal, truncated, unparsable or off_scale; a provider may add its own."""

    reason: str
    explanation: str = ""


def parse(text: str, *, scale: Mapping[str, str], stop: str = "end") -> Verdict | Unscored:
    """Read a reply. `scale` maps each value to its label; `stop` is why the reply ended (end, length, refusal).

    The verdict is what is said last, as a model that corrects itself does so at the end: a JSON object that holds one,
    or a line such as `Score: 3` outside of any. Without either, it is the first word before an explanation, or the
    whole reply if that is a value and nothing else. A value is taken if it is on the scale or is a label of it, else
    it is off scale: nothing is rounded or clipped.
    """
    if stop == "refusal":
        return Unscored("refusal", text.strip())
    found = last(said(text)) or said_first(text) or said_alone(text, scale)
    if found is None:
        return Unscored("truncated" if stop == "length" else "unparsable")
    value = on_scale(found.value, scale)
    return Unscored("off_scale", found.explanation) if value is None else Verdict(value, found.explanation)


@dataclass(frozen=True, slots=True)
class Said:
    """A verdict as it was said, and where in the text."""

    value: Any
    explanation: str
    place: int = 0


def said(text: str) -> Iterator[Said]:
    """Every verdict in the text, in JSON or in words. What stands inside an object, whole or cut off, is quoted."""
    objects = list(json_objects(text))
    yield from said_in_json(objects)
    if OBJECT_FIRST.match(text) and not objects:
        return
    for spoken in said_in_words(text):
        if not any(start <= spoken.place < end for start, end, _ in objects):
            yield spoken


def said_in_json(objects: Iterable[tuple[int, int, dict[str, Any]]]) -> Iterator[Said]:
    for start, _, found in objects:
        key = next((key for key in VERDICT_KEYS if key in found), None)
        if key:
            yield Said(found[key], str(found.get("explanation") or ""), start)


def json_objects(text: str) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """The outermost JSON objects with start and end, wherever they stand: alone, in a code block, between sentences."""
    decoder = json.JSONDecoder(strict=False)
    start = text.find("{")
    while start >= 0:
        try:
            found, end = decoder.raw_decode(text, start)
        except (json.JSONDecodeError, RecursionError):
            end = start + 1
        else:
            yield start, end, found
        start = text.find("{", end)


def said_in_words(text: str) -> Iterator[Said]:
    for match in SPOKEN.finditer(text):
        yield Said(match["value"], reason_after(text[match.end() :]) or text[: match.start()].strip(), match.start())


def said_first(text: str) -> Said | None:
    match = FIRST.match(text)
    return Said(match["value"], reason_after(text)) if match else None


def said_alone(text: str, scale: Mapping[str, str]) -> Said | None:
    """The whole reply, if it is a value of the scale."""
    word = text.strip().strip("*_`\"'.[]()").strip()
    return Said(word, "") if on_scale(word, scale) is not None else None


def reason_after(text: str) -> str:
    """What follows a word such as `Explanation:`; empty if there is none."""
    match = REASON.search(text)
    return match["reason"].strip() if match else ""


def last(found: Iterator[Said]) -> Said | None:
    return max(found, key=lambda one: one.place, default=None)


def on_scale(said: Any, scale: Mapping[str, str]) -> str | None:
    """The value of the scale that was meant, by its value or its label; None if it is none of them."""
    names = {label.casefold(): value for value, label in scale.items()}
    names |= {value.casefold(): value for value in scale}
    return next((names[text] for text in as_texts(said) if text in names), None)


def as_texts(said: Any) -> tuple[str, ...]:
    """How a scale may spell what was said: true may be a yes, and 3.0 is a 3."""
    if isinstance(said, bool):
        said = str(said)
    if isinstance(said, float) and said.is_integer():
        return (str(int(said)),)
    word = str(said).strip().casefold()
    return (word, SAME[word]) if word in SAME else (word,)
