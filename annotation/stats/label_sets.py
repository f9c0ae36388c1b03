"""Several of k categories as one label: ``accuracy|style`` in alphabetical order, ``-`` where none of them applies.

Nothing here needs numpy, which a command that only reads labels does not load.
"""

from collections.abc import Iterable, Sequence

BESIDE, NONE = "|", "-"
"""What stands between the categories of a set, and in place of the empty one."""

LabelSet = frozenset[str]


def parse_set(text: str) -> LabelSet:
    """Read a set such as ``accuracy|style``; ``-`` is the empty one.

    Raises ``ValueError`` on a missing name and on one that stands twice.
    """
    if text.strip() == NONE:
        return frozenset()
    names = [name.strip() for name in text.split(BESIDE)]
    if not all(names):
        raise ValueError(f"{text!r} is not a set such as accuracy|style: a name is missing; none of them is {NONE}")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"{text!r} names {twice!r} twice")
    return frozenset(names)


def spell_set(names: Iterable[str], order: Sequence[str] = ()) -> str:
    """Write a set as `parse_set` reads it, its names in the ``order`` given and otherwise in alphabetical order."""
    place = {name: number for number, name in enumerate(order)}
    return BESIDE.join(sorted(names, key=lambda name: (place.get(name, len(place)), name))) or NONE


def options_of(sets: Iterable[str]) -> tuple[str, ...]:
    """List the categories that occur in some sets, in alphabetical order."""
    return tuple(sorted({name for text in sets for name in parse_set(text)}))
