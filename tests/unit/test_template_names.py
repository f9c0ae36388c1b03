"""Names that a template makes do not reach a shared part that takes one of that name and was not given it."""

from __future__ import annotations

import re

import pytest

from tests.support.paths import ROOT

TEMPLATES = ROOT / "templates"
PAGES = [path for path in sorted(TEMPLATES.rglob("*.html")) if "components" not in path.parts]
INCLUDE = re.compile(r'\{% include "(components/[\w/]+\.html)"([^%]*)%\}')
MADE = re.compile(r"\{%[^%]*?\b(?:as|asvar) (\w+)\b[^%]*%\}")
NAME = re.compile(r'(?<![\w."\'|])([a-z_]\w*)(?=[\s.|)]|$)')


def find_read(part: str) -> set[str]:
    """Names that a shared part reads: what it prints, asks for and passes on."""
    source = (TEMPLATES / part).read_text()
    found = set(re.findall(r"\{\{\s*(\w+)", source))
    for tag in re.findall(r"\{%\s*(?:if|elif|include|with|for \w+ in)\s+([^%]*)%\}", source):
        found |= set(NAME.findall(re.sub(r'"[^"]*"', "", tag)))
    return found


def find_leaks(source: str) -> set[tuple[str, str]]:
    """Shared parts that would read a name made before, with that name."""
    found = set()
    for include in INCLUDE.finditer(source):
        made = set(MADE.findall(source[: include.start()])) - set(re.findall(r"(\w+)=", include[2]))
        found |= {(include[1], name) for name in made & find_read(include[1])}
    return found


def test_an_empty_list_takes_an_address_made_before_it():
    source = '{% url "home" as href %}{% include "components/empty.html" with title=title %}'
    assert find_leaks(source) == {("components/empty.html", "href")}
    assert find_leaks(source.replace("title=title", "href=there")) == set()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_nothing_leaks_into_a_shared_part(path):
    assert find_leaks(path.read_text()) == set()
