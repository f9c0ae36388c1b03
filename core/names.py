"""Names that people give to accounts, studies, projects, judges and the like: one line of text that shows as it is."""

from __future__ import annotations

from collections.abc import Collection
from unicodedata import bidirectional, category

from core.errors import InputError

CONTROLS = {"Cc", "Cs", "Zl", "Zp"}
"""Controls such as CR, LF and NUL, halves of characters, and what ends a line or paragraph."""

OVERRIDES = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
"""What turns the direction of the text around it, so that a name reads as another one, also beyond its end."""


def check_name(name: str, *, what: str, longest: int = 120, field: str = "name") -> str:
    """The name without spaces around it. InputError where it is empty, too long, or holds what a name may not."""
    name = name.strip()
    if not name or len(name) > longest:
        raise InputError(
            "{what} needs a {name} of at most {longest} characters.",
            field=field,
            what=what,
            name=field,
            longest=longest,
        )
    check_line(name, field=field)
    return name


def check_line(text: str, *, field: str = "name") -> None:
    """InputError where a text is not one line that shows as it is."""
    for character in text:
        if is_hidden(character):
            raise InputError("A name may not hold the control character U+{ord:04X}.", field=field, ord=ord(character))


def is_hidden(character: str) -> bool:
    return category(character) in CONTROLS or bidirectional(character) in OVERRIDES


def number_name(base: str, taken: Collection[str], *, sign: str = "-") -> str:
    """The name itself, or where it is taken the first of `base-2`, `base-3`, … that is free."""
    numbered = (f"{base}{sign}{number}" for number in range(2, len(taken) + 3))
    return base if base not in taken else next(name for name in numbered if name not in taken)
