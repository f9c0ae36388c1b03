"""`name=value` as it is typed, on the command line and in forms."""

from __future__ import annotations

from collections.abc import Sequence

from core.errors import InputError


def parse_pairs(given: Sequence[str], field: str) -> dict[str, str]:
    """`a=b` -> {"a": "b"}; underscores stand for spaces. InputError where there is no equals sign."""
    found = {}
    for one in given:
        name, sign, value = one.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise InputError(f"{one!r} is not NAME=VALUE", field=field)
        found[name.strip().replace("_", " ")] = value.strip().replace("_", " ")
    return found


def parse_shares(given: Sequence[str], field: str = "splits") -> dict[str, float]:
    """`train=0.8 test=0.2` as numbers."""
    found = {}
    for name, value in parse_pairs(given, field).items():
        try:
            found[name] = float(value)
        except ValueError:
            raise InputError(f"{value!r} is no number", field=field) from None
    return found
