"""Bring the translations in locale/ up to date with the texts that templates, modules and scripts mark.

    python scripts/messages.py       # the languages that are there
    python scripts/messages.py fr    # and begin another

A new text is added without a translation, and one that no file has any more goes; other translations stay as they are.
A language of `WHOLE_LANGUAGES` in config/settings.py holds every text, any other those of the annotators' pages.
`config/catalogues.py` compiles the result.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from babel.messages.catalog import Catalog  # noqa: E402
from babel.messages.extract import DEFAULT_KEYWORDS, extract  # noqa: E402
from babel.messages.pofile import read_po, write_po  # noqa: E402
from django.conf import settings  # noqa: E402
from django.utils.translation.template import templatize  # noqa: E402

from config.annotators_pages import MODULES, PAGES  # noqa: E402

LOCALE = ROOT / "locale"
TEMPLATES = ROOT / "templates"
APPS = ("annotation", "judging", "simulation", "config", "core")
KEYWORDS = DEFAULT_KEYWORDS | {"gettext_lazy": None, "gettext_noop": None}
NAMED = ("label", "help_text", "empty_label", "title", "description", "off", "wrong", "caption", "no_model")
"""Arguments by which forms and options take texts."""

Message = tuple[str | tuple[str, ...], str]
"""A text, or its singular and plural, and the file that has it."""


def list_messages(domain: str, *, whole: bool = True) -> Iterator[Message]:
    """Every marked text of a domain, or those of annotators' pages: `djangojs` are the scripts', `django` others."""
    if domain == "djangojs":
        files = [path for app in APPS for path in sorted((ROOT / app).glob("static/**/*.js"))]
    elif whole:
        files = [path for app in APPS for path in sorted((ROOT / app).rglob("*.py"))]
        files += sorted(TEMPLATES.rglob("*.html"))
    else:
        files = [ROOT / path for path in MODULES] + sorted(find_included(PAGES))
    for path in files:
        name = path.relative_to(ROOT).as_posix()
        for message in read_messages(path):
            yield message, name


def find_included(pages: tuple[str, ...]) -> set[Path]:
    """These templates, the shared parts, which tags render too, and whatever they extend and include."""
    found: set[Path] = set()
    open_ = {TEMPLATES / page for page in pages} | set((TEMPLATES / "components").rglob("*.html"))
    while open_:
        found |= open_
        named = {name for path in open_ for name in re.findall(r'"([\w/]+\.html)"', path.read_text(encoding="utf-8"))}
        open_ = {path for name in named if (path := TEMPLATES / name).exists()} - found
    return found


def read_messages(path: Path) -> Iterator[str | tuple[str, ...]]:
    text = path.read_text(encoding="utf-8")
    method = "python"
    if path.suffix == ".html":
        text, method = templatize(text), "javascript"  # whose reader takes what is no Python
    elif path.suffix == ".js":
        method = "javascript"
    elif "models" not in path.with_suffix("").parts:  # whose help is for who reads the schema
        yield from read_named(text)
    for found in extract(method, BytesIO(text.encode()), KEYWORDS | dict.fromkeys([*list_errors(), "error"])):
        yield found[1]


def read_named(source: str) -> Iterator[str]:
    """The texts that calls in a module take by the names of `NAMED`, and the labels of the `Choices` of options."""
    tree = ast.parse(source)
    constants = read_constants(tree) if "Choices(" in source else {}
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        given = [one.value for one in call.keywords if one.arg in NAMED]
        if isinstance(call.func, ast.Name) and call.func.id == "Choices":
            labels = constants.get(ast.unparse(call.args[0]), call.args[0])
            given += labels.values if isinstance(labels, ast.Dict) else []
        for one in given:
            if isinstance(one, ast.Constant) and one.value:
                yield str(one.value)


def read_constants(tree: ast.Module) -> dict[str, ast.expr]:
    """What names of a module stand for: its own constants, and those that it has from other modules of the site."""
    found = {ast.unparse(one.targets[0]): one.value for one in tree.body if isinstance(one, ast.Assign)}
    for one in (node for node in tree.body if isinstance(node, ast.ImportFrom)):
        place = (ROOT / str(one.module).replace(".", "/")).with_suffix(".py")
        names = {name.name for name in one.names if name.name.isupper()}
        if names and place.is_relative_to(ROOT) and place.exists():
            there = read_constants(ast.parse(place.read_text(encoding="utf-8")))
            found |= {name: value for name, value in there.items() if name in names}
    return found


@cache
def list_errors() -> frozenset[str]:
    """Names of the errors whose message is a text for people: InputError and what is derived from it.

    A file makes them by its method `error`.
    """
    bases = {
        name: base
        for app in APPS
        for path in (ROOT / app).rglob("*.py")
        for name, base in re.findall(r"^class (\w+)\((\w+)\)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    found = {"InputError"}
    while more := {name for name, base in bases.items() if base in found} - found:
        found |= more
    return frozenset(found)


def update(path: Path) -> None:
    """Bring the catalogue of a language and domain up to date."""
    with path.open("rb") as file:
        catalogue = read_po(file)
    found = Catalog(charset="utf-8", creation_date=catalogue.creation_date)
    for message, name in list_messages(path.stem, whole=path.parts[-3] in settings.WHOLE_LANGUAGES):
        found.add(message, locations=[(name, 0)])
    catalogue.update(found, no_fuzzy_matching=True)
    catalogue.obsolete.clear()
    with path.open("wb") as file:
        write_po(file, catalogue, width=100, include_lineno=False)


def begin(language: str) -> None:
    """Make empty catalogues of a language."""
    for domain in ("django", "djangojs"):
        path = LOCALE / language / "LC_MESSAGES" / f"{domain}.po"
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            with path.open("wb") as file:
                write_po(file, Catalog(locale=language, charset="utf-8"))


if __name__ == "__main__":
    for language in sys.argv[1:]:
        begin(language)
    for one in sorted(LOCALE.rglob("*.po")):
        update(one)
