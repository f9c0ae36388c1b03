"""Whether a simulated user gives away its preferences at once, or contradicts them. Pure functions.

PersonaLens (arXiv 2506.09902) asks its user agent for a short first turn without preferences, since a preference that
is stated at once tests listening, not personalization.

A turn drifts where it names a value that a preference could have and that this user does not hold. Words decide, not
sense: a user who turns a value down has named it too. Read the curve over turns, not the single turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from annotation.stats.words import split_words

UNTELLING = frozenset({"yes", "no", "n/a", "none", "any", "other", "true", "false"})
"""Values that say nothing where they occur in a sentence."""


def find_leaked(utterance: str, preferences: Mapping[str, Any], *, given: str = "") -> list[str]:
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


def list_values(preferences: Any) -> Iterable[str]:
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


def strange_values(preferences: Mapping[str, Any], possible: Alternatives) -> list[str]:
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
