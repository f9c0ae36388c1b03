"""What an assignment is called in addresses.

Slots of the queue are rows that were made together; repeats and checks are made when they are handed out. Their ids in
the database would tell them apart at a glance, so that addresses carry a name made from the id with a secret order of
letters, and no id.
"""

from __future__ import annotations

from functools import cache
from string import ascii_lowercase

import numpy as np
from django.conf import settings
from django.urls.converters import IntConverter
from django.utils.crypto import salted_hmac
from sqids import Sqids

LENGTH = 10


@cache
def _names() -> Sqids:
    key = salted_hmac("annotation.slot names", "alphabet", secret=settings.SECRET_KEY, algorithm="sha256").digest()
    order = np.random.default_rng(list(key)).permutation(len(ascii_lowercase))
    return Sqids(alphabet="".join(ascii_lowercase[place] for place in order), min_length=LENGTH, blocklist=[])


def to_name(pk: int) -> str:
    """Letters for an id."""
    return _names().encode([pk])


def to_id(name: str) -> int | None:
    """The id that is called so, or None where nothing is. An id itself is taken as well."""
    if name.isascii() and name.isdecimal() and len(name) < 19:
        return int(name)
    found = _names().decode(name)
    return found[0] if len(found) == 1 and to_name(found[0]) == name else None


class AssignmentConverter(IntConverter):
    """Turns `<slot:pk>` of an address into the id and back."""

    regex = "[a-z]+|[0-9]{1,18}"

    def to_python(self, value: str) -> int:
        found = to_id(value)
        if found is None or found >= 2**63:
            raise ValueError(value)
        return found

    def to_url(self, value: int | str) -> str:
        return to_name(int(value))
