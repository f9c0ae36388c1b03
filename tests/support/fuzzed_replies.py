"""Replies spoilt on purpose, for everything that reads text from outside: none may crash a reader or hold it up.

A reader that scans linearly takes twice as long for twice the text. The shapes are what makes a scanner go back: marks
that are nested or never closed, runs of one sign, and beginnings of what is looked for.
"""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from annotation.corpus.parsing import personalens_output
from annotation.corpus.parsing.records import DialogueRecord
from annotation.stats import words
from annotation.stats.benchmarks import shortcuts
from core.errors import InputError
from core.files import input_files
from core.files.input_files import InputFile
from core.jobs.backoff import TransientError
from judging.judges import parsing as judges_parsing
from judging.judges.prompts import alterations, evaluation, renamed, templates
from judging.judges.providers.base import Reply
from judging.judges.providers.baseline import words as baseline
from judging.judges.providers.chat_completions import Token, distribution
from judging.judges.providers.requests import DialogueContent, Person, Turn
from judging.judges.providers.scorer import endpoint, model_ratings
from judging.stats import retrieval, stated_verdicts
from simulation.agents.parsing import generated, seeds, speech
from simulation.agents.prompts.generation import TypeSpec
from simulation.stats import utterances

Reader = Callable[[str], object]

SCALE = {"1": "1 · None", "2": "2 · As told", "3": "3 · Known", "4": "4 · Anticipating"}
TYPES = [TypeSpec("Food", "Cuisine", several=True, possible=("Thai", "Greek"))]
FILE = InputFile(Path("reply"), "reply")


def fitting(read: Callable[[str], object]) -> Reader:
    """A reader that may refuse a text, in words."""

    def reader(text: str) -> object:
        with suppress(generated.UnfitError, InputError, TransientError):
            return read(text)
        return None

    return reader


def renaming(text: str) -> object:
    content = DialogueContent(turns=(Turn("user", text),), person=Person(persona=text))
    return renamed.rename_user(content, renamed.find_names(content), random.Random(0))


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")


READERS: Mapping[str, Reader] = {
    "verdict": partial(judges_parsing.parse, scale=SCALE),
    "verdict, cut": partial(judges_parsing.parse, scale=SCALE, stop="length"),
    "tokens": lambda text: distribution(
        [Token(text[at : at + 8], {"1": -0.1}) for at in range(0, len(text), 8)], list(SCALE)
    ),
    "summary of memories": evaluation.parse_summary,
    "scorer": fitting(lambda text: endpoint.parse_score(encoded(text))),
    "rating of a scorer": lambda text: model_ratings.parse_score(Reply(text=text)),
    "stated preference": stated_verdicts.find_stated_preference,
    "stated category": partial(stated_verdicts.find_stated_category, names={"yes": ["yes"], "no": ["no"]}),
    "stated score": partial(stated_verdicts.find_stated_score, scale=set(SCALE)),
    "turn of a user": partial(speech.parse_turn, side="user"),
    "turn of an assistant": partial(speech.parse_turn, side="assistant"),
    "repetition": lambda text: utterances.repeats(text, [text[1:]]),
    "leakage": lambda text: utterances.find_leaked(text, {"Food": {"Cuisine": "Thai food"}}),
    "preferences": fitting(lambda text: generated.preferences(text, TYPES)),
    "summary": fitting(generated.summary),
    "tasks": fitting(lambda text: generated.tasks(text, TYPES, 1)),
    "situation": fitting(generated.situation),
    "conflicts": fitting(lambda text: generated.conflicts(text, ["Food: Cuisine"])),
    "response": fitting(partial(seeds.response, question="What to cook?", level="none")),
    "words": words.split_words,
    "passages": retrieval.passages,
    "words of the baseline": baseline.content_words,
    "questions": baseline.questions,
    "layout": shortcuts.structure,
    "plain": alterations._plain,
    "bullets": alterations._bullets,
    "spaced": alterations._spaced,
    "another name": renaming,
    "placeholders": templates.names,
    "PersonaLens reply": lambda text: [personalens_output.verdict(text, key) for key in ("task_completion", "other")],
    "PersonaLens reason": personalens_output.explanation,
    "line of a file": fitting(lambda text: input_files.check_line(FILE, 1, encoded(text), DialogueRecord)),
    "document": fitting(lambda text: input_files.parse_document(FILE, encoded(text))),
}

GOOD = [
    '{"explanation": "It knows the user.", "verdict": "2"}',
    'Here it is:\n```json\n{"verdict": "4", "explanation": "a {brace} and a \\"quote\\""}\n```',
    "**Personalization Score:** 3\n**Explanation:** Knows the dog.",
    "True EXPLANATION: All was booked.",
    "Although A is more helpful, response B is better overall.\nVerdict: B",
    "<think>I want a table.</think>User: A table for two, please. [END]",
    "Assistant: Which day?\nUser: Friday.",
    '{"summary": "They have eaten Thai food on most evenings of the last month."}',
    '{"tasks": [{"description": "d", "intent": "i", "goal": "g", "preference_types": ["Cuisine"]}]}',
    '{"conflicts": [{"label": "l", "explanation": "e", "fields": ["Food: Cuisine"]}]}',
    '{"Cuisine": ["Thai"]}',
    '{"id": "d1", "turns": [{"role": "user", "content": "Hi"}]}',
    '{"score": 0.5}',
    "My name is Ann Lee. # Title\n- one\n- two **bold** ${name} $$ Is it far? Yes.",
]

BITS = [
    *"{}[]\"'\\`\n\r \t:,_*-.?!aA1é漢$#",
    *("```json\n", "score", "Score: ", "verdict", "Explanation: ", "reason ", "rate it ", "is ", "name is ", "prefer "),
    *(
        '{"',
        '{"a":',
        '{"a":[',
        '{"verdict":',
        '"verdict":',
        '\\"',
        "\\u12",
        "1.",
        "0e9",
        "NaN",
        "${",
        "A is better ",
        "but ",
    ),
    *(
        "<think>",
        "</think>",
        "<state>",
        "[END",
        "User:",
        "Assistant: ",
        "true ",
        "although ",
        "\u200b",
        "\x00",
        "\ud800",
    ),
]
"""What texts are spoilt with, and what shapes are made of."""


TOGETHER = [
    *(("{", " "), ('{"', "a"), ("{", '"'), ("Score", ":"), ("score ", "_"), ("\n", "Score: 3"), ('{"verdict": ', "9")),
    *(
        ('{"a": "', '{\\"'),
        ("`", "{"),
        ("```", " {"),
        ("A ", "is "),
        ("1 ", " "),
        ("the ", "better "),
        ("{}", "Score: 3\n"),
    ),
]
"""A beginning and what follows it, again and again."""


def shapes() -> Mapping[str, Callable[[int], str]]:
    """How each text of about n characters is made: a bit again and again, and a few in which two stand together."""
    found: dict[str, Callable[[int], str]] = {repr(bit): partial(again, bit) for bit in BITS}
    for before, bit in TOGETHER:
        found[repr((before, bit))] = partial(after, before, bit)
        found[repr((before, bit, "again"))] = partial(again, before + bit)
    found["nested and closed"] = lambda n: '{"a":' * (n // 6) + "1" + "}" * (n // 6)
    found["wide and closed"] = lambda n: '{"a":[' + "1," * (n // 2) + "1]}"
    found["words"] = lambda n: " ".join(f"w{k}" for k in range(n // 6))
    return found


def again(bit: str, n: int) -> str:
    return bit * (n // len(bit) + 1)


def after(before: str, bit: str, n: int) -> str:
    return before + again(bit, n)


def seconds(reader: Reader, text: str) -> float:
    gc.disable()  # else the time says how much there is in memory
    began = time.process_time()
    with suppress(Exception):  # `crashes` finds them
        reader(text)
    took = time.process_time() - began
    gc.enable()
    return took


@dataclass(frozen=True)
class Slow:
    """A reader that takes more than its share for twice the text."""

    reader: str
    shape: str
    size: int
    ratio: float
    seconds: float

    def __str__(self) -> str:
        took = f"{self.size * 4:,} characters in {self.seconds:.2f} s"
        return f"{self.reader} on {self.shape}: {self.ratio:.1f} times as long for twice the text ({took})"


TELLING = 0.03
"""Seconds from which a time says something about the reader rather than about the machine."""

MOST = 2.5


def doubling(name: str, reader: Reader, shape: str, make: Callable[[int], str], largest: int) -> Slow | None:
    """Double the text until it takes a telling time, or is the largest; then twice more. The best of three counts."""
    size = 32
    while (took := seconds(reader, make(size))) < TELLING and size < largest:
        size *= 2
    if took < TELLING:
        return None
    short, long = (min(seconds(reader, make(n)) for _ in range(3)) for n in (size, 4 * size))
    ratio = (long / short) ** 0.5
    return Slow(name, shape, size, ratio, long) if ratio > MOST else None


def slow_readers(largest: int, readers: Mapping[str, Reader] = READERS) -> Iterator[Slow]:
    """Every reader on every shape, up to texts of `largest` characters."""
    for name, reader in readers.items():
        for shape, make in shapes().items():
            if slow := doubling(name, reader, shape, make, largest):
                yield slow


def spoilt(chance: random.Random) -> str:
    """A good reply with some things wrong, or bits alone."""
    text = chance.choice([*GOOD, ""])
    for _ in range(chance.choice((1, 1, 2, 3, 8))):
        place = chance.randrange(len(text) + 1)
        bit = chance.choice(BITS) * chance.choice((1, 1, 1, 2, 30, 300))
        text = text[:place] + bit + text[place + chance.choice((0, 0, 1, 5, 40)) :]
    return text


def crashes(n: int, seed: int, readers: Mapping[str, Reader] = READERS) -> list[str]:
    """`n` spoilt replies, each by every reader: what raised, and on what."""
    chance, found = random.Random(seed), []
    for _ in range(n):
        text = spoilt(chance)
        for name, reader in readers.items():
            try:
                reader(text)
            except Exception as error:  # noqa: BLE001 — whatever it is, it is a failure
                found.append(f"{name}: {type(error).__name__}: {str(error)[:100]} on {text[:80]!r}")
    return found
