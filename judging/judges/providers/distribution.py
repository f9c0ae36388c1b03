"""From the log-probabilities of a reply's tokens to how probable each value of the scale was (pure).

The verdict's first token decides: its alternatives are the values that could have stood there. What the model would
rather have said than any value is left out, and the share that was left is told.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

VERDICT = re.compile(r'"(?:verdict|score|rating)"\s*:\s*"?|\b(?:verdict|score|rating)\W{0,4}[:=]\W{0,4}', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Token:
    """A token as it was said, and the most probable tokens in its place with their log-probabilities."""

    text: str
    alternatives: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Distribution:
    """Probabilities that sum to 1, and how much of the model's probability they stand for."""

    probabilities: Mapping[str, float]
    mass: float


def distribution(tokens: Sequence[Token], values: Sequence[str]) -> Distribution | None:
    """The distribution over `values` where the last verdict begins; None if there is none to tell.

    A value that is the beginning of another one, or begins with the same token, cannot be told apart by one token.
    """
    at = verdict_start("".join(token.text for token in tokens))
    found = token_at(tokens, at) if at is not None else None
    if found is None:
        return None
    token, offset = found
    masses = dict.fromkeys(values, 0.0)
    for text, logprob in token.alternatives.items():
        if text[:offset] != token.text[:offset]:
            continue
        meant = [value for value in values if begins(value, text[offset:])]
        if len(meant) > 1:
            return None
        for value in meant:
            masses[value] += math.exp(logprob)
    mass = sum(masses.values())
    return Distribution({value: part / mass for value, part in masses.items()}, min(mass, 1.0)) if mass > 0 else None


def verdict_start(text: str) -> int | None:
    """Where the last verdict's value begins in the text."""
    found = list(VERDICT.finditer(text))
    return found[-1].end() if found else None


def token_at(tokens: Sequence[Token], position: int) -> tuple[Token, int] | None:
    """The token that holds the character, and where in it."""
    for token in tokens:
        if position < len(token.text):
            return token, position
        position -= len(token.text)
    return None


def begins(value: str, said: str) -> bool:
    """Whether the value is what the token begins to say: "2", "2" with the closing quote, the "ye" of "yes"."""
    said = said.strip().strip("\"'").casefold()
    return bool(said) and value.casefold().startswith(said)
