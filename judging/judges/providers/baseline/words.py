"""Text -> words, for the features of the baseline judge."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

RUNS = re.compile(r"[一-鿿぀-ヿ가-힯]+|[^\W_一-鿿぀-ヿ가-힯]+")
EAST_ASIAN = re.compile(r"[一-鿿぀-ヿ가-힯]")
SENTENCE = re.compile(r"[^.!?。！？\n]*+[?？]?")
STOP_WORDS = frozenset(
    """a about after again all also am an and any are as at back be because been before being but by can could did do
    does doing done each few for from get give go good had has have having he her here him his how i if in into is it
    its just know let like ll look make many may me might more most much my need new no none not now of off on one only
    or other our out over own particular please prefer preference preferred re really s same see she should so some such
    t take than that the their them then there these they this those through time to too two under up us use user usual
    ve very want was we well were what when where which while who why will with would yes you your""".split()  # noqa: SIM905
)


def words(text: str) -> list[str]:
    """Lower-case words in order, without a plural s; East Asian text as pairs of neighbouring characters."""
    return [word for run in RUNS.findall(text.casefold()) for word in _words_of(run)]


def _words_of(run: str) -> Iterable[str]:
    if EAST_ASIAN.match(run):
        return [run[at : at + 2] for at in range(len(run) - 1)] or [run]
    return [run[:-1] if len(run) > 3 and run.endswith("s") and not run.endswith("ss") else run]


def content_words(text: str) -> set[str]:
    """The words that carry meaning."""
    return {word for word in words(text) if word not in STOP_WORDS and (len(word) > 1 or word.isdigit())}


def questions(text: str) -> list[str]:
    return [part.strip() for part in SENTENCE.findall(text) if part.endswith(("?", "？"))]


def strings(value: object) -> Iterator[str]:
    """Every text in nested data, in order; keys are left out."""
    if isinstance(value, Mapping):
        for part in value.values():
            yield from strings(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from strings(part)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)
