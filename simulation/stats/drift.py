"""Whether what a simulated user says contradicts its profile. Pure functions.

A turn drifts where it names a value that a preference could have and that this user does not hold. Words decide, not
sense: a user who turns a value down has named it too. Read the curve over turns, not the single turn.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from simulation.stats.leakage import UNTELLING, list_values, occurs

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
