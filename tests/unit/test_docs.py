"""Links of the README lead somewhere, as do paths of files; links of docs/ are checked by `make docs`."""

from __future__ import annotations

import re

from tests.support.paths import ROOT

PATH = re.compile(r"`([a-z_]+(?:/[a-z_.]+)+\.(?:py|toml|yaml|conf|json))`")
LINK = re.compile(r"\]\((?!https?://)([^)#]+)")


def test_every_link_of_the_readme_is_there():
    links = LINK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_file_that_is_named_is_there():
    texts = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    named = {path for text in texts for path in PATH.findall(text.read_text(encoding="utf-8"))}
    assert len(named) > 20
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []
