"""Who talks, about what, where: what prompts are made from, as plain data (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Side = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class SpokenTurn:
    """A turn of a conversation."""

    side: Side
    text: str


@dataclass(frozen=True, slots=True)
class Scene:
    """A person with a task in a situation.

    `preferences` and `interactions` are by domain; `domains` and `preference_types` are those that the task names, none
    where it names none. `alternatives` are the values that a preference could have, by domain and type.
    """

    demographics: Mapping[str, object] = field(default_factory=dict)
    preferences: Mapping[str, object] = field(default_factory=dict)
    interactions: Mapping[str, object] = field(default_factory=dict)
    situation: Mapping[str, object] = field(default_factory=dict)
    task: str = ""
    intent: str = ""
    goal: str = ""
    domains: tuple[str, ...] = ()
    preference_types: tuple[str, ...] = ()
    alternatives: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)

    @property
    def relevant_preferences(self) -> dict[str, object]:
        """The preferences that the task asks for, by domain: of its domains, those of the types that it names.

        A domain that has none of the named types is there with all of its own, and where no domain of the task is
        known, all are.
        """
        return {domain: self.select_types(found) for domain, found in self.domain_preferences.items()}

    @property
    def domain_preferences(self) -> dict[str, object]:
        """All preferences of the task's domains, by domain; of every domain where none of the task's is known."""
        here = {domain: self.preferences[domain] for domain in self.domains if domain in self.preferences}
        return here or dict(self.preferences)

    def select_types(self, found: object) -> object:
        if not isinstance(found, Mapping):
            return found
        named = {name: value for name, value in found.items() if name in self.preference_types}
        return named or dict(found)

    @property
    def relevant_interactions(self) -> dict[str, object]:
        """The summaries of the task's domains; none of others, since those are not about it."""
        return {domain: self.interactions[domain] for domain in self.domains if domain in self.interactions}


@dataclass(frozen=True, slots=True)
class Message:
    """What is sent to a model, in its own words for the sides."""

    role: Literal["user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Cue:
    """All that a side gets to see before it speaks. `version` is a hash of the templates it was made from."""

    system: str
    messages: Sequence[Message]
    version: str

    @property
    def text(self) -> str:
        """All of it, for counting."""
        return "\n".join([self.system, *(message.content for message in self.messages)])
