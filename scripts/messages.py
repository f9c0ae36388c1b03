"""Bring the translations in locale/ up to date with the texts that templates, modules and scripts mark.

    python scripts/messages.py

A new text is added without a translation, and one that no file has any more goes; other translations stay as they are.
`config/catalogues.py` compiles the result.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from babel.messages.catalog import Catalog  # noqa: E402
from babel.messages.extract import DEFAULT_KEYWORDS, extract  # noqa: E402
from babel.messages.pofile import read_po, write_po  # noqa: E402
from django.utils.translation.template import templatize  # noqa: E402

LOCALE = ROOT / "locale"
APPS = ("annotation", "config", "core")
KEYWORDS = DEFAULT_KEYWORDS | {"gettext_lazy": None, "gettext_noop": None}
PURE = {ROOT / "annotation/studies/parsing/answers.py": KEYWORDS | {"InputError": None}}
"""Modules that import no framework: their errors are translated by whoever shows them."""

Message = tuple[str | tuple[str, ...], str]
"""A text, or its singular and plural, and the file that has it."""


def list_messages(domain: str) -> Iterator[Message]:
    """Every marked text of a domain: `djangojs` are the scripts', `django` all others."""
    if domain == "djangojs":
        files = [path for app in APPS for path in sorted((ROOT / app).glob("static/**/*.js"))]
    else:
        files = [path for app in APPS for path in sorted((ROOT / app).rglob("*.py"))]
        files += sorted((ROOT / "templates").rglob("*.html"))
    for path in files:
        name = path.relative_to(ROOT).as_posix()
        for message in read_messages(path):
            yield message, name


def read_messages(path: Path) -> Iterator[str | tuple[str, ...]]:
    text = path.read_text(encoding="utf-8")
    method = "python"
    if path.suffix == ".html":
        text, method = templatize(text), "javascript"  # whose reader takes what is no Python
    elif path.suffix == ".js":
        method = "javascript"
    for found in extract(method, BytesIO(text.encode()), PURE.get(path, KEYWORDS)):
        yield found[1]


def update(path: Path) -> None:
    """Bring the catalogue of a language and domain up to date."""
    with path.open("rb") as file:
        catalogue = read_po(file)
    found = Catalog(charset="utf-8", creation_date=catalogue.creation_date)
    for message, name in list_messages(path.stem):
        found.add(message, locations=[(name, 0)])
    catalogue.update(found, no_fuzzy_matching=True)
    catalogue.obsolete.clear()
    with path.open("wb") as file:
        write_po(file, catalogue, width=100, include_lineno=False)


if __name__ == "__main__":
    for one in sorted(LOCALE.rglob("*.po")):
        update(one)
