"""What each prompt is told of person, task and dialogue: as PersonaLens has it, and here (pure).

`PUBLISHED` is the paper's table, role by role (arXiv 2506.09902, with its authors' code); `HERE` differs from it where
`HERE` says so. A test renders every prompt and holds it to this list; the table in `docs/simulation.md` is made of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class UserKnowledge:
    """The parts that a prompt holds.

    Preferences are those that the task names (`named`), all of the task's domains (`task`), or those of other domains
    too (`all`); past interactions likewise. A prompt about one domain has that domain for its task.
    """

    intent: bool = False
    description: bool = False
    goal: bool = False
    demographics: bool = False
    preferences: str = ""
    interactions: str = ""
    situation: bool = False
    dialogue: bool = False
    types: bool = False

    def list_parts(self) -> str:
        """The parts in words; `nothing` without any."""
        held = [(name, getattr(self, field)) for field, name in NAMES.items()]
        words = [f"{name} ({scope})" if isinstance(scope, str) else name for name, scope in held if scope]
        return ", ".join(words) or "nothing"


NAMES = {
    "intent": "intent",
    "description": "task description",
    "goal": "goal",
    "demographics": "demographics",
    "preferences": "preferences",
    "interactions": "past interactions",
    "situation": "situation",
    "dialogue": "dialogue",
    "types": "list of preference types",
}
USER = UserKnowledge(intent=True, demographics=True, preferences="task", interactions="task", situation=True)
TALK = UserKnowledge(dialogue=True)

PUBLISHED: Mapping[str, UserKnowledge] = {
    "mask": UserKnowledge(demographics=True),
    "preferences": UserKnowledge(demographics=True, types=True),
    "interactions": UserKnowledge(demographics=True, preferences="task"),
    "tasks": UserKnowledge(types=True),
    "tasks_multi": UserKnowledge(types=True),
    "situation": UserKnowledge(description=True, demographics=True, preferences="task"),
    "conflicts": UserKnowledge(demographics=True, preferences="all"),
    "user_opening": USER,
    "user_later": replace(USER, dialogue=True),
    "vanilla": TALK,
    "base": TALK,
    "base+D": replace(TALK, demographics=True),
    "base+I": replace(TALK, interactions="task"),
    "base+S": replace(TALK, situation=True),
    "base+all": replace(TALK, demographics=True, interactions="task", situation=True),
    "task_completion": replace(TALK, goal=True),
    "personalization": replace(USER, dialogue=True),
    "naturalness_user": TALK,
    "naturalness_assistant": TALK,
    "coherence_user": TALK,
    "coherence_assistant": TALK,
    "first_turn_preference": replace(TALK, intent=True, preferences="task"),
}

VARIANT = UserKnowledge(intent=True, goal=True, demographics=True, preferences="named", situation=True)
PERSON = UserKnowledge(demographics=True, preferences="task", interactions="task", situation=True, dialogue=True)

HERE: Mapping[str, UserKnowledge] = {
    **PUBLISHED,
    "preferences": UserKnowledge(demographics=True, types=True, preferences="all"),
    "coherence_user": replace(PERSON, description=True, goal=True),
    "user_opening/task_preferences": VARIANT,
    "user_later/task_preferences": replace(VARIANT, dialogue=True),
    "none": TALK,
    "base+I-retrieved": replace(TALK, interactions="all"),
    "persona_drift": PERSON,
    "goal_leakage": replace(TALK, intent=True, goal=True),
}
"""Preferences are made to go with those of other domains; coherence is asked with the goal and profile it speaks of."""


def select_knowledge(placeholders: Collection[str], *, dialogue: bool) -> UserKnowledge:
    """What the user agent is told by a text with these placeholders."""
    scopes = {"task_preferences": "named", "preferences": "task"}
    preferences = [scope for name, scope in scopes.items() if name in placeholders]
    return UserKnowledge(
        intent="intent" in placeholders,
        goal="goal" in placeholders,
        demographics="demographics" in placeholders,
        preferences=preferences[-1] if preferences else "",
        interactions="task" if "interactions" in placeholders else "",
        situation="situation" in placeholders,
        dialogue=dialogue,
    )
