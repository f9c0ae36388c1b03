"""Where in a Markdown source each piece of what is shown comes from.

The parser reads blocks line by line and what stands in a block character by character. `MappedParser` notes where in
the block each inline token begins; `mark_positions` turns that into offsets of the source, in characters, and writes
them into each token's `meta` as `start` and `end`. A piece whose text differs from its source (an escape, an entity, a
formula) is `whole`: it can be marked only as one.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType


class MappedInline(StateInline):
    """Notes in `meta["at"]` where in the block each token begins."""

    began = 0

    def append_pending(self, text: str) -> None:
        if not self.pending:
            self.began = self.pos
        super().append_pending(text)

    def pushPending(self) -> Token:  # noqa: N802 — the parser's name
        token = super().pushPending()
        token.meta["at"] = self.began
        return token

    def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:
        before = self.tokens[-1] if self.tokens and not self.pending else None
        token = super().push(ttype, tag, nesting)
        token.meta["from"] = token.meta["at"] = self.pos
        if before and before.type == token.type == "text" and before.meta.get("from") == self.pos:
            token.meta["at"] = before.meta["at"] + len(before.content)  # a run of marks is pushed from one place
        return token


class MappedParser(ParserInline):
    def parse(self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token]) -> list[Token]:
        state = MappedInline(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


@dataclass(frozen=True)
class Lines:
    """The lines of a source and where they begin."""

    text: str
    starts: tuple[int, ...]

    @classmethod
    def read(cls, text: str) -> Lines:
        starts = [0]
        for line in text.split("\n"):
            starts.append(starts[-1] + len(line) + 1)
        return cls(text, tuple(starts))

    def line(self, number: int) -> str:
        return self.text[self.starts[number] : self.starts[number + 1] - 1]

    def span(self, first: int, end: int) -> tuple[int, int]:
        """Offsets of the lines from `first` to before `end`, without the last line's end."""
        return self.starts[first], max(self.starts[first], min(self.starts[end] - 1, len(self.text)))


@dataclass(frozen=True)
class Block:
    """Where the lines of a block's content stand in the source. `places` is empty where that cannot be told."""

    content: str
    begins: tuple[int, ...]
    places: tuple[int, ...]
    span: tuple[int, int]

    @classmethod
    def locate(cls, content: str, lines: Lines, first: int, end: int, *, after: int = 0) -> Block:
        """The block of `content` in the lines from `first`; in its first line not before the offset `after`."""
        begins, places, at = [0], [], 0
        for number, part in enumerate(content.split("\n")):
            line = lines.line(first + number) if first + number < end else ""
            place = find_part(line, part, after - lines.starts[first] if number == 0 else 0)
            places.append(-1 if place < 0 else lines.starts[first + number] + place)
            at += len(part) + 1
            begins.append(at)
        known = () if -1 in places else tuple(places)
        return cls(content, tuple(begins), known, lines.span(first, end))

    def to_source(self, at: int) -> int:
        row = min(bisect_right(self.begins, at) - 1, len(self.places) - 1)
        return self.places[row] + at - self.begins[row]


def find_part(line: str, part: str, after: int) -> int:
    """Where `part` stands in a line: at its end, else as early as it may. -1 where it does not."""
    if after <= 0 and line.endswith(part):
        return len(line) - len(part)
    return line.find(part, max(after, 0))


def mark_positions(state: StateCore) -> None:
    """Write source offsets into the tokens: a rule of the parser that runs after all others."""
    lines = Lines.read(state.src)
    line, after = -1, 0
    for token in state.tokens:
        if token.type == "inline" and token.map:
            first, end = token.map
            after = after if first == line else 0
            block = Block.locate(token.content, lines, first, end, after=after)
            mark_inline(token.children or [], block, state.src)
            line, after = first, block.to_source(len(token.content)) if block.places else after
        elif token.map and token.type in ("fence", "code_block", "formula_block"):
            mark_block(token, lines)


def mark_block(token: Token, lines: Lines) -> None:
    """Offsets of a block of code or of a formula. Its content's lines are noted for code."""
    first, end = token.map or (0, 0)
    token.meta["start"], token.meta["end"] = lines.span(first, end)
    if token.type != "formula_block":
        content = token.content.removesuffix("\n")
        token.meta["block"] = Block.locate(content, lines, first + (token.type == "fence"), end)


def mark_inline(children: list[Token], block: Block, source: str) -> None:
    """Offsets of the tokens of a block, each from where it begins to where its text ends."""
    for token, following in zip_longest(children, children[1:]):
        stop = following.meta.get("at", 0) if following else len(block.content)
        mark_token(token, block, stop)
        shown = source[token.meta["start"] : token.meta["end"]]
        token.meta["whole"] = token.meta["whole"] or shown != token.content


def mark_token(token: Token, block: Block, stop: int) -> None:
    if not block.places:
        token.meta.update(start=block.span[0], end=block.span[1], whole=True)
        return
    at, length, whole = find_extent(token, block.content, stop)
    start = block.to_source(at)
    token.meta.update(start=start, end=block.to_source(at + length - 1) + 1 if length else start, whole=whole)


def find_extent(token: Token, content: str, stop: int) -> tuple[int, int, bool]:
    """Where a token's text begins in its block, how long that is there, and whether it differs from what is shown.

    `stop` is where the next token begins.
    """
    at = token.meta.get("at", 0)
    if token.type == "code_inline":
        shown = content.replace("\n", " ").find(token.content, at + len(token.markup))
        return (shown, len(token.content), False) if shown >= 0 else (at, max(stop - at, 1), True)
    if token.type == "formula":
        return at, len(token.markup) + len(token.content) + len(token.info), True
    if token.type == "text_special":
        return at, len(token.markup), token.markup != token.content
    if token.type == "image":
        return at, max(stop - at, 1), True
    if content[at : at + len(token.content)] == token.content:
        return at, len(token.content), False
    found = content.find(token.content, at)  # an address in <angle brackets>
    return (found, len(token.content), False) if found >= 0 else (at, 1, True)
