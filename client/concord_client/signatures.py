"""Whether a message of a webhook comes from who knows its secret, and came in time."""

from __future__ import annotations

import hashlib
import hmac
import time

PATIENCE = 300.0
"""Seconds after which a message may be an old one that somebody kept and sent again."""

LONGEST_TIME = 12


def is_signed(secret: str, header: str, body: bytes, *, now: float | None = None) -> bool:
    """`header` is Concord-Signature, `body` the bytes as they came."""
    parts = dict(part.split("=", 1) for part in header.split(",") if "=" in part)
    at = parts.get("t", "")
    if not is_time(at) or abs((time.time() if now is None else now) - int(at)) > PATIENCE:
        return False
    right = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(right.encode(), parts.get("v1", "").encode())


def is_time(text: str) -> bool:
    """Whether it can be seconds since 1970. Who forges a header writes what they like."""
    return text.isascii() and text.isdigit() and len(text) <= LONGEST_TIME
