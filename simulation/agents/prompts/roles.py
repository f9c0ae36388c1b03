"""The roles of a dialogue, the texts that tell them what to do, and what may stand in one of a researcher's own (pure).

A role's text is Concord's own, in the files of `texts`, unless an experiment replaces it. What the user agent is told
depends on the experiment's user information (`USER_INFORMATION`): that of PersonaLens (arXiv 2506.09902), or the
preferences that the task names together with the goal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from judging.judges.prompts.templates import digest, misfits, names
from simulation.agents.prompts.conditions import CONDITIONS

FOLDER = Path(__file__).resolve().parent / "texts"
FAITHFUL, TASK_PREFERENCES = "faithful", "task_preferences"
MARK = "[END]"
"""What Concord's own user agent ends a dialogue with; that of PersonaLens has its own mark."""

PARTS = ("demographics", "interactions", "retrieved", "situation")
"""What a condition may tell the assistant. A part of which nothing is known is left out with its paragraph."""


@dataclass(frozen=True, slots=True)
class UserInformation:
    """What the user agent is told, and with which mark it ends a dialogue. `opening` and `later` name texts."""

    name: str
    mark: str
    opening: str
    later: str


USER_INFORMATION = {
    FAITHFUL: UserInformation(
        "as PersonaLens: all preferences and past interactions of the task's domains, and no goal",
        "TERMINATE",
        "user/faithful_opening",
        "user/faithful_later",
    ),
    TASK_PREFERENCES: UserInformation(
        "the preferences that the task names, and the goal; no past interactions",
        MARK,
        "user/task_preferences",
        "user/task_preferences",
    ),
}

OF_THE_USER = {
    "demographics": "age, place and the like",
    "preferences": "all preferences of the task's domains",
    "task_preferences": "of these, the ones that the task names",
    "interactions": "summaries of past interactions in the task's domains",
    "situation": "time, place and the like",
    "intent": "what the user asks for",
    "goal": "when the task is done",
    "mark": "what ends the dialogue",
    "strategy": "how the user agent is to think",
}
OF_THE_ASSISTANT = {
    "demographics": "who the user is, under +D",
    "interactions": "summaries of past interactions in the task's domains, under +I",
    "retrieved": "passages of these that fit what the user said last",
    "situation": "time, place and the like, under +S",
}


@dataclass(frozen=True, slots=True)
class Role:
    """Who is told something: in words, and the placeholders that its text may hold and must hold."""

    name: str
    placeholders: Mapping[str, str]
    needed: Mapping[str, str]


NO_INTENT = "the user agent would not know what it wants"
ROLES = {
    "user_opening": Role("User agent, first turn", OF_THE_USER, {"intent": NO_INTENT}),
    "user_later": Role(
        "User agent, later turns",
        OF_THE_USER,
        {"intent": NO_INTENT, "mark": "no dialogue would end before the limit"},
    ),
    "assistant": Role("Assistant under base and its variants", OF_THE_ASSISTANT, {}),
    "vanilla": Role("Assistant under vanilla", {}, {}),
}


@cache
def text(name: str) -> str:
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8").strip()


def load_own_text(role: str, information: str) -> str:
    """Concord's own words for a role."""
    user = USER_INFORMATION[information]
    return text({"user_opening": user.opening, "user_later": user.later}.get(role, role))


def find_text(role: str, information: str, replaced: Mapping[str, str]) -> str:
    """The text of a role: the one that replaces Concord's own, if there is one."""
    return replaced.get(role) or load_own_text(role, information)


def problems(replaced: Mapping[str, str], conditions: Iterable[str]) -> list[str]:
    """Why these texts cannot be used under these conditions, in sentences; nothing if they can."""
    if unknown := [role for role in replaced if role not in ROLES]:
        return [f"{unknown[0]!r} is no role; there are {', '.join(ROLES)}."]
    needed = {role: dict(ROLES[role].needed) for role in replaced}
    for key in conditions if "assistant" in replaced else ():
        lost = f"the condition {key} would tell nothing of it"
        needed["assistant"] |= {part: lost for part in PARTS if part in CONDITIONS[key].parts}
    return [
        f"{ROLES[role].name}: {problem}"
        for role, template in replaced.items()
        for problem in misfits(template, ROLES[role].placeholders, needed[role], "this role")
    ]


def version(role: str, variant: str, information: str = FAITHFUL, replaced: Mapping[str, str] | None = None) -> str:
    """Twelve digits for all that a role's prompt is made of. `variant`: the strategy, or the assistant's condition.

    A condition's parts count only where it has them.
    """
    if not role:
        return digest("no instruction")
    words = find_text(role, information, replaced or {})
    if role.startswith("user"):
        return digest(words, text("opening"), text(f"strategies/{variant}"), USER_INFORMATION[information].mark)
    condition = CONDITIONS[variant]
    parts = [text(name) for name in PARTS if name in condition.parts]
    damage = [f"{condition.damage} {condition.step}"] if condition.damage else []
    found_by = [condition.retriever] if condition.retriever else []
    return digest(words, *parts, *damage, *found_by)


def assistant_role(condition: str) -> str:
    """Which text instructs the assistant under a condition; empty where none does."""
    return CONDITIONS[condition].instruction


def list_placeholders(role: str, information: str, replaced: Mapping[str, str]) -> list[str]:
    return names(find_text(role, information, replaced))
