"""Hashes that recognise equal content, whoever wrote it down."""

from __future__ import annotations

import hashlib
import json


def content_hash(content: object) -> str:
    """SHA-256 over canonical JSON, in hexadecimal."""
    return digest(canonical_json(content))


def canonical_json(content: object) -> bytes:
    """JSON with sorted keys and no spaces, in UTF-8: equal content gives equal bytes."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def digest(content: bytes) -> str:
    """SHA-256 of bytes, in hexadecimal: for columns of numbers, which as JSON would be many times as large."""
    return hashlib.sha256(content).hexdigest()
