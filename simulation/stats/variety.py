"""Runs of words of many texts at once, by group: Dist-n, Ent-n and Self-BLEU as a few sorts of whole numbers.

A group is whatever is measured together: a dialogue, or all dialogues of one kind. What the measures are is said in
`simulation.stats.diversity`; here they are computed for millions of words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from annotation.stats.arrays import ratio
from annotation.stats.table import BoolArray, FloatArray, IntArray

ORDERS = 4
"""BLEU counts runs of one to four words."""


@dataclass(frozen=True, eq=False)
class Texts:
    """Texts as numbers.

    Attributes
    ----------
    words
        (n_words,) the number of each word, the same for the same word.
    text
        (n_words,) the text that it stands in, ascending.
    n
        How many texts there are; some may have no words.
    """

    words: IntArray
    text: IntArray
    n: int

    @classmethod
    def from_words(cls, tokenized: Iterable[Sequence[str]]) -> Self:
        """Number the words of texts, which come as lists of words."""
        known: dict[str, int] = {}
        numbers: list[int] = []
        lengths = []
        for tokens in tokenized:
            lengths.append(len(tokens))
            numbers += [known.setdefault(token, len(known)) for token in tokens]
        text = np.repeat(np.arange(len(lengths)), lengths)
        return cls(np.array(numbers, dtype=np.int64), text.astype(np.int64), len(lengths))

    @property
    def lengths(self) -> IntArray:
        """(n,) words of each text."""
        return np.bincount(self.text, minlength=self.n)

    def runs(self, order: int) -> tuple[IntArray, IntArray]:
        """(k,) the number of each run of so many words, and (k,) its text. No run crosses from text to text."""
        runs, text = self._starts[order - 1]
        return runs[text >= 0], text[text >= 0]

    @cached_property
    def _starts(self) -> list[tuple[IntArray, IntArray]]:
        """For one to four words: the run that begins at each word and its text, -1 where the text ends before."""
        found = [(self.words, self.text)]
        width = int(self.words.max(initial=0)) + 1
        for more in range(1, ORDERS):
            runs, text = found[-1]
            inside = text[:-1] == self.text[more:]
            longer = np.where(inside, runs[:-1] * width + self.words[more:], -1)
            found.append((_numbered(longer), np.where(inside, text[:-1], -1)))
        return found


@dataclass(frozen=True, eq=False)
class Variety:
    """Dist-1, Dist-2 and Ent-4 (nats) of each group; NaN where a group has no such run."""

    dist_1: FloatArray
    dist_2: FloatArray
    ent_4: FloatArray


def variety(texts: Texts, group: IntArray, n_groups: int) -> Variety:
    """Measure the texts of each group together; ``group`` (n,) is -1 for a text of none."""
    return Variety(
        distinct_share(texts, 1, group, n_groups),
        distinct_share(texts, 2, group, n_groups),
        entropy(texts, 4, group, n_groups),
    )


def distinct_share(texts: Texts, order: int, group: IntArray, n_groups: int) -> FloatArray:
    """(n_groups,) different runs over all runs."""
    of, counts = _counted(texts, order, group)
    return ratio(_summed(of, np.ones(len(of)), n_groups), _summed(of, counts, n_groups))


def entropy(texts: Texts, order: int, group: IntArray, n_groups: int) -> FloatArray:
    """(n_groups,) entropy of the runs' shares in nats: ln N - sum(c ln c) / N."""
    of, counts = _counted(texts, order, group)
    total, spread = _summed(of, counts, n_groups), _summed(of, counts * np.log(counts), n_groups)
    found = np.log(np.where(total > 0, total, 1.0)) - ratio(spread, total)
    return np.where(np.isnan(found), np.nan, np.maximum(found, 0.0))


def _counted(texts: Texts, order: int, group: IntArray) -> tuple[IntArray, IntArray]:
    """The group of each different run of a group, and how often the run occurs there."""
    runs, text = texts.runs(order)
    of = group[text]
    runs, of = runs[of >= 0], of[of >= 0]
    width = int(runs.max(initial=0)) + 1
    keys, counts = np.unique(of * width + runs, return_counts=True)
    return keys // width, counts


def bleu_among(texts: Texts, group: IntArray) -> FloatArray:
    """(n,) BLEU, 0 to 1, of each text against the others of its group; NaN for one without words or without others.

    Exponential smoothing and effective order, as sacrebleu's sentence scores.
    """
    lengths = texts.lengths
    taking_part = (group >= 0) & (lengths > 0)
    closest, has_others = _closest_length(lengths, np.where(taking_part, group, -1))
    correct = np.stack([_matched(texts, order, group) for order in range(1, ORDERS + 1)])
    total = np.maximum(lengths - np.arange(ORDERS)[:, None], 0).astype(float)
    zero = (correct == 0) & (total > 0)
    hits = np.where(zero, 0.5 ** np.cumsum(zero, axis=0), correct)
    orders = np.maximum((total > 0).sum(axis=0), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(total > 0, np.log(hits / np.where(total > 0, total, 1.0)), 0.0)
        brevity = np.where(lengths < closest, np.exp(1 - closest / np.maximum(lengths, 1)), 1.0)
    score = np.where(correct.any(axis=0), brevity * np.exp(logs.sum(axis=0) / orders), 0.0)
    return np.where(taking_part & has_others, score, np.nan)


def mean_by_group(values: FloatArray, group: IntArray, n_groups: int) -> FloatArray:
    """(n_groups,) mean of what is not NaN; NaN where nothing is."""
    there = ~np.isnan(values) & (group >= 0)
    of = group[there]
    return ratio(_summed(of, values[there], n_groups), _summed(of, np.ones(len(of)), n_groups))


def _matched(texts: Texts, order: int, group: IntArray) -> FloatArray:
    """(n,) runs of each text that another text of its group has too, each as often as the one that has it most."""
    runs, text = texts.runs(order)
    text, runs = text[group[text] >= 0], runs[group[text] >= 0]
    shared = _numbered(group[text] * (int(runs.max(initial=0)) + 1) + runs)
    keys, counts = np.unique(shared * texts.n + text, return_counts=True)
    of_run, of_text = keys // max(texts.n, 1), keys % max(texts.n, 1)
    order_ = np.lexsort((-counts, of_run))
    of_run, of_text, counts = of_run[order_], of_text[order_], counts[order_]
    starts = np.flatnonzero(np.r_[True, of_run[1:] != of_run[:-1]]) if len(of_run) else np.zeros(0, dtype=np.int64)
    ends = np.r_[starts[1:], len(of_run)]
    most = np.repeat(counts[starts], ends - starts)
    second = np.where(ends - starts > 1, counts[np.minimum(starts + 1, len(counts) - 1)], 0) if len(starts) else starts
    among_others = np.where(_is_first(starts, len(of_run)), np.repeat(second, ends - starts), most)
    return _summed(of_text, np.minimum(counts, among_others), texts.n)


def _is_first(starts: IntArray, n: int) -> BoolArray:
    """(n,) whether a place is one of the starts."""
    found = np.zeros(n, dtype=bool)
    found[starts] = True
    return found


def _closest_length(lengths: IntArray, group: IntArray) -> tuple[FloatArray, BoolArray]:
    """(n,) the length among the other texts of the group that is closest, the shorter of two; and whether there is one.

    Only texts whose group is not -1 count.
    """
    width = int(lengths.max(initial=0)) + 1
    keys, place, counts = np.unique(group * width + lengths, return_inverse=True, return_counts=True)
    of, length = keys // width, keys % width
    before = np.r_[np.inf, np.where(of[1:] == of[:-1], length[1:] - length[:-1], np.inf)][: len(keys)]
    after = np.r_[before[1:], np.inf][: len(keys)]
    other = np.where(before <= after, length - before, length + after)
    closest = np.where(counts > 1, length, other)
    return closest[place], np.isfinite(closest)[place] & (group >= 0)


def _summed(of: IntArray, values: FloatArray | IntArray, n: int) -> FloatArray:
    """(n,) sums of the values by group, 0 where a group has none."""
    return np.bincount(of, values, n).astype(float)


def _numbered(keys: IntArray) -> IntArray:
    """The same numbers made small: 0 for the smallest, and so on."""
    found: IntArray = np.unique(keys, return_inverse=True)[1]
    return found.astype(np.int64)
