"""What the user agent and the assistant are told before each turn (pure).

The words are Concord's own, in the files of `texts`; their rules are those of PersonaLens (arXiv 2506.09902): the user
agent speaks first and shortly, names no preference in its first message, has one to three sentences after that, stays
with its profile, and ends with a mark once the task is done. It thinks aloud, or keeps a list of what is open, or does
neither (`STRATEGIES`). The rules come first and the conversation last, so that a server can reuse what it has read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from judging.prompts.known import in_words, listed
from judging.prompts.templates import digest, filled, without
from simulation.prompts.conditions import CONDITIONS, DAMAGED, PUBLISHED, Condition, unknown
from simulation.prompts.history import damaged
from simulation.prompts.scene import Cue, Message, Said, Scene, Side

FOLDER = Path(__file__).resolve().parent / "texts"
MARK = "[END]"
"""What the user agent writes when it has what it wants."""

STRATEGIES = {
    "vanilla": "speaks at once",
    "chain_of_thought": "thinks before it speaks",
    "state_tracking": "keeps a list of what is open",
}
NOTHING_KNOWN = "(nothing is known)"
PARTS = ("demographics", "interactions", "retrieved", "situation")


def for_user(scene: Scene, said: Sequence[Said], *, strategy: str = "vanilla") -> Cue:
    """What the user agent sees before it speaks. Its own turns are the model's, those of the assistant the other's."""
    values = {
        "demographics": listed(scene.demographics) or NOTHING_KNOWN,
        "preferences": nested(scene.relevant_preferences) or NOTHING_KNOWN,
        "situation": listed(scene.situation) or NOTHING_KNOWN,
        "intent": scene.intent or scene.task,
        "goal": scene.goal or "the task is done",
        "mark": MARK,
        "strategy": text(f"strategies/{strategy}"),
    }
    words, _ = filled(text("user"), values.__getitem__)
    messages = [Message("user", text("opening"))]
    messages += [Message("assistant" if turn.side == "user" else "user", turn.text) for turn in said]
    return Cue(words.strip(), tuple(messages), version("user", strategy))


def for_assistant(scene: Scene, said: Sequence[Said], *, condition: Condition, retrieved: Sequence[str] = ()) -> Cue:
    """What the assistant sees before it speaks: the conversation, and what its condition grants.

    `retrieved` are the passages found for the user's last turn. A part of which nothing is known is left out.
    """
    messages = tuple(Message(turn.side, turn.text) for turn in said)
    if not condition.instruction:
        return Cue("", messages, version("assistant", condition.key))
    known = {
        "demographics": listed(scene.demographics),
        "interactions": listed(interactions_under(condition, scene)),
        "retrieved": "\n".join(f"- {passage}" for passage in retrieved),
        "situation": listed(scene.situation),
    }
    shown = {name: facts for name, facts in known.items() if facts and name in condition.parts}
    template = text(condition.instruction) + "\n\n"
    for name in PARTS:
        template = template if name in shown else without(template, name)
    words, _ = filled(template, {name: titled(name, facts) for name, facts in shown.items()}.__getitem__)
    return Cue(words.strip(), messages, version("assistant", condition.key))


def interactions_under(condition: Condition, scene: Scene) -> Mapping[str, Any]:
    """The summaries of the task's domains, as they are or damaged."""
    return damaged(scene, condition.damage, condition.step) if condition.damage else scene.relevant_interactions


def titled(name: str, facts: str) -> str:
    return filled(text(name), {"facts": facts}.__getitem__)[0]


def nested(by_domain: Mapping[str, Any]) -> str:
    """Preferences, a line for each type, under their domains."""
    lines = []
    for domain, found in by_domain.items():
        inner = found if isinstance(found, Mapping) else {}
        lines.append(f"{domain}: {'' if inner else in_words(found)}".strip())
        lines += [f"- {name}: {in_words(value)}" for name, value in inner.items() if value not in (None, "", [], {})]
    return "\n".join(lines)


@cache
def text(name: str) -> str:
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8").strip()


@cache
def version(side: Side, variant: str) -> str:
    """Twelve digits for the templates of a side. A condition's parts count only where it has them."""
    if side == "user":
        return digest(text("user"), text("opening"), text(f"strategies/{variant}"), MARK)
    condition = CONDITIONS[variant]
    parts = [text(name) for name in PARTS if name in condition.parts]
    damage = [f"{condition.damage} {condition.step}"] if condition.damage else []
    found_by = [condition.retriever] if condition.retriever else []
    if not condition.instruction:
        return digest("no instruction")
    return digest(text(condition.instruction), *parts, *damage, *found_by)


__all__ = [
    "CONDITIONS",
    "DAMAGED",
    "MARK",
    "PUBLISHED",
    "STRATEGIES",
    "Condition",
    "Cue",
    "Message",
    "Said",
    "Scene",
    "Side",
    "for_assistant",
    "for_user",
    "unknown",
    "version",
]
