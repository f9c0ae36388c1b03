"""The controls of each type of answer on the rating page.

The page's script keeps an answer in one input called after its ask, as `annotation.studies.parsing.answers` reads it.
Without a script the controls are sent by names of their own, and the same text is made from them here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import groupby
from operator import itemgetter

from django.http import QueryDict
from django.utils.translation import gettext

from annotation.stats.rankings import BETTER, TIED, parse_ranking
from annotation.studies.parsing.answers import LONGEST_TEXT, NOTHING, AnswerFormat, describe_bounds, spell_best_worst
from annotation.studies.queries.answer_formats import spell_quotes

Controls = dict[str, object]
LINES = "-quotes"
"""Ends the name of the box in which spans are quoted, a line each."""


def fill_from_controls(data: Mapping[str, object], formats: Mapping[str, AnswerFormat]) -> Mapping[str, object]:
    """What was sent, with an answer for each ask whose controls were sent in its place."""
    missing = {name: asked for name, asked in formats.items() if name not in data and asked.type in READERS}
    if not missing or not isinstance(data, QueryDict):
        return data
    filled = data.copy()
    for name, asked in missing.items():
        filled[name] = READERS[asked.type](asked, data, name)
    return filled


def read_choices(asked: AnswerFormat, data: QueryDict, name: str) -> str:  # noqa: ARG001 # one shape for all readers
    return "|".join(data.getlist(f"{name}-choice"))


def read_ranks(asked: AnswerFormat, data: QueryDict, name: str) -> str:
    """The ranking that was selected; empty where nothing was, incomplete where something is missing."""
    if asked.limits.get("best_worst"):
        best, worst = data.get(f"{name}-best", ""), data.get(f"{name}-worst", "")
        return spell_best_worst(best, worst, asked.responses) if best or worst else ""
    given = [(data.get(f"{name}-rank-{side}", ""), side) for side in asked.responses]
    groups = groupby(sorted(one for one in given if one[0]), key=itemgetter(0))
    return BETTER.join(TIED.join(side for _, side in group) for _, group in groups)


def read_quotes(asked: AnswerFormat, data: QueryDict, name: str) -> str:  # noqa: ARG001
    """Spans from lines such as `wrong | turn-2 | the words`; an empty list where nothing was found."""
    lines = [line for line in data.get(f"{name}{LINES}", "").splitlines() if line.strip()]
    if not lines:
        return "[]" if data.get(f"{name}-nothing") else ""
    return json.dumps([read_quote(line) for line in lines], ensure_ascii=False)


def read_quote(line: str) -> dict[str, object]:
    what, where, words = [part.strip() for part in [*line.split("|", 2), "", ""][:3]]
    category, _, severity = what.partition("/")
    part, _, start = where.partition("@")
    at = {"start": int(start)} if start.isascii() and start.isdecimal() and len(start) < 10 else {}
    return {"category": category, "severity": severity, "part": part, "quote": words, **at}


READERS = {"several": read_choices, "ranking": read_ranks, "spans": read_quotes}


def build_controls(asked: AnswerFormat, value: str, data: Mapping[str, object], title: str, name: str) -> Controls:
    """What the template of a type shows; nothing of a choice. `title` is what the ask is called."""
    builder = BUILDERS.get(asked.type)
    if builder is None:
        return {}
    shown = {"template": f"components/answers/{asked.type}.html", "label": title}
    return {**shown, **builder(asked, value, data, name)}


def build_number(asked: AnswerFormat, value: str, data: Mapping[str, object], name: str) -> Controls:  # noqa: ARG001
    """Its bounds as the browser reads them, and in words."""
    bounds = {side: str(asked.limits.get(side, "")) for side in ("least", "most")}
    return {**bounds, "step": str(asked.limits.get("step", "any")), "bounds": describe_bounds(asked.limits, gettext)}


def build_boxes(asked: AnswerFormat, value: str, data: Mapping[str, object], name: str) -> Controls:  # noqa: ARG001
    """Which boxes are ticked."""
    most = int(asked.limits.get("most", len(asked.values)))
    nothing = "" if asked.limits.get("least") else NOTHING
    return {"chosen": value.split("|"), "nothing": nothing, "most": most}


def build_ranks(asked: AnswerFormat, value: str, data: Mapping[str, object], name: str) -> Controls:
    """By side the rank that is chosen, from 1, also of what is not complete."""
    try:
        ranking = parse_ranking(value)
    except ValueError:
        ranking = ()
    ranks = {side: str(rank) for rank, group in enumerate(ranking, start=1) for side in group}
    chosen = {side: str(data.get(f"{name}-rank-{side}") or ranks.get(side, "")) for side in asked.responses}
    ends = [data.get(f"{name}-best"), data.get(f"{name}-worst")]
    if len(ranking) > 1:
        ends = [ranking[0][0], ranking[-1][0]]
    numbers = [str(rank) for rank in range(1, len(asked.responses) + 1)]
    both = {"best": ends[0], "worst": ends[1]}
    return {"ranks": list(chosen.items()), "numbers": numbers, "sides": asked.responses, **both}


def build_quotes(asked: AnswerFormat, value: str, data: Mapping[str, object], name: str) -> Controls:
    """Spans as lines, where they may lie, and how a line is written."""
    lines = str(data.get(f"{name}{LINES}") or spell_quotes(value, asked))
    severity = next(iter(asked.limits.get("severities", ())), "")
    what = "/".join(part for part in (next(iter(asked.values), ""), severity) if part)
    example = f"{what} | {next(iter(asked.texts), '')} | …"
    return {"lines": lines, "nothing": value == "[]", "parts": json.dumps(list(asked.texts)), "example": example}


def build_text(asked: AnswerFormat, value: str, data: Mapping[str, object], name: str) -> Controls:  # noqa: ARG001
    """How long it may be; a rewrite begins with the text as it is."""
    longest = str(asked.limits.get("longest", LONGEST_TEXT))
    return {"longest": longest, "original": asked.original or "", "text": value or asked.original or ""}


BUILDERS = {
    "number": build_number,
    "several": build_boxes,
    "ranking": build_ranks,
    "spans": build_quotes,
    "text": build_text,
    "rewrite": build_text,
}
