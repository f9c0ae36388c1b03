"""Which texts share words with a question, by Okapi BM25: the few facts of a person, while somebody waits for a page.

The variant and its constants are those of `judging.stats.retrieval`, which asks a library for many passages; to load
that takes longer than to rank a few dozen facts. Robertson and Zaragoza (2009), "The probabilistic relevance framework:
BM25 and beyond", Foundations and Trends in Information Retrieval 3:333-389.
"""

from collections import Counter
from collections.abc import Sequence
from math import log

from annotation.stats.words import split_words

K1, B = 1.2, 0.75
"""How soon more of a word stops counting, and how much the length of a text does."""

WORDS = """
    a an and are as at be but by can could do does for from had has have how i if in is it its me my of on or our she
    should so some than that the their them then there they this to us was we what when where which who why will with
    would you your
"""
COMMON = frozenset(WORDS.split())
"""Words of English questions that say nothing of what is asked about; a few facts are too few to find that out."""


def rank(question: str, texts: Sequence[str]) -> list[int]:
    """Places of the texts that share a word with the question, the most relevant first; of equals the earlier one."""
    scores = bm25(question, texts)
    return sorted((place for place, score in enumerate(scores) if score > 0), key=lambda place: (-scores[place], place))


def bm25(question: str, texts: Sequence[str]) -> list[float]:
    """Scores of the texts, 0 or more."""
    counts = [Counter(split_words(text)) for text in texts]
    lengths = [sum(count.values()) for count in counts]
    mean = sum(lengths) / len(lengths) if any(lengths) else 1.0
    holding = Counter(word for count in counts for word in count)
    asked = {word for word in split_words(question) if word not in COMMON and word in holding}
    weights = {word: log(1 + (len(texts) - holding[word] + 0.5) / (holding[word] + 0.5)) for word in asked}
    return [
        sum(weights[word] * count[word] / (count[word] + K1 * (1 - B + B * length / mean)) for word in asked)
        for count, length in zip(counts, lengths, strict=True)
    ]
