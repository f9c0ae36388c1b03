"""What is known of a person, as text."""

from __future__ import annotations

from collections.abc import Mapping

from judging.judges.providers.requests import Person

TITLES = {
    "persona": "Who the user is:",
    "demographics": "Demographics:",
    "preferences": "Preferences:",
    "interactions": "Past interactions:",
    "memories": "Remembered:",
}


def to_text(person: Person) -> str:
    """All that is known, a paragraph under its title for each part; empty where nothing is."""
    parts = {
        "persona": person.persona.strip(),
        "demographics": render_list(person.demographics),
        "preferences": render_list(person.preferences),
        "interactions": render_list(person.interactions),
        "memories": "\n".join(f"- {to_words(memory)}" for memory in person.memories),
    }
    return "\n\n".join(f"{TITLES[name]}\n{text}" for name, text in parts.items() if text)


def render_list(entries: Mapping[str, object]) -> str:
    """A line for each entry that says something."""
    return "\n".join(
        f"- {name}: {to_words(value)}" for name, value in entries.items() if value not in (None, "", [], {})
    )


def to_words(value: object) -> str:
    """Nested data in one line."""
    if isinstance(value, Mapping):
        return "; ".join(f"{name} {to_words(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(to_words(part) for part in value)
    return str(value)
