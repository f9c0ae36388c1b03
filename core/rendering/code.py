"""Code with its words marked by kind, line by line."""

from __future__ import annotations

from functools import lru_cache
from html import escape

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String
from pygments.util import ClassNotFound

MOST = 20_000
"""Characters of a block whose words are marked; a longer one is shown without."""

KINDS = (
    (Comment, "comment"),
    (Keyword, "keyword"),
    (String, "string"),
    (Number, "number"),
    (Name.Function, "name"),
    (Name.Class, "name"),
    (Name.Tag, "keyword"),
    (Name.Attribute, "name"),
    (Name.Builtin, "name"),
    (Operator.Word, "keyword"),
    (Generic.Inserted, "inserted"),
    (Generic.Deleted, "deleted"),
)
NAMES = """
bash c console cpp csharp css diff docker dockerfile go graphql haskell html ini java javascript js json jsx julia
kotlin latex lua make markdown matlab md perl php powershell py python python3 r rb rs ruby rust scala sh shell sql
swift tex toml ts tsx typescript xml yaml yml zsh
"""
LANGUAGES = frozenset(NAMES.split())
"""Those that are marked. Others cost time that is not worth it, and some of their rules take minutes on odd texts."""


def highlight_lines(code: str, language: str) -> list[str]:
    """The lines of the code as HTML."""
    lexer = find_lexer(language.lower()) if len(code) <= MOST else None
    if lexer is None:
        return escape(code).split("\n")
    lines: list[str] = [""]
    for _, kind, text in lexer.get_tokens_unprocessed(code):
        name = next((name for of, name in KINDS if kind in of), "")
        first, *others = (mark(part, name) for part in text.split("\n"))
        lines[-1] += first
        lines += others
    return lines


def mark(text: str, name: str) -> str:
    return f'<span class="code-{name}">{escape(text)}</span>' if name and text.strip() else escape(text)


@lru_cache(maxsize=64)
def find_lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language) if language in LANGUAGES else None
    except ClassNotFound:
        return None
