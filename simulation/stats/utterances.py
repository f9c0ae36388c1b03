"""What stands in a simulated user's utterances: what was said before, and preferences that are given away.

PersonaLens (arXiv 2506.09902) asks its user agent for a short first turn without preferences, since a preference that
is stated at once tests listening, not personalization.

A turn drifts where it names a value that a preference could have and that this user does not hold. Words decide, not
sense: a user who turns a value down has named it too. Read the curve over turns, not the single turn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
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


UNTELLING = frozenset({"yes", "no", "n/a", "none", "any", "other", "true", "false"})
"""Values that say nothing where they occur in a sentence."""


def find_leaked(utterance: str, preferences: Mapping[str, object], *, given: str = "") -> list[str]:
    """The values of preferences that are named in an utterance, in the profile's order, each once.

    `preferences` may be nested to any depth. A value counts where its words occur one after the other. One that stands
    in `given` (the task, in the words that everybody gets) is no leak.
    """
    found = [
        value
        for value in list_values(preferences)
        if value.casefold() not in UNTELLING and occurs(value, utterance) and not occurs(value, given)
    ]
    return list(dict.fromkeys(found))


def list_values(preferences: object) -> Iterable[str]:
    """All values in nested preferences, as text."""
    if isinstance(preferences, Mapping):
        for part in preferences.values():
            yield from list_values(part)
    elif isinstance(preferences, list | tuple):
        for part in preferences:
            yield from list_values(part)
    elif preferences is not None and not isinstance(preferences, bool):
        yield str(preferences)


def occurs(value: str, text: str) -> bool:
    """Whether the words of a value stand in a text one after the other; a value without words never does."""
    words = pad_words(value)
    return bool(words.strip()) and words in pad_words(text)


@lru_cache(maxsize=4096)
def pad_words(text: str) -> str:
    """The spoken words of a text with one space before, between and after them."""
    return f" {' '.join(split_words(text))} "


Alternatives = Mapping[str, Mapping[str, Sequence[str]]]


def strange_values(preferences: Mapping[str, object], possible: Alternatives) -> list[str]:
    """The values that the preferences could have and that the user holds nowhere. Domain -> type -> values, both."""
    held = {value.casefold() for value in list_values(preferences)}
    found = [
        value
        for domain, types in preferences.items()
        if isinstance(types, Mapping)
        for name in types
        for value in possible.get(domain, {}).get(name, ())
        if value.casefold() not in held and value.casefold() not in UNTELLING
    ]
    return list(dict.fromkeys(found))


def contradictions(utterance: str, strange: Sequence[str], *, given: str = "") -> list[str]:
    """The strange values that an utterance names. One that stands in `given` (the task) is nobody's choice."""
    return [value for value in strange if occurs(value, utterance) and not occurs(value, given)]
