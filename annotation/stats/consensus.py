"""What people say together where nobody needs to have said it: sets, rankings, numbers and spans.

A set holds the categories that more than half of the people name. The ranking is the one that lies closest to all of
theirs (Kemeny 1959, "Mathematics without numbers", Daedalus 88:577-591). The number is their median, in the middle of
two where it falls between. Spans are the characters that more than half of them mark with the same category.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, permutations

import numpy as np

from annotation.stats.kemeny import kemeny_weights
from annotation.stats.label_sets import parse_set, spell_set
from annotation.stats.masi import masi_weights
from annotation.stats.rankings import have_ties, responses_of, spell_ranking
from annotation.stats.spans import compute_overlap, majority_of_characters, parse_spans, spell_spans
from annotation.stats.table import MISSING, BoolArray, FloatArray, IntArray, RatingTable

MOST_RESPONSES = 6
"""Of which all rankings are looked at: 720, or 4,683 with ties."""

SAME = 1e-9


@dataclass(frozen=True, eq=False)
class Consensus:
    """The consensus on each item, on a scale that has what people together say as well.

    Attributes
    ----------
    table
        The ratings, their scale extended.
    codes
        (n_items,) positions on it; -1 where there is none.
    tied
        (n_items,) whether two answers would do equally well.
    closeness
        (n_items,) how close people's answers are to it on average, 0 to 1; of numbers the share that gave it.
    """

    table: RatingTable
    codes: IntArray
    tied: BoolArray
    closeness: FloatArray


Answer = tuple[str | None, float]
"""A label, None where two would do, and how close people are to it."""


def find_consensus(table: RatingTable) -> Consensus:
    """Find the consensus of each rated item. Raises ``ValueError`` where the level has none."""
    if not (table.is_open or table.level in BY_LEVEL):
        raise ValueError(f"a {table.level} scale has a majority, or a median, but no consensus of this kind")
    find = BY_LEVEL.get(table.level, agree_on_number)
    labels = [str(category) for category in table.categories]
    found: list[Answer] = []
    known = cache(lambda given: find(given, labels))
    for row in table.codes:
        given = tuple(sorted(labels[code] for code in row[row != MISSING].tolist()))
        found.append(known(given) if given else (None, np.nan))
    made = dict.fromkeys(label for label, _ in found if label is not None and label not in set(labels))
    place = {label: code for code, label in enumerate((*labels, *made))}
    return Consensus(
        replace(table, categories=(*table.categories, *made)),
        np.array([MISSING if label is None else place[label] for label, _ in found], dtype=np.int64),
        np.array([label is None and not np.isnan(closeness) for label, closeness in found], dtype=bool),
        np.array([closeness for _, closeness in found]),
    )


def agree_on_set(given: Sequence[str], _: Sequence[str]) -> Answer:
    """The categories that more than half of the people name; tied where half of them do."""
    sets = [parse_set(text) for text in given]
    votes = {name: sum(name in one for one in sets) for one in sets for name in one}
    label = spell_set(name for name, n in votes.items() if 2 * n > len(sets))
    close = float(masi_weights([label, *given])[0, 1:].mean())
    return (None if any(2 * n == len(sets) for n in votes.values()) else label), close


def agree_on_ranking(given: Sequence[str], labels: Sequence[str]) -> Answer:
    """The ranking that agrees best with all of theirs; of many responses among those given."""
    names = responses_of(given[0])
    candidates = list(all_rankings(names, with_ties=have_ties(labels))) if len(names) <= MOST_RESPONSES else list(given)
    candidates = list(dict.fromkeys(candidates))
    close = kemeny_weights([*candidates, *given])[: len(candidates), len(candidates) :].mean(axis=1)
    best = float(close.max())
    first = np.flatnonzero(close > best - SAME)
    return (candidates[first[0]] if len(first) == 1 else None), best


def all_rankings(names: Sequence[str], *, with_ties: bool) -> Iterator[str]:
    """All rankings of some responses, in the order of their texts."""
    if not with_ties:
        yield from (spell_ranking(tuple((name,) for name in order)) for order in permutations(sorted(names)))
        return
    yield from sorted(spell_ranking(groups) for groups in _weak_orders(tuple(sorted(names))))


def _weak_orders(names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], ...]]:
    if not names:
        yield ()
        return
    for size in range(1, len(names) + 1):
        for group in combinations(names, size):
            rest = tuple(name for name in names if name not in group)
            for later in _weak_orders(rest):
                yield (group, *later)


def agree_on_number(given: Sequence[str], _: Sequence[str]) -> Answer:
    """The median; in the middle of two where it falls between them."""
    middle = float(np.median([float(text) for text in given]))
    label = next((text for text in given if float(text) == middle), f"{middle:.15f}".rstrip("0").rstrip("."))
    return label, sum(float(text) == middle for text in given) / len(given)


def agree_on_spans(given: Sequence[str], _: Sequence[str]) -> Answer:
    """The characters that more than half of the people mark with the same category."""
    answers = [parse_spans(text) for text in given]
    found = majority_of_characters(answers)
    shared = [compute_overlap(found, one) for one in answers]
    close = [2 * one.common_labelled / one.marked_labelled if one.marked_labelled else 1.0 for one in shared]
    return spell_spans(found), float(np.mean(close))


BY_LEVEL: dict[str, Callable[[Sequence[str], Sequence[str]], Answer]] = {
    "set": agree_on_set,
    "ranking": agree_on_ranking,
    "spans": agree_on_spans,
}
