"""What the user agent and the assistant are told before each turn (pure).

The words are Concord's own, in the files of `texts`; their rules are those of PersonaLens (arXiv 2506.09902): the user
agent speaks first and shortly, lists no preferences, has one to three sentences after that, stays with its profile, and
ends with a mark once the task is done. It thinks aloud, or keeps a list of what is open, or does neither
(`STRATEGIES`). What it is told, and which text an experiment may replace, is said in `roles`. The rules come first and
the conversation last, so that a server can reuse what it has read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.errors import gettext_noop
from judging.judges.prompts.known_facts import render_list, to_words
from judging.judges.prompts.templates import drop_placeholder, fill
from simulation.agents.prompts import roles
from simulation.agents.prompts.roles import (
    CONDITIONS,
    DAMAGED,
    FAITHFUL,
    MARK,
    PARTS,
    PUBLISHED,
    TASK_PREFERENCES,
    USER_INFORMATION,
    Condition,
    assistant_role,
    damage,
    text,
    unknown,
    version,
)
from simulation.agents.prompts.scene import Cue, Message, Scene, Side, SpokenTurn

STRATEGIES = {
    "vanilla": gettext_noop("speaks at once"),
    "chain_of_thought": gettext_noop("thinks before it speaks"),
    "state_tracking": gettext_noop("keeps a list of what is open"),
}
NOTHING_KNOWN = "(nothing is known)"
NONE_REPLACED: Mapping[str, str] = {}


def build_user_cue(
    scene: Scene,
    said: Sequence[SpokenTurn],
    *,
    strategy: str = "vanilla",
    information: str = FAITHFUL,
    replaced: Mapping[str, str] = NONE_REPLACED,
) -> Cue:
    """What the user agent sees before it speaks. Its own turns are the model's, those of the assistant the other's."""
    role = "user_later" if said else "user_opening"
    values = {
        "demographics": render_list(scene.demographics) or NOTHING_KNOWN,
        "preferences": render_nested(scene.domain_preferences) or NOTHING_KNOWN,
        "task_preferences": render_nested(scene.relevant_preferences) or NOTHING_KNOWN,
        "interactions": render_list(scene.relevant_interactions) or NOTHING_KNOWN,
        "situation": render_list(scene.situation) or NOTHING_KNOWN,
        "intent": scene.intent or scene.task,
        "goal": scene.goal or "the task is done",
        "mark": USER_INFORMATION[information].mark,
        "strategy": text(f"strategies/{strategy}"),
    }
    words, _ = fill(roles.find_text(role, information, replaced), values.__getitem__)
    messages = [Message("user", text("opening"))]
    messages += [Message("assistant" if turn.side == "user" else "user", turn.text) for turn in said]
    return Cue(words.strip(), tuple(messages), version(role, strategy, information, replaced))


def build_assistant_cue(
    scene: Scene,
    said: Sequence[SpokenTurn],
    *,
    condition: Condition,
    retrieved: Sequence[str] = (),
    replaced: Mapping[str, str] = NONE_REPLACED,
) -> Cue:
    """What the assistant sees before it speaks: the conversation, and what its condition grants.

    `retrieved` are the passages found for the user's last turn. A part of which nothing is known is left out.
    """
    role = assistant_role(condition.key)
    messages = tuple(Message(turn.side, turn.text) for turn in said)
    if not role:
        return Cue("", messages, version(role, condition.key))
    known = {
        "demographics": render_list(scene.demographics),
        "interactions": render_list(interactions_under(condition, scene)),
        "retrieved": "\n".join(f"- {passage}" for passage in retrieved),
        "situation": render_list(scene.situation),
    }
    shown = {name: render_titled(name, facts) for name, facts in known.items() if facts and name in condition.parts}
    template = roles.find_text(role, FAITHFUL, replaced) + "\n\n"
    for name in PARTS:
        template = template if name in shown else drop_placeholder(template, name)
    words, _ = fill(template, lambda name: shown.get(name, ""))
    return Cue(words.strip(), messages, version(role, condition.key, replaced=replaced))


def interactions_under(condition: Condition, scene: Scene) -> Mapping[str, object]:
    """The summaries of the task's domains, as they are or damaged."""
    return damage(scene, condition.damage, condition.step) if condition.damage else scene.relevant_interactions


def render_titled(name: str, facts: str) -> str:
    return fill(text(name), {"facts": facts}.__getitem__)[0]


def render_nested(by_domain: Mapping[str, object]) -> str:
    """Preferences, a line for each type, under their domains."""
    lines = []
    for domain, found in by_domain.items():
        inner = found if isinstance(found, Mapping) else {}
        lines.append(f"{domain}: {'' if inner else to_words(found)}".strip())
        lines += [f"- {name}: {to_words(value)}" for name, value in inner.items() if value not in (None, "", [], {})]
    return "\n".join(lines)


__all__ = [
    "CONDITIONS",
    "DAMAGED",
    "FAITHFUL",
    "MARK",
    "PUBLISHED",
    "STRATEGIES",
    "TASK_PREFERENCES",
    "USER_INFORMATION",
    "Condition",
    "Cue",
    "Message",
    "Scene",
    "Side",
    "SpokenTurn",
    "assistant_role",
    "build_assistant_cue",
    "build_user_cue",
    "text",
    "unknown",
    "version",
]
