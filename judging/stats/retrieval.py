"""Passages that fit a query, by Okapi BM25 as bm25s computes it, or by the cosine of embeddings. Pure functions.

Robertson and Zaragoza (2009), "The probabilistic relevance framework: BM25 and beyond", Foundations and Trends in
Information Retrieval 3:333-389. The variant is Lucene's: the inverse document frequency is
log(1 + (N - n + 0.5) / (n + 0.5)), never negative, and a term's weight f / (f + k1 (1 - b + b l / mean l)).
"""

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.stats.table import FloatArray
from annotation.stats.words import split_words

K1, B = 1.2, 0.75
"""How soon more of a word stops counting, and how much the length of a passage does."""

SENTENCE = re.compile(r"(?<=[.!?。！？])\s+")


@dataclass(frozen=True, slots=True)
class RetrievedPassage:
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


def retrieve(query: str, texts: Sequence[str], k: int) -> list[RetrievedPassage]:
    """The `k` passages that fit the query best, best first, of equals the earlier one. None that shares no word."""
    scores = bm25(query, texts)
    order = sorted(range(len(texts)), key=lambda place: (-scores[place], place))
    return [RetrievedPassage(place, texts[place], float(scores[place])) for place in order[:k] if scores[place] > 0]


def nearest(query: FloatArray, vectors: FloatArray, texts: Sequence[str], k: int) -> list[RetrievedPassage]:
    """The `k` texts whose vectors (n, d) lie nearest to the query's (d,) by the cosine, of equals the earlier one."""
    if not len(texts):
        return []
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(query)
    scores = np.where(lengths > 0, vectors @ query / np.where(lengths > 0, lengths, 1.0), -1.0)
    order = sorted(range(len(texts)), key=lambda place: (-scores[place], place))
    return [RetrievedPassage(place, texts[place], float(scores[place])) for place in order[:k]]


def bm25(query: str, texts: Sequence[str]) -> FloatArray:
    """(n,) scores of the texts, 0 or more."""
    tokens = [split_words(text) for text in texts]
    known = {word for words in tokens for word in words}
    asked = [word for word in dict.fromkeys(split_words(query)) if word in known]
    if not asked:
        return np.zeros(len(texts))
    import bm25s  # with it comes much of scipy

    logging.getLogger("bm25s").setLevel(logging.WARNING)  # it asks for every detail when it is imported
    index = bm25s.BM25(k1=K1, b=B, method="lucene")
    index.index(tokens, show_progress=False)
    scores: FloatArray = np.asarray(index.get_scores(asked), dtype=float)
    return scores
