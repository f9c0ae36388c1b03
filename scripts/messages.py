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
from argparse import ArgumentParser, RawDescriptionHelpFormatter
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
from core.sentences import CONTEXT  # noqa: E402

LOCALE = ROOT / "locale"
TEMPLATES = ROOT / "templates"
APPS = ("annotation", "judging", "simulation", "config", "core")
KEYWORDS = DEFAULT_KEYWORDS | {"gettext_lazy": None, "gettext_noop": None}
NAMED = ("label", "help_text", "empty_label", "title", "description", "off", "wrong", "caption", "no_model")
"""Arguments by which forms and options take texts."""

COMPOSING = (
    "annotation/agreement/services", "annotation/benchmarks/imports", "annotation/benchmarks/services/building.py",
    "annotation/benchmarks/services/datasheet_figures.py", "annotation/benchmarks/services/datasheets.py",
    "annotation/quality/charts.py", "annotation/stats", "annotation/studies/queries/dependence.py",
    "judging/assessment", "judging/evaluations", "judging/runs/services", "judging/stats",
    "simulation/results", "simulation/stats",
)  # fmt: skip
"""What composes sentences about results, which `core/sentences.py` translates."""

NOT_COMPOSING = re.compile(
    r"/(api|models|views)/|/(api|models|options|forms|serializers|latex|typst_report|row_triggers|paper_kit"
    r"|stated_verdicts|reading|relevance|regions|words)\.py$"
)
"""What is for other readers there, or a list of words."""

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


def list_sentences() -> Iterator[tuple[str, str]]:
    """The templates of sentences about results, each with the file that composes it."""
    places = [ROOT / place for place in COMPOSING]
    files = [path for place in places for path in ([place] if place.suffix else sorted(place.rglob("*.py")))]
    for path in files:
        name = path.relative_to(ROOT).as_posix()
        if not NOT_COMPOSING.search(name):
            for text in read_sentences(path.read_text(encoding="utf-8")):
                yield text, name


def read_sentences(source: str) -> Iterator[str]:
    """The texts of a module that hold words and a space, of f-strings with the names of their values in braces.

    Kinds of warnings too, as pages name them. Not docstrings, errors and what is marked otherwise.
    """
    for code in re.findall(r'StatWarning\(\s*"(\w+)"', source):
        yield code.replace("_", " ").capitalize()
    open_: list[ast.AST] = [ast.parse(source)]
    while open_:
        node = open_.pop()
        if isinstance(node, ast.JoinedStr | ast.Constant):
            for text in read_templates(node):
                if re.search(r"[^\W\d_]{3}", WITHOUT.sub("", text)) and " " in text and not CODE.search(text):
                    yield text
        elif not isinstance(node, ast.Raise) and not is_marked(node):
            open_ += [child for child in ast.iter_child_nodes(node) if not is_docstring(child)]


WITHOUT = re.compile(r"\{\w+\}")
CODE = re.compile(r"\\|^#+ |\(\?|\n|; charset=|^manage\.py |SELECT ")
"""Of a text that is none for people."""


def is_marked(node: ast.AST) -> bool:
    """Whether it hands its text to gettext or to an error, or only names something."""
    names = {"_", "gettext", "gettext_noop", "gettext_lazy", "ngettext", *list_errors()}
    return isinstance(node, ast.Call) and ast.unparse(node.func) in names


def is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def read_templates(node: ast.JoinedStr | ast.Constant) -> list[str]:
    """The template of a text, and of an f-string that chooses between two words one for each."""
    if isinstance(node, ast.Constant):
        text = node.value if isinstance(node.value, str) else ""
        return [re.sub(r"\{(\w*)[^{}]*\}", lambda place: f"{{{place[1] or 'value'}}}", text)]
    found, names = [""], set[str]()
    for part in node.values:
        if isinstance(part, ast.Constant):
            found = [text + str(part.value).replace("{", "{{").replace("}", "}}") for text in found]
        elif isinstance(part, ast.FormattedValue):
            words = read_words(part.value) or [f"{{{name_value(part.value, names)}}}"]
            found = [text + word for text in found for word in words]
    return found


def read_words(value: ast.expr) -> list[str]:
    """The words that a condition chooses between; none where it is no such condition."""
    if isinstance(value, ast.IfExp):
        both = (value.body, value.orelse)
        if all(isinstance(one, ast.Constant) and isinstance(one.value, str) for one in both):
            return [one.value for one in both]  # type: ignore[attr-defined]
    return []


def name_value(value: ast.expr, taken: set[str]) -> str:
    """The last name in it, of `facts.labelled` labelled, with a number where others have it."""
    words = [word.strip("_").lower() for word in re.findall(r"[A-Za-z_]+", ast.unparse(value))]
    name = next((word for word in reversed(words) if word), "value")
    name = next(one for one in (name, *(f"{name}_{k}" for k in range(2, 100))) if one not in taken)
    taken.add(name)
    return name


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
    if path.stem == "django" and path.parts[-3] in settings.WHOLE_LANGUAGES:
        for sentence, name in list_sentences():
            found.add(sentence, locations=[(name, 0)], context=CONTEXT)
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
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE", help="one to begin, such as fr")
    for language in parser.parse_args().languages:
        begin(language)
    for one in sorted(LOCALE.rglob("*.po")):
        update(one)
