"""Passages that fit a query: Okapi BM25. Pure functions.

Robertson and Zaragoza (2009), "The probabilistic relevance framework: BM25 and beyond", Foundations and Trends in
Information Retrieval 3:333-389, equation 3.15, with the inverse document frequency log(1 + (N - n + 0.5)/(n + 0.5)),
which is never negative.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.stats.table import FloatArray
from simulation.stats.repetition import spoken_words

K1, B = 1.2, 0.75
"""How soon more of a word stops counting, and how much the length of a passage does."""

SENTENCE = re.compile(r"(?<=[.!?。！？])\s+")


@dataclass(frozen=True, slots=True)
class Found:
    """A passage with its score; `place` is its index among the passages."""

    place: int
    passage: str
    score: float


def passages(text: str, *, sentences: int = 2) -> list[str]:
    """A text in pieces of so many sentences; a paragraph's end ends a piece."""
    found: list[str] = []
    for paragraph in text.split("\n"):
        parts = [part for part in SENTENCE.split(paragraph.strip()) if part]
        found += [" ".join(parts[start : start + sentences]) for start in range(0, len(parts), sentences)]
    return found


def retrieve(query: str, texts: Sequence[str], k: int) -> list[Found]:
    """The `k` passages that fit the query best, best first, of equals the earlier one. None that shares no word."""
    scores = bm25(query, texts)
    order = sorted(range(len(texts)), key=lambda place: (-scores[place], place))
    return [Found(place, texts[place], float(scores[place])) for place in order[:k] if scores[place] > 0]


def bm25(query: str, texts: Sequence[str]) -> FloatArray:
    """(n,) scores of the texts, 0 or more."""
    tokens = [Counter(spoken_words(text)) for text in texts]
    lengths = np.array([counts.total() for counts in tokens], dtype=float)
    scores = np.zeros(len(texts))
    if not len(texts) or not lengths.sum():
        return scores
    norm = K1 * (1 - B + B * lengths / lengths.mean())
    for term in dict.fromkeys(spoken_words(query)):
        frequency = np.array([counts[term] for counts in tokens], dtype=float)
        n = int((frequency > 0).sum())
        weight = np.log(1 + (len(texts) - n + 0.5) / (n + 0.5))
        scores += weight * frequency * (K1 + 1) / (frequency + norm)
    return scores
