"""Sentences about results, in the language of a page.

Results and their reasons are computed, kept and given to files and commands in English. A page finds the template that
made a sentence (`scripts/messages.py` reads these from the modules that compose them) and puts its values into the
translation. A language of the annotators' pages has none of them, and neither has English.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from babel.messages.mofile import read_mo
from django.conf import settings
from django.utils.translation import get_language, gettext

CONTEXT = "result"
"""Of these texts in a catalogue."""

PLACE = re.compile(r"\{(\w+)\}")
CUTS = re.compile(r"(?<=[.;:,]) | (?=\()|(?=[;:,] )|(?<=\()|(?=\))")
"""Where one sentence, or a part of one, may end and another begin."""


class Sentences:
    """The templates of one language with their translations: those without values, and patterns of the others."""

    def __init__(self, translations: dict[str, str]) -> None:
        self.fixed = {text: said for text, said in translations.items() if not PLACE.search(text)}
        composed = sorted(translations.keys() - self.fixed.keys(), key=lambda text: -len(PLACE.sub("", text)))
        self.composed = [(_compile(text), translations[text]) for text in composed]

    def translate(self, text: str) -> str:
        """The text, its values and what stands behind it in this language; as it is, what no template made."""
        found = self._find(text)
        for cut in CUTS.finditer(text) if found is None else ():
            head, tail = self._find(text[: cut.start()]), text[cut.end() :]
            if head is not None or cut.start() == 0 < cut.end():
                return (head or "") + cut[0] + self.translate(tail)
        return gettext(text) if found is None else found

    def _find(self, text: str) -> str | None:
        if text in self.fixed:
            return self.fixed[text]
        for pattern, said in self.composed:
            if made := pattern.fullmatch(text):
                return said.format(**{name: self.translate(value) for name, value in made.groupdict().items()})
        return None


def _compile(template: str) -> re.Pattern[str]:
    parts = PLACE.split(template)
    return re.compile("".join(f"(?P<{part}>.+?)" if k % 2 else re.escape(part) for k, part in enumerate(parts)), re.S)


@lru_cache
def _load(language: str, folders: tuple[Path, ...]) -> Sentences | None:
    """Those of a language, read once by each process; None where it has none."""
    found: dict[str, str] = {}
    for folder in folders:
        path = Path(folder) / language / "LC_MESSAGES" / "django.mo"
        if path.exists():
            with path.open("rb") as file:
                found |= {str(one.id): str(one.string) for one in read_mo(file) if one.context == CONTEXT.encode()}
    return Sentences(found) if found else None


def translate(text: str) -> str:
    """A sentence about a result, or another text that a module has in English, in the language of the page."""
    if not text:
        return ""
    language = get_language() or "en"
    sentences = None if language == "en" else _load(language, tuple(settings.LOCALE_PATHS))
    return gettext(text) if sentences is None else sentences.translate(text)
