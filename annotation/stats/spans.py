"""What one person marked in one item as a label: passages with a category, and how far two such answers agree.

The label is JSON, ``[["turn-3",5,20,"accuracy"]]``: part, first character, character behind the last, category, sorted.
Nothing marked is ``[]``, an answer as well.
"""

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

FIELDS = 4


class Span(NamedTuple):
    """Characters ``start`` to ``end`` - 1 of a part of an item, marked as of a category."""

    part: str
    start: int
    end: int
    category: str


Spans = tuple[Span, ...]


def parse_spans(text: str) -> Spans:
    """Read spans, sorted, each once. Raises ``ValueError`` on anything else."""
    try:
        given = json.loads(text)
    except ValueError as error:
        raise ValueError(f"{text[:40]!r} are not spans such as {EXAMPLE}") from error
    if not isinstance(given, list):
        raise ValueError(f"{text[:40]!r} are not spans such as {EXAMPLE}")  # noqa: TRY004 - bad input, like every other label
    return tuple(sorted({_span(one) for one in given}))


EXAMPLE = '[["turn-1", 5, 20, "accuracy"]]'


def _span(given: object) -> Span:
    if isinstance(given, list) and len(given) == FIELDS:
        part, start, end, category = given
        if isinstance(part, str) and isinstance(category, str) and type(start) is int and type(end) is int:
            if 0 <= start < end:
                return Span(part, start, end, category)
            raise ValueError(f"a span from {start} to {end} marks nothing")
    raise ValueError(f"{given!r} is not a span such as {EXAMPLE[1:-1]}")


def spell_spans(spans: Iterable[Span]) -> str:
    """Write spans as `parse_spans` reads them."""
    return json.dumps(sorted(set(spans)), ensure_ascii=False, separators=(",", ":"))


def categories_of(labels: Iterable[str]) -> tuple[str, ...]:
    """List the categories that occur in some labels, in alphabetical order."""
    return tuple(sorted({span.category for text in labels for span in parse_spans(text)}))


Runs = dict[tuple[str, str], list[tuple[int, int]]]
"""By part and category, runs of marked characters that do not touch, in their order."""


def find_marked_runs(spans: Iterable[Span], *, labelled: bool) -> Runs:
    """The marked characters; of each category apart, or with ``labelled`` false of all together (under ``""``)."""
    found: Runs = {}
    for span in sorted(spans):
        runs = found.setdefault((span.part, span.category if labelled else ""), [])
        runs.append((span.start, span.end))
    return {key: _merged(runs) for key, runs in found.items()}


def _merged(runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(runs):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def count_marked(runs: Runs) -> int:
    """How many characters are marked."""
    return sum(end - start for each in runs.values() for start, end in each)


def count_common(a: Runs, b: Runs) -> int:
    """How many characters both mark."""
    return sum(_common(a[key], b[key]) for key in a.keys() & b.keys())


def _common(a: Sequence[tuple[int, int]], b: Sequence[tuple[int, int]]) -> int:
    i = j = total = 0
    while i < len(a) and j < len(b):
        total += max(0, min(a[i][1], b[j][1]) - max(a[i][0], b[j][0]))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return total


class Overlap(NamedTuple):
    """What two answers share, and the sum of what each holds: F1 is twice the first over the second.

    In characters whatever their category, in characters of the same category, and in whole spans.
    """

    common: int
    marked: int
    common_labelled: int
    marked_labelled: int
    common_exact: int
    marked_exact: int


def compute_overlap(a: Spans, b: Spans) -> Overlap:
    """Compare two answers on one item."""
    plain = [find_marked_runs(one, labelled=False) for one in (a, b)]
    labelled = [find_marked_runs(one, labelled=True) for one in (a, b)]
    return Overlap(
        count_common(*plain),
        sum(map(count_marked, plain)),
        count_common(*labelled),
        sum(map(count_marked, labelled)),
        len(set(a) & set(b)),
        len(set(a)) + len(set(b)),
    )


def majority_of_characters(answers: Sequence[Spans]) -> Spans:
    """Spans of the characters that more than half of the answers mark with the same category."""
    edges: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for answer in answers:
        for key, runs in find_marked_runs(answer, labelled=True).items():
            edges.setdefault(key, []).extend(edge for start, end in runs for edge in ((start, 1), (end, -1)))
    return tuple(
        sorted(
            Span(part, start, end, category)
            for (part, category), of_key in edges.items()
            for start, end in _above(sorted(of_key), len(answers) / 2)
        )
    )


def _above(edges: Sequence[tuple[int, int]], bar: float) -> list[tuple[int, int]]:
    """Runs covered more than ``bar`` times; at one place what begins is counted before what ends."""
    found: list[tuple[int, int]] = []
    covered, start = 0, -1
    for place in sorted({place for place, _ in edges}):
        covered += sum(step for at, step in edges if at == place)
        if covered > bar and start < 0:
            start = place
        elif covered <= bar and start >= 0:
            found.append((start, place))
            start = -1
    return found
