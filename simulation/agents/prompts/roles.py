"""What the assistant is told of the user, the roles of a dialogue, and the texts that tell them what to do (pure).

The conditions are those of PersonaLens (arXiv 2506.09902): two lines of instruction (vanilla), a personal assistant
that knows nothing (base), and the same with demographics (D), summaries of past interactions (I), the situation (S), or
all three; and no instruction at all (none). `I retrieved` is the question that the paper leaves open: only the passages
of the summaries that fit what the user just said.

Some have a damaged history. Three kinds of damage, each in steps of a quarter, to the summaries of the task's domains:
sentences are dropped from the end (shortened), replaced from the end by sentences about other domains (irrelevant), or
the preferences that they name are replaced by others that the user does not have (contradicted). Nothing is drawn: a
step is always the same.

A role's text is Concord's own, in the files of `texts`, unless an experiment replaces it. What the user agent is told
depends on the experiment's user information (`USER_INFORMATION`): that of PersonaLens (arXiv 2506.09902), or the
preferences that the task names together with the goal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import cycle, islice
from pathlib import Path

from core.errors import gettext_noop
from judging.judges.prompts.templates import digest, misfits, names
from judging.stats.retrieval import SENTENCE
from simulation.agents.prompts.scene import Scene
from simulation.stats.utterances import UNTELLING, list_values

KINDS = {
    "shortened": gettext_noop("the last sentences dropped"),
    "irrelevant": gettext_noop("the last sentences about something else"),
    "contradicted": gettext_noop("preferences replaced by others"),
}
STEPS = (25, 50, 75, 100)
"""Percent of the sentences, or of the preferences named, that are damaged."""


def damage(scene: Scene, kind: str, step: int) -> dict[str, str]:
    """The summaries of the task's domains with `step` percent of them damaged."""
    found = {domain: str(summary) for domain, summary in scene.relevant_interactions.items()}
    if kind == "contradicted":
        return contradict(scene, found, step)
    others = [
        sentence
        for domain, summary in scene.interactions.items()
        if domain not in found
        for sentence in sentences(str(summary))
    ]
    return {
        domain: " ".join(replace_last(sentences(summary), step, others if kind == "irrelevant" else ()))
        for domain, summary in found.items()
    }


def sentences(text: str) -> list[str]:
    return [part for part in SENTENCE.split(" ".join(text.split())) if part]


def replace_last(kept: Sequence[str], step: int, others: Sequence[str]) -> list[str]:
    """Without the last `step` percent, which the others take the place of as far as there are any."""
    n = round(len(kept) * step / 100)
    return [*kept[: len(kept) - n], *islice(cycle(others), n if others else 0)]


def contradict(scene: Scene, summaries: Mapping[str, str], step: int) -> dict[str, str]:
    """With `step` percent of the preferences that the summaries name replaced by ones that the user does not hold."""
    swaps = [
        (value, other)
        for value, other in choose_swaps(scene)
        if any(has_value(text, value) for text in summaries.values())
    ]
    chosen = swaps[: round(len(swaps) * step / 100)]
    return {domain: swap(text, chosen) for domain, text in summaries.items()}


def choose_swaps(scene: Scene) -> Iterator[tuple[str, str]]:
    """Each preference of the task's domains with one that could stand in its place; none twice."""
    known: set[str] = set()
    for domain in scene.relevant_interactions:
        for name, value in to_mapping(scene.preferences.get(domain)).items():
            held = [one for one in list_values(value) if one.casefold() not in UNTELLING]
            possible = scene.alternatives.get(domain, {}).get(name, ())
            free = [one for one in possible if one.casefold() not in {own.casefold() for own in list_values(value)}]
            for one, other in zip(held, cycle(free) if free else (), strict=False):
                if one.casefold() not in known:
                    known.add(one.casefold())
                    yield one, other


def to_mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def has_value(text: str, value: str) -> bool:
    return pattern(value).search(text) is not None


def pattern(value: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(value)}(?!\w)", re.IGNORECASE)


def swap(text: str, swaps: Sequence[tuple[str, str]]) -> str:
    """All at once, so that what is put in is not replaced again."""
    if not swaps:
        return text
    others = {value.casefold(): other for value, other in swaps}
    either = "|".join(re.escape(value) for value in sorted(others, key=len, reverse=True))
    return re.sub(rf"(?<!\w)(?:{either})(?!\w)", lambda match: others[match[0].casefold()], text, flags=re.IGNORECASE)


BM25, EMBEDDINGS = "bm25", "embeddings"


@dataclass(frozen=True, slots=True)
class Condition:
    """What an assistant gets: the role whose text instructs it, perhaps none, and parts of what is known of the user.

    `damage` is a kind of `history.KINDS`, and `step` how many percent of the summaries it spoils.
    `retriever` finds the passages that are shown: BM25 or EMBEDDINGS.
    """

    key: str
    name: str
    instruction: str = "assistant"
    parts: frozenset[str] = frozenset()
    damage: str = ""
    step: int = 0
    retriever: str = ""


PUBLISHED = {
    condition.key: condition
    for condition in (
        Condition("vanilla", gettext_noop("vanilla: two lines of instruction"), instruction="vanilla"),
        Condition("base", gettext_noop("base: knows nothing of the user")),
        Condition("base+D", gettext_noop("base + demographics"), parts=frozenset({"demographics"})),
        Condition("base+I", gettext_noop("base + past interactions"), parts=frozenset({"interactions"})),
        Condition("base+S", gettext_noop("base + situation"), parts=frozenset({"situation"})),
        Condition(
            "base+all", gettext_noop("base + all three"), parts=frozenset({"demographics", "interactions", "situation"})
        ),
        Condition("none", gettext_noop("none: no instruction"), instruction=""),
        Condition(
            "base+I-retrieved",
            gettext_noop("base + past interactions found by BM25"),
            parts=frozenset({"retrieved"}),
            retriever=BM25,
        ),
        Condition(
            "base+I-embedded",
            gettext_noop("base + past interactions found by embeddings"),
            parts=frozenset({"retrieved"}),
            retriever=EMBEDDINGS,
        ),
    )
}
DAMAGED = {
    condition.key: condition
    for kind, says in KINDS.items()
    for step in STEPS
    for condition in [
        Condition(
            f"base+I-{kind}-{step}",
            f"base + past interactions, {step} % {kind}: {says}",
            parts=frozenset({"interactions"}),
            damage=kind,
            step=step,
        )
    ]
}
"""Of the experiment on the quality of the history. `base+I` is its step 0."""

CONDITIONS = {**PUBLISHED, **DAMAGED}


def unknown(keys: Iterable[str]) -> list[str]:
    """Those of the keys that name no condition."""
    return [key for key in keys if key not in CONDITIONS]


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
        gettext_noop("as PersonaLens: all preferences and past interactions of the task's domains, and no goal"),
        "TERMINATE",
        "user/faithful_opening",
        "user/faithful_later",
    ),
    TASK_PREFERENCES: UserInformation(
        gettext_noop("the preferences that the task names, and the goal; no past interactions"),
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
    "user_opening": Role(gettext_noop("User agent, first turn"), OF_THE_USER, {"intent": NO_INTENT}),
    "user_later": Role(
        gettext_noop("User agent, later turns"),
        OF_THE_USER,
        {"intent": NO_INTENT, "mark": "no dialogue would end before the limit"},
    ),
    "assistant": Role(gettext_noop("Assistant under base and its variants"), OF_THE_ASSISTANT, {}),
    "vanilla": Role(gettext_noop("Assistant under vanilla"), {}, {}),
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
        return [f"{unknown[0]!r} is not a role; there are {', '.join(ROLES)}."]
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
