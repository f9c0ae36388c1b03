"""What is known of the user and of the task, in words; of preferences and interactions, those that matter (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judging.judges.providers.persons import TITLES, render_list, to_words
from judging.judges.providers.requests import Content, DialogueContent

USER = TITLES
TASK = {"task": "What the user set out to do:", "goal": "It is done when:", "situation": "Situation:"}
"""Placeholders of what is known, and the titles that they get where several stand together."""


def list_known(content: Content) -> dict[str, str]:
    """The text of each thing that may be known, empty where it is not. A pair has no task."""
    domains = content.domains if isinstance(content, DialogueContent) else ()
    person = content.person
    known = {
        "persona": person.persona.strip(),
        "demographics": render_list(person.demographics),
        "preferences": render_list(relevant(person.preferences, domains)),
        "interactions": render_list(relevant(person.interactions, domains)),
        "memories": "\n".join(f"- {to_words(memory)}" for memory in person.memories),
    }
    if isinstance(content, DialogueContent):
        task, goal = content.task.strip(), content.goal.strip()
        known |= {"task": task, "goal": "" if goal == task else goal, "situation": render_list(content.situation)}
        known |= {"intent": content.intent.strip(), "about_goal": goal}
        known |= {f"about_{name}": known[name] for name in ("intent", "situation")}
    return known | {"about_preferences": known["preferences"]}


def join_paragraphs(known: Mapping[str, str], titles: Mapping[str, str]) -> str:
    """A paragraph under its title for each thing that is known."""
    return "\n\n".join(f"{title}\n{known[name]}" for name, title in titles.items() if known.get(name))


def relevant(by_domain: Mapping[str, object], domains: Sequence[str]) -> Mapping[str, object]:
    """The entries of the task's domains; all of them where no domain is known or none fits."""
    chosen = {domain: by_domain[domain] for domain in domains if domain in by_domain}
    return chosen or by_domain


__all__ = ["TASK", "USER", "join_paragraphs", "list_known", "relevant", "render_list", "to_words"]
