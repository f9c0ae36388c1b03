r"""Formulas in TeX: $…$, $$…$$, \(…\) and \[…\] in Markdown, shown as MathML, which browsers draw by themselves.

The rules look no further than LONGEST characters for the end of a formula, so that a text full of dollar signs costs
no more than any other. A dollar sign before a digit's price is none: $5 and $6 hold no formula.
"""

from __future__ import annotations

import re
from html import escape

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

LONGEST = 2000
DEEPEST = 40
"""Braces within braces; deeper ones are shown as they are written."""

CLOSERS = {"$$": "$$", "$": "$", "\\[": "\\]", "\\(": "\\)"}
INFERRED = re.compile(r"\\(?:href|url|style|class|html\w*)\b")
"""Commands that would make links and styles. A formula with one is shown as it is written."""


def add_formulas(md: MarkdownIt) -> None:
    """Teach a parser formulas."""
    md.inline.ruler.before("escape", "formula", read_inline)
    md.block.ruler.before("fence", "formula_block", read_block, {"alt": ["paragraph", "blockquote", "list"]})


def read_inline(state: StateInline, silent: bool) -> bool:
    opener = find_opener(state.src, state.pos)
    if not opener:
        return False
    begin = state.pos + len(opener)
    end = find_end(state.src, begin, min(state.posMax, begin + LONGEST), opener)
    if end < 0:
        return False
    if not silent:
        token = state.push("formula", "math", 0)
        token.markup, token.content, token.info = opener, state.src[begin:end], CLOSERS[opener]
    state.pos = end + len(CLOSERS[opener])
    return True


def find_opener(text: str, at: int) -> str:
    """The mark with which a formula begins here; empty for none."""
    return next((opener for opener in CLOSERS if text.startswith(opener, at)), "") if text[at] in "$\\" else ""


def find_end(text: str, begin: int, stop: int, opener: str) -> int:
    """Where the formula's closing mark stands; -1 for none, or where a single $ is about money."""
    closer = CLOSERS[opener]
    end = text.find(closer, begin, stop)
    while end > begin and text[end - 1] == "\\" and opener.startswith("$"):
        end = text.find(closer, end + 1, stop)
    if end <= begin or not text[begin:end].strip():
        return -1
    after = text[end + 1 : end + 2]
    of_money = opener == "$" and (text[begin].isspace() or text[end - 1].isspace() or after.isdigit())
    return -1 if of_money else end


def read_block(state: StateBlock, first: int, end: int, silent: bool) -> bool:
    r"""A formula on lines of its own, from $$ or \[ at the beginning of a line to its end at the end of one."""
    begin = state.bMarks[first] + state.tShift[first]
    opener = next((one for one in ("$$", "\\[") if state.src.startswith(one, begin)), "")
    if not opener or state.is_code_block(first):
        return False
    close = state.src.find(CLOSERS[opener], begin + 2, min(begin + LONGEST, state.eMarks[end - 1]))
    if close < 0:
        return False
    last = next(line for line in range(first, end) if close < state.eMarks[line])
    content = state.src[begin + 2 : close]
    if state.src[close + 2 : state.eMarks[last]].strip() or not content.strip():
        return False
    if silent:
        return True
    token = state.push("formula_block", "math", 0)
    token.block, token.markup, token.content, token.info = True, opener, content, CLOSERS[opener]
    token.map = [first, last + 1]
    state.line = last + 1
    return True


def to_mathml(formula: str, *, display: bool) -> str:
    """The formula as MathML; as code where it cannot be read or holds what does more than show."""
    if is_readable(formula):
        try:
            return str(convert(formula.strip(), display="block" if display else "inline"))
        except Exception:  # noqa: BLE001 # the library raises what it meets: IndexError, its own errors, …
            return show_as_written(formula)
    return show_as_written(formula)


def show_as_written(formula: str) -> str:
    return f"<code>{escape(formula)}</code>"


def is_readable(formula: str) -> bool:
    depth = deepest = 0
    for character in formula:
        depth += (character == "{") - (character == "}")
        deepest = max(deepest, depth)
    return len(formula) <= LONGEST and deepest <= DEEPEST and not INFERRED.search(formula)
