"""Codes of authenticator apps, at a moment that does not pass while a test types one."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import pytest
from allauth.mfa.totp.internal import auth as totp

COUNTER = 59_000_000
"""Half-minutes since 1970. Of the real clock's, one that ends between asking and typing refuses the code."""


@pytest.fixture
def one_moment() -> Iterator[None]:
    with patch.object(totp, "yield_hotp_counters_from_time", lambda: iter([COUNTER])):
        yield


def code_of(secret: str) -> str:
    return str(totp.format_hotp_value(totp.hotp_value(secret, COUNTER)))
