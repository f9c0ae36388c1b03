"""JSON in the canonical form of RFC 8785: equal content gives equal bytes in every language.

`core.hashing` writes numbers as Python does, which is enough among Concord's own hashes. A signature has to be
checked by programs that somebody else wrote.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from decimal import Decimal

LARGEST_INTEGER = 2**53 - 1
"""Beyond it, a program that reads every number as a double reads another number."""


def to_canonical_bytes(content: object) -> bytes:
    """The content in UTF-8. ValueError for what RFC 8785 has no form for.

    References
    ----------
    Rundgren, A., Jordan, B., & Erdtman, S. (2020). JSON Canonicalization Scheme (JCS). RFC 8785.

    Examples
    --------
    >>> to_canonical_bytes({"b": 1.0, "a": [1e-7, "ä", None]}).decode()
    '{"a":[1e-7,"ä",null],"b":1}'
    """
    return _to_text(content).encode("utf-8")  # UnicodeEncodeError, for half of a character, is a ValueError


def _to_text(value: object) -> str:
    if isinstance(value, Mapping):
        members = sorted(value.items(), key=lambda member: _utf_16(member[0]))
        return "{" + ",".join(f"{_string(name)}:{_to_text(part)}" for name, part in members) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_to_text, value)) + "]"
    if isinstance(value, str):
        return _string(value)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int | float):
        return _number(value)
    raise ValueError(f"{type(value).__name__} is not JSON")


def _utf_16(name: object) -> bytes:
    """What names are sorted by (RFC 8785, 3.2.3)."""
    if not isinstance(name, str):
        raise ValueError(f"{name!r} is not a name of a member")  # noqa: TRY004 - one kind of error for a reader
    return name.encode("utf-16-be")


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _number(value: float) -> str:
    """As ECMAScript writes it (RFC 8785, 3.2.2.3): the fewest digits that give the same double."""
    if isinstance(value, int):
        if abs(value) > LARGEST_INTEGER:
            raise ValueError(f"{value} is not the same number as a double")
        return str(value)
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a number")
    if value == 0:
        return "0"
    digits = Decimal(repr(value)).normalize()
    if 1e-6 <= abs(value) < 1e21:
        return format(digits, "f")
    mantissa, _, exponent = format(digits, "e").partition("e")
    return f"{mantissa}e{int(exponent):+d}"
