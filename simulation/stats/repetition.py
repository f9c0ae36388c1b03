"""Whether somebody says again what they have said before. Pure functions."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from annotation.stats.words import split_words

ALIKE = 0.9
"""Share of common bigrams (Dice 1945, Ecology 26:297-302) from which two utterances count as the same."""

SHORT = 4
"""Utterances of fewer words ("Yes, please.") are said again for good reason, though not twice in a row."""


def repeats(utterance: str, earlier: Sequence[str]) -> bool:
    """Whether `utterance` says again one of the speaker's `earlier` ones, oldest first.

    An utterance of fewer than four words repeats only the one right before it, and only word for word.
    """
    return says_again(split_words(utterance), [split_words(before) for before in earlier])


def says_again(said: Sequence[str], earlier: Sequence[Sequence[str]]) -> bool:
    """The same of spoken words."""
    if not said:
        return False
    if earlier and said == earlier[-1]:
        return True
    return len(said) >= SHORT and any(are_as_long(said, before) and alike(said, before) >= ALIKE for before in earlier)


def are_as_long(a: Sequence[str], b: Sequence[str]) -> bool:
    """Whether two lists of words are close enough in length to count as the same, whatever the words are."""
    fewer, more = sorted([len(a) - 1, len(b) - 1])
    return 2 * fewer >= ALIKE * (fewer + more)


def alike(a: Sequence[str], b: Sequence[str]) -> float:
    """Dice's coefficient of the bigrams of two lists of words, 0 to 1; of lists of one word, whether they are equal."""
    first, second = bigrams(a), bigrams(b)
    total = first.total() + second.total()
    if not total:
        return float(list(a) == list(b))
    return 2 * (first & second).total() / total


def bigrams(tokens: Sequence[str]) -> Counter[tuple[str, str]]:
    return Counter(pairwise(tokens))


def repetition_share(utterances: Sequence[str]) -> float:
    """Share of a speaker's utterances, from the second on, that repeat an earlier one; NaN where there is no second."""
    if len(utterances) < 2:
        return float("nan")
    heard = [split_words(utterance) for utterance in utterances]
    again = [says_again(said, heard[:place]) for place, said in enumerate(heard) if place]
    return sum(again) / len(again)
