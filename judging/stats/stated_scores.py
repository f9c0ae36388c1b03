"""Which score an explanation states in its own words, so that it can be held against the verdict that was given.

Nothing is read into the tone of an explanation: only a score that is named counts, and only if all that are named are
the same. What names none, or several, is unknown.
"""

import re
from collections.abc import Collection

NUMBER = r"(?P<value>\d+(?:\.\d+)?)"
STATED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:score|rating|verdict)s?\b\W{{0,20}}(?:of|is|as|would be|should be|[:=])\W{{0,20}}{NUMBER}",
        rf"\b(?:rate|rated|score|scored|give|deserves|merits|warrants)\b(?: it| this| them)?(?: an?| as)?\W+{NUMBER}\b",
        rf"\b{NUMBER}\s*(?:out of|/)\s*\d",
    )
)


def find_stated_score(explanation: str, scale: Collection[str]) -> str | None:
    """The value of the scale that the explanation names; None where it names none of the scale, or more than one.

    Examples
    --------
    >>> stated_score("It knows the user well, so I rate it 4 out of 5.", ["1", "2", "3", "4", "5"])
    '4'
    >>> stated_score("Between a score of 3 and a score of 4.", ["1", "2", "3", "4", "5"]) is None
    True
    """
    found = {_plain(match["value"]) for pattern in STATED for match in pattern.finditer(explanation)} & set(scale)
    return found.pop() if len(found) == 1 else None


def _plain(number: str) -> str:
    """``4.0`` as the scale writes it."""
    return number.rstrip("0").rstrip(".") if "." in number else number
