"""Markdown -> safe HTML whose pieces say where in the source they come from; words of code are marked by kind.

A piece is an element with `data-start` and `data-end`, offsets in characters of the source. Its text is the source's
between the two, but where it has `data-whole`. HTML in the source is text like any other; nothing is fetched: a picture
is shown as a link. What comes out has gone through `nh3`, whatever went in.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from html import escape
from urllib.parse import urlsplit

import nh3
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String
from pygments.util import ClassNotFound

from core.markup import to_safe_html
from core.rendering.formulas import add_formulas, to_mathml
from core.rendering.source_map import Block, MappedParser, mark_positions

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


LONGEST = 200_000
"""Characters that are rendered; a longer text is shown as it is written."""

KEPT = 1024
"""Texts whose HTML is kept in this process."""

MARKUP = re.compile(r"[*_\[\]`<&$\\~|\0]|^(?:[^\S\n]|[#>+=-]|\d+[.)])|[^\S\n]$", re.MULTILINE)
"""What may be markup. A text without it consists of paragraphs."""

BREAK = "<br>\n"
PARAGRAPH = re.compile(r"[^\n]+(?:\n[^\n]+)*")

SCHEMES = {"http", "https", "mailto"}
FORMULA_TAGS = """
math mrow mi mn mo ms mtext mspace mfrac msqrt mroot mstyle msub msup msubsup munder mover munderover mtable mtr mtd
mpadded mphantom menclose merror mmultiscripts mprescripts none
"""
TEXT_TAGS = "a blockquote br code div em hr li ol p pre s span strong table tbody td th thead tr ul"
MATHML = set(FORMULA_TAGS.split())
TAGS = MATHML | set(TEXT_TAGS.split())
ATTRIBUTES = {
    "a": {"href", "title", "rel", "target", "class"},
    "ol": {"start", "dir"},
    "span": {"class", "data-start", "data-end", "data-whole"},
    "code": {"class", "data-start", "data-end", "data-whole", "dir"},
    "div": {"class", "tabindex", "role", "aria-label", "data-start", "data-end", "data-whole", "dir"},
    "pre": {"class", "dir"},
    "td": {"class", "dir"},
    "th": {"class", "dir"},
    "p": {"class", "dir"},
    **{tag: {"dir"} for tag in ("li", "ul", "blockquote")},
    **{tag: {"stretchy", "fence", "separator", "mathvariant", "form", "accent", "display"} for tag in MATHML},
    "mtable": {"columnalign", "rowspacing", "columnspacing"},
    "mtd": {"columnalign"},
    "mspace": {"width"},
    "mfrac": {"linethickness"},
    "mover": {"accent"},
}
OWN_DIRECTION = {"p", "li", "blockquote", "td", "th"}
"""Blocks that run as their own first letter says: one language may answer another."""


class PieceRenderer(RendererHTML):
    """Writes tokens as HTML with their places in the source."""

    def text(self, tokens: Sequence[Token], idx: int, options: object, env: EnvType) -> str:
        return wrap(tokens[idx], escape(tokens[idx].content), env)

    text_special = text

    def code_inline(self, tokens: Sequence[Token], idx: int, options: object, env: EnvType) -> str:
        return f'<code dir="ltr">{wrap(tokens[idx], escape(tokens[idx].content), env)}</code>'

    def formula(self, tokens: Sequence[Token], idx: int, options: object, env: EnvType) -> str:
        token = tokens[idx]
        return wrap(token, to_mathml(token.content, display=token.markup in ("$$", "\\[")), env, css="formula")

    def formula_block(self, tokens: Sequence[Token], idx: int, options: object, env: EnvType) -> str:
        token = tokens[idx]
        shown = f'<span class="formula">{to_mathml(token.content, display=True)}</span>'
        place = attributes(token.meta["start"] + env["start"], token.meta["end"] + env["start"], whole=True)
        return f'<div class="content__formula"{place} dir="ltr">{shown}</div>'

    def fence(self, tokens: Sequence[Token], idx: int, options: object, env: EnvType) -> str:
        words = tokens[idx].info.split()
        return write_code(tokens[idx], words[0] if words else "", env)

    def code_block(self, tokens: Sequence[Token], idx: int, options: object, env: EnvType) -> str:
        return write_code(tokens[idx], "", env)

    def softbreak(self, tokens: Sequence[Token], idx: int, options: object, env: object) -> str:
        return BREAK

    def image(self, tokens: Sequence[Token], idx: int, options: object, env: EnvType) -> str:
        """A picture that lies elsewhere is not fetched: its name, with a link to where it is."""
        token = tokens[idx]
        address = str(token.attrs.get("src", ""))
        name = wrap(token, escape(f"[{token.content or 'picture'}]"), env, css="content__elsewhere")
        return f"{name} <a{link_attributes(address)}>{escape(address)}</a>" if is_web(address) else name

    def link_open(self, tokens: Sequence[Token], idx: int, options: object, env: object) -> str:
        address = str(tokens[idx].attrs.get("href", ""))
        return f"<a{link_attributes(address) if is_web(address) else ''}>"

    def heading_open(self, tokens: Sequence[Token], idx: int, options: object, env: object) -> str:
        """A heading looks like one and is none to the page, whose own headings are its outline."""
        return f'<p class="content__heading content__heading--{tokens[idx].tag[1:]}" dir="auto">'

    def heading_close(self, tokens: Sequence[Token], idx: int, options: object, env: object) -> str:
        return "</p>\n"

    def table_open(self, tokens: Sequence[Token], idx: int, options: object, env: object) -> str:
        return '<div class="content__table" tabindex="0" role="group" aria-label="Table"><table>\n'

    def table_close(self, tokens: Sequence[Token], idx: int, options: object, env: object) -> str:
        return "</table></div>\n"

    def renderToken(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:  # noqa: N802
        token = tokens[idx]
        if token.tag in OWN_DIRECTION and token.nesting == 1:
            aligned = str(token.attrs.pop("style", "")).removeprefix("text-align:")
            token.attrs |= {"dir": "auto", **({"class": f"aligned-{aligned}"} if aligned else {})}
        return str(super().renderToken(tokens, idx, options, env))


def wrap(token: Token, html: str, env: EnvType, *, css: str = "") -> str:
    """The HTML as a piece."""
    if not html:
        return ""
    meta, offset = token.meta, env["start"]
    place = attributes(meta["start"] + offset, meta["end"] + offset, whole=meta["whole"])
    return f"<span{f' class={css!r}' if css else ''}{place}>{html}</span>"


def attributes(start: int, end: int, *, whole: bool) -> str:
    return f' data-start="{start}" data-end="{end}"{" data-whole" if whole else ""}'


def write_code(token: Token, language: str, env: EnvType) -> str:
    """A block of code: one piece, or where its lines are indented in the source, one of each line."""
    block: Block = token.meta["block"]
    lines, offset = highlight_lines(block.content, language), env["start"]
    if not block.content:
        body = ""
    elif not block.places or len(lines) != len(block.places):
        body = f"<span{attributes(token.meta['start'] + offset, token.meta['end'] + offset, whole=True)}>"
        body += "\n".join(lines) + "</span>"
    elif is_continuous(block):
        start, joined = block.places[0] + offset, "\n".join(lines)
        body = f"<span{attributes(start, start + len(block.content), whole=False)}>{joined}</span>"
    else:
        texts = zip(lines, block.places, block.content.split("\n"), strict=True)
        body = "\n".join(
            f"<span{attributes(place + offset, place + offset + len(text), whole=False)}>{line}</span>"
            for line, place, text in texts
        )
    return f'<pre dir="ltr"><code>{body}</code></pre>\n'


def is_continuous(block: Block) -> bool:
    """Whether a block stands in the source as it is, from its first character to its last."""
    return all(place - block.places[0] == begin for place, begin in zip(block.places, block.begins, strict=False))


def is_web(address: str) -> bool:
    return urlsplit(address).scheme.lower() in SCHEMES


def link_attributes(address: str) -> str:
    where = escape(address)
    return f' href="{where}" title="{where}" rel="noopener noreferrer nofollow" target="_blank"'


@lru_cache(maxsize=1)
def build_parser() -> MarkdownIt:
    md = MarkdownIt("commonmark", {"html": False}, renderer_cls=PieceRenderer)
    md.inline = rebuild_inline(md)
    md.enable(["table", "strikethrough"]).disable(["fragments_join", "text_join"])
    add_formulas(md)
    md.core.ruler.push("positions", mark_positions)
    return md


@lru_cache(maxsize=1)
def build_cleaner() -> nh3.Cleaner:
    return nh3.Cleaner(tags=TAGS, attributes=ATTRIBUTES, url_schemes=SCHEMES, link_rel=None)


def rebuild_inline(md: MarkdownIt) -> MappedParser:
    """The inline parser that notes positions, with the rules that are active in `md`."""
    mapped = MappedParser()
    mapped.ruler.enableOnly(md.inline.ruler.get_active_rules())
    mapped.ruler2.enableOnly(md.inline.ruler2.get_active_rules())
    return mapped


@lru_cache(maxsize=KEPT)
def render_markdown(text: str, start: int = 0) -> SafeString:
    """The text as HTML. Its pieces count from `start`, where the text begins in its source. Lines end with \\n."""
    if len(text) > LONGEST:
        return write_plain(text, start)
    if not MARKUP.search(text):
        return write_prose(text, start)
    html = build_parser().render(text, {"start": start})
    return to_safe_html(build_cleaner().clean(html))


def write_prose(text: str, start: int) -> SafeString:
    """What the parser makes of a text without any markup, in a hundredth of its time."""
    paragraphs = []
    for found in PARAGRAPH.finditer(text):
        lines, at = [], start + found.start()
        for line in found[0].split("\n"):
            lines.append(f"<span{attributes(at, at + len(line), whole=False)}>{escape(line, quote=False)}</span>")
            at += len(line) + 1
        paragraphs.append(f'<p dir="auto">{BREAK.join(lines)}</p>\n')
    return to_safe_html("".join(paragraphs))


def write_plain(text: str, start: int = 0) -> SafeString:
    """The text as it is written, in one piece."""
    place = attributes(start, start + len(text), whole=False)
    return to_safe_html(f'<span class="prewrap"{place}>{escape(text)}</span>')
