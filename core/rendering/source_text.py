"""A text that knows what its parts are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class SourceText(str):
    """A text with its parts; a text like any other to whoever does not ask for them."""

    parts: Sequence[Mapping[str, Any]] = ()
    lang = ""

    @classmethod
    def build(cls, text: str, parts: Sequence[Mapping[str, Any]] = (), lang: str = "") -> SourceText:
        made = cls(text)
        made.parts, made.lang = parts, lang
        return made
