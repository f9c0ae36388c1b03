"""What people read uses the field's words: no text of a page, message or command says it otherwise."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.support.paths import ROOT

APPS = ("annotation", "judging", "simulation", "config", "core")

INSTEAD = {
    r"with each other": "inter-annotator agreement",
    r"judge with people": "judge–human agreement",
    r"keeps? up with (them|people)": "below inter-annotator agreement",
    r"one judge after the other": "cascade",
    r"left to people": "escalated to people",
    r"(may be )?kept unseen": "accepted without review",
    r"labels saved": "effective sample size gained",
    r"rules? that needs? no model": "trivial baselines",
    r"(?<!minimum\s)(?<!smallest\s)\bdetectable": "minimum detectable effect",
    r"resampled (together|within)": "cluster bootstrap, stratified bootstrap",
    r"share the sample": "allocation",
    r"apply the maps?": "apply calibration",
    r"lie apart|steps? apart|how far .{0,30}apart": "absolute error, difference",
    r"who came|coming in": "participants, recruitment",
    r"\bacts?\b(?! as| --|\.csv)": "audit log, event",
    r"ask(ed)? anew": "ignore cache",
    r"hand(ed)? in as batches": "use the batch API",
    r"by lot": "randomised, at random",
    r"\bbeware\b": "warnings",
    r"\bnot made\b": "not run",
    r"nothing usable": "unscored",
    r"minus this": "difference",
    r"right would be": "correct answer",
    r"not all of it is right": "not quite",
    r"who speaks|about what\b|by whom|of which items": "models; users and tasks; annotators; sample",
    r"\banew\b": "again",
    r"how far (it|they|people|its|he|she|you|the study|we) (is|agree|has|have|are)\b": "agreement, progress",
    r"pairs of which|items of which|of which you": "a second sentence",
    r"^who (is|are|was)\b.*\?": "a heading, not a riddle",
}
PATTERNS = {re.compile(pattern.replace(" ", r"\s+"), re.IGNORECASE): instead for pattern, instead in INSTEAD.items()}
KEPT = {
    "core/audit/heads.py": "lines of a file that earlier versions wrote",
    "core/audit/triggers.py": "names in the database",
    "core/audit/models.py": "help of a field, which a migration holds",
    "judging/runs/models/runs.py": "help of a field, which a migration holds",
}

Texts = Iterator[tuple[int, str]]
"""The line at which a text begins, and the text."""


def read_template(template: str) -> Texts:
    """Yield what a template says: no comments and tags, and of the attributes those that are read aloud."""
    blank = re.compile(r"\{#.*?#\}|\{% comment %\}.*?\{% endcomment %\}", re.DOTALL)
    template = blank.sub(lambda found: "\n" * found.group().count("\n"), template)
    for found in re.finditer(r'(?:title|text|label|action|help|aria-label|placeholder|safe)="([^"]*)"', template):
        yield template.count("\n", 0, found.start()) + 1, found.group(1)
    tags = re.compile(r"<[^>]*>|\{[{%].*?[%}]\}", re.DOTALL)
    yield 1, tags.sub(lambda found: " " + "\n" * found.group().count("\n"), template)


def read_strings(module: ast.Module) -> Texts:
    """Yield the strings with a space that are no docstring: messages, titles, help."""
    statements = [node.value for node in ast.walk(module) if isinstance(node, ast.Expr)]
    docstrings = {id(value) for value in statements if isinstance(value, ast.Constant)}
    for node in ast.walk(module):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value
        if is_text and id(node) not in docstrings:
            yield node.lineno, node.value


def find_words(texts: Texts, where: str) -> list[str]:
    """Say each place with a word of the left column, and what stands there instead."""
    return [
        f"{where}:{first + text.count(chr(10), 0, found.start())}: {found.group()!r}: {instead}"
        for first, text in texts
        for pattern, instead in PATTERNS.items()
        for found in pattern.finditer(text)
    ]


def test_templates():
    found = [
        one
        for path in sorted((ROOT / "templates").rglob("*.html"))
        for one in find_words(read_template(path.read_text()), str(path.relative_to(ROOT)))
    ]
    assert found == []


@pytest.mark.parametrize("app", APPS)
def test_messages(app):
    found = [
        one
        for path in sorted((ROOT / app).rglob("*.py"))
        if "migrations" not in path.parts and str(path.relative_to(ROOT)) not in KEPT
        for one in find_words(read_strings(ast.parse(path.read_text())), str(path.relative_to(ROOT)))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("said", "is_found"),
    [("Items drawn by lot", True), ("<b>Right would be: 4</b>", True), ("{% act_list %} {{ acts }}", False)],
)
def test_the_check_finds_words_and_leaves_code_alone(said, is_found):
    assert bool(find_words(read_template(said), "x")) is is_found
