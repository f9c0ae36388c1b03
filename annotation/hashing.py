"""Hashes that recognise equal content, whoever wrote it down."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def content_hash(content: Any) -> str:
    """SHA-256 over canonical JSON (sorted keys, no spaces, UTF-8), in hexadecimal."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def digest(content: bytes) -> str:
    """SHA-256 of bytes, in hexadecimal: for columns of numbers, which as JSON would be many times as large."""
    return hashlib.sha256(content).hexdigest()
