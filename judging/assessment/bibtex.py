"""References as BibTeX (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from judging.assessment.latex import escape

ENTRY = re.compile(r"(?P<author>.+?) \((?P<year>\d{4})\)\. (?P<title>.+?[.?]) (?P<place>.+)")
NEXT_AUTHOR = re.compile(r"(?<=\.), (?:& )?(?!et al)|, & ")
ARXIV = re.compile(r"arXiv:(\S+?)\.?$")


def write_bibtex(references: Iterable[tuple[str, str]]) -> str:
    """Entries of references with their keys, each written as "Authors (year). Title. Where it was published."."""
    return "\n".join(_write_entry(key, text) for key, text in references)


def _write_entry(key: str, text: str) -> str:
    found = ENTRY.fullmatch(text)
    if not found:
        raise ValueError(f"{text!r} is not written as Authors (year). Title. Place.")
    authors = " and ".join(NEXT_AUTHOR.split(found["author"])).replace(", et al.", " and others")
    arxiv = ARXIV.fullmatch(found["place"])
    where = f"  eprint = {{{arxiv[1]}}},\n  archiveprefix = {{arXiv}},\n" if arxiv else ""
    return (
        f"@misc{{{key},\n  author = {{{escape(authors)}}},\n  title = {{{{{escape(found['title'].rstrip('.'))}}}}},\n"
        f"{where}  howpublished = {{{escape(found['place'].rstrip('.'))}}},\n  year = {{{found['year']}}},\n}}\n"
    )
