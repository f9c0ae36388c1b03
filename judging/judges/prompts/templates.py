"""The texts that prompts are made of, and what may stand in one that a researcher brings (pure).

A template is text with placeholders: `$conversation` or `${conversation}`. `$$` is a dollar, and so is a `$` that no
letter or brace follows, so that prices need no care. What is filled in is never looked at again: a `$` in the material
is text.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "texts"
PLACEHOLDER = re.compile(r"\$(?:(?P<dollar>\$)|\{(?P<braced>[^{}]*)\}|(?P<plain>[A-Za-z_][A-Za-z0-9_]*))")
FALLBACK = "general"
"""The template of criteria that have none of their own."""

OF_THE_CRITERION = {
    "criterion": "its name",
    "asked": "its question, and which turn is to be rated where it is one",
    "turn": "which turn is to be rated; nothing where it is the whole item",
    "guideline": "its guideline",
    "scale": "the values with their meaning, one a line",
    "values": "the values alone",
    "level": "nominal, ordinal, …",
    "answer": "how to answer, so that it can be read: the explanation first, then one of the values",
    "examples": "settled items with people's verdicts, if the judge was given any; nothing if not",
}
OF_THE_USER = {
    "persona": "who the user is",
    "demographics": "age, place and the like",
    "preferences": "preferences, in a dialogue those of the task's domains",
    "interactions": "summaries of past interactions, in a dialogue those of the task's domains",
    "memories": "what was remembered of the user",
    "about_user": "all of these that are known, with titles; nothing if none is",
    "about_preferences": "the preferences; nothing if none are known",
    "mark": "the digits on the lines around the material",
}
OF_THE_ITEM = {
    "dialogue": {
        "conversation": "the turns, numbered",
        "task": "what the user set out to do",
        "intent": "how the user would ask for it",
        "goal": "when the task is done",
        "situation": "time, place and the like",
        "about_task": "task, goal and situation, as far as known, with titles",
        "about_intent": "the intent; nothing if it is not known",
        "about_goal": "the goal; nothing if it is not known",
        "about_situation": "the situation; nothing if it is not known",
    },
    "pair": {
        "question": "what was asked, with its context",
        "response_a": "the response shown first",
        "response_b": "the response shown second, and all that are shown after it; nothing where there is one alone",
    },
}
NO_TURN = "The template has neither $turn nor $asked, so the judge would not know which turn to rate."
NEEDED = {"dialogue": ("conversation",), "pair": ("response_a", "response_b")}


class TemplateError(ValueError):
    """A template that cannot be used; the message says why."""


def placeholders(kind: str) -> dict[str, str]:
    """What a template for this kind of item may hold, and what each stands for."""
    return {**OF_THE_ITEM[kind], **OF_THE_USER, **OF_THE_CRITERION}


def problems(template: str, kind: str) -> list[str]:
    """Why the template cannot ask about items of this kind, in sentences; nothing if it can."""
    needed = dict.fromkeys(NEEDED[kind], "the judge would not see what it is to rate")
    return misfits(template, placeholders(kind), needed, f"a {kind}")


def misfits(template: str, known: Iterable[str], needed: Mapping[str, str], what: str) -> list[str]:
    """Why the template does not do for `what`, in sentences. `needed`: placeholder -> what happens without it."""
    used, known = names(template), list(known)
    unknown = [name for name in used if name not in known]
    there = ", ".join(f"${name}" for name in known) or "none"
    return [
        *(f"${{{name}}} is not a placeholder for {what}; there are {there}." for name in unknown[:3]),
        *(f"The template lacks ${name}, so {lost}." for name, lost in needed.items() if name not in used),
    ]


def find_template(key: str, /, *, template: str = "", templates: Mapping[str, str] | None = None, **_: object) -> str:
    """The judge's own template for a criterion: the one named for it, else the one for all; empty for Concord's own."""
    return (templates or {}).get(key, "") or template


def kinds(template: str) -> list[str]:
    """The kinds of items that the template can ask about."""
    return [kind for kind in OF_THE_ITEM if not problems(template, kind)]


def names_criterion(template: str) -> bool:
    """Whether the template says what is asked. One that does not asks the same whatever the criterion."""
    return bool({"criterion", "asked", "guideline"} & set(names(template)))


def names_turn(template: str) -> bool:
    """Whether the template says which turn is to be rated."""
    return bool({"turn", "asked"} & set(names(template)))


def shows_examples(template: str) -> bool:
    """Whether the template says where a judge's examples go."""
    return "examples" in names(template)


def names(template: str) -> list[str]:
    """The placeholders in the template, each once."""
    found = [find_placeholder(match) for match in PLACEHOLDER.finditer(template)]
    return list(dict.fromkeys(name for name in found if name is not None))


def find_placeholder(match: re.Match[str]) -> str | None:
    """The placeholder's name; None for a dollar."""
    if match["dollar"]:
        return None
    plain, braced = match["plain"], match["braced"]
    return plain if braced is None else braced


def drop_placeholder(template: str, name: str) -> str:
    """The template without the paragraph that consists of this placeholder alone."""
    return template.replace(f"${name}\n\n", "")


def fill(template: str, value: Callable[[str], str]) -> tuple[str, dict[str, int]]:
    """The text with `value(name)` in each placeholder's place, and where in it each one ends, in their order."""
    parts: list[str] = []
    ends: dict[str, int] = {}
    length = position = 0
    for match in PLACEHOLDER.finditer(template):
        name = find_placeholder(match)
        for part in (template[position : match.start()], "$" if name is None else value(name)):
            parts.append(part)
            length += len(part)
        if name is not None:
            ends[name] = length
        position = match.end()
    return "".join([*parts, template[position:]]), ends


@cache
def text(name: str) -> str:
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8").strip()


@cache
def template(kind: str, key: str) -> str:
    """Concord's own template for a criterion, by its key."""
    known = {file.stem for file in (FOLDER / kind).glob("*.txt")}
    return text(f"{kind}/{key if key in known else FALLBACK}")


def digest(*texts: str) -> str:
    """Twelve digits of a hash over texts."""
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:12]


@cache
def version(kind: str, template: str = "", system: str | None = None) -> str:
    """Twelve digits for all that prompts for this kind are made of."""
    own = [text(f"{kind}/{file.stem}") for file in sorted((FOLDER / kind).glob("*.txt"))]
    return digest(system_text(system), text("answer"), *([template] if template else own))


def system_text(system: str | None) -> str:
    """The instruction before the prompt: Concord's own unless another one, perhaps none, is given."""
    return text("system") if system is None else system
