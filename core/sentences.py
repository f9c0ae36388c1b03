"""Sentences about results, in the language of a page.

Results and their reasons are computed, kept and given to files and commands in English. A page finds the template that
made a sentence (`scripts/messages.py` reads these from the modules that compose them) and puts its values into the
translation. A language of the annotators' pages has none of them, and neither has English.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from string import Formatter

from babel.messages.mofile import read_mo
from django.conf import settings
from django.utils.translation import get_language, gettext

CONTEXT = "result"
"""Of these texts in a catalogue."""

CUTS = re.compile(r"(?<=[.;:,]) | (?=\()|(?=[;:,] |\.\Z)|(?<=\()|(?=\))")
"""Where one sentence, or a part of one, may end and another begin."""

LETTER = re.compile(r"[^\W\d_]")


class Sentences:
    """The templates of one language with their translations: those without values, and patterns of the others."""

    def __init__(self, translations: dict[str, str]) -> None:
        parts = {text: [*Formatter().parse(text)] for text in translations}
        self.fixed = {text: said for text, said in translations.items() if parts[text][0][1] is None}
        composed = sorted(parts.keys() - self.fixed.keys(), key=lambda text: -sum(len(one[0]) for one in parts[text]))
        self.composed = [(_compile(parts[text]), translations[text]) for text in composed]

    def translate(self, text: str) -> str:
        """The text, its values and what stands beside it in this language; as it is, what no template made."""
        if (found := self._find(text)) is not None:
            return found
        if " / " in text:  # groups of several columns
            return " / ".join(map(self.translate, text.split(" / ")))
        cuts = [cut for cut in CUTS.finditer(text) if 0 < cut.end() < len(text)]
        for cut in reversed(cuts):
            if (head := self._find(text[: cut.start()])) is not None:
                return head + cut[0] + self.translate(text[cut.end() :])
        for cut in cuts:
            if (tail := self._find(text[cut.end() :])) is not None:
                return text[: cut.end()] + tail
        return text

    def _find(self, text: str) -> str | None:
        if not LETTER.search(text):
            return text
        if text in self.fixed:
            return self.fixed[text]
        if (marked := gettext(text)) != text:
            return marked
        for pattern, said in self.composed:
            if made := pattern.fullmatch(text):
                return said.format(**{name: self.translate(value) for name, value in made.groupdict().items()})
        return None


def _compile(parts: Iterable[tuple[str, str | None, str | None, str | None]]) -> re.Pattern[str]:
    """What a text looks like that was made from a template of these parts."""
    pattern = (re.escape(literal) + (f"(?P<{name}>.*?)" if name else "") for literal, name, _, _ in parts)
    return re.compile("".join(pattern), re.DOTALL)


@lru_cache
def _load(language: str, folders: tuple[Path, ...]) -> Sentences | None:
    """Those of a language, read once by each process; None where it has none."""
    found: dict[str, str] = {}
    for folder in folders:
        path = Path(folder) / language / "LC_MESSAGES" / "django.mo"
        if path.exists():
            with path.open("rb") as file:
                catalogue = read_mo(file)
            ours = [one for one in catalogue if one.context == CONTEXT.encode()]  # type: ignore[comparison-overlap]
            found |= {str(one.id): str(one.string) for one in ours}
    return Sentences(found) if found else None


def translate(text: str | None) -> str:
    """A sentence about a result, or another text that a module has in English, in the language of the page."""
    if not text:
        return ""
    language = get_language() or "en"
    sentences = None if language == "en" else _load(language, tuple(settings.LOCALE_PATHS))
    return gettext(text) if sentences is None else sentences.translate(text)
