"""The user under another name, everywhere in what a judge is shown (pure)."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from judging.judges.providers.requests import Content, DialogueContent, PairContent, Person

GIVEN = ("Robin", "Sasha", "Noor", "Kim", "Amari", "Jules", "Ariel", "Toni", "Jordan", "Mika")
FAMILY = ("Larsen", "Okafor", "Moreno", "Tanaka", "Haddad", "Novak", "Singh", "Walker", "Costa", "Petrov")
"""Names that people of any gender have, and family names from many places."""

INTRODUCED = re.compile(r"\b(?:[Mm]y name is|[Cc]all me|[Nn]ame:)\s+([^\W\d_]+(?:[ -][A-Z][^\W\d_]+)?)")
NAME_FIELD = re.compile(r"(?:^|_|\s)name$", re.IGNORECASE)
SHORTEST = 2


def find_names(content: Content, known: Iterable[str] = ()) -> tuple[str, ...]:
    """The words of the user's name: those that are known, those in a field called name, those introduced in the text.

    A name that nobody tells is not guessed: a capitalised word may be a place, a book or another person.
    """
    texts = [*known]
    texts += [str(value) for key, value in content.person.demographics.items() if NAME_FIELD.search(key)]
    turns = content.turns if isinstance(content, DialogueContent) else ()
    by_the_user = [turn.content for turn in turns if turn.role == "user"]
    for text in (content.person.persona, *by_the_user):
        texts += INTRODUCED.findall(text)
    words = dict.fromkeys(word for text in texts for word in re.findall(r"[^\W\d_]+", text))
    return tuple(word for word in words if _cjk(word) or (len(word) >= SHORTEST and word != word.lower()))


def rename_user(content: Content, words: tuple[str, ...], rng: random.Random) -> Content:
    """Each of the words replaced wherever it stands by itself; the first by a given name, the others by family names.

    The new names occur nowhere in the item.
    """
    there = set(re.findall(r"[^\W\d_]+", " ".join(_texts(content))))
    given = [name for name in GIVEN if name not in there]
    family = [name for name in FAMILY if name not in there]
    rng.shuffle(given)
    rng.shuffle(family)
    new = dict(zip(words, [*given[:1], *family], strict=False))
    if not new:
        return content
    longest_first = sorted(new, key=len, reverse=True)
    found = re.compile("|".join(_alone(word) for word in longest_first))
    return _mapped(content, lambda text: found.sub(lambda match: new[match.group()], text))


def _alone(word: str) -> str:
    """The word by itself. Chinese and Japanese text has no spaces between words."""
    return re.escape(word) if _cjk(word) else rf"(?<!\w){re.escape(word)}(?!\w)"


def _cjk(word: str) -> bool:
    return any("\u3040" <= letter <= "\u9fff" for letter in word) and len(word) >= SHORTEST


def _mapped(content: Content, change: Callable[[str], str]) -> Content:
    """All text of the item, changed."""
    person = Person(
        persona=change(content.person.persona),
        demographics=_inside_fields(content.person.demographics, change),
        preferences=_inside_fields(content.person.preferences, change),
        interactions=_inside_fields(content.person.interactions, change),
        memories=[_inside(one, change) for one in content.person.memories],
    )
    if isinstance(content, PairContent):
        question, context = change(content.question), change(content.context)
        return replace(content.change_responses(change), person=person, question=question, context=context)
    return replace(
        content,
        person=person,
        turns=tuple(replace(turn, content=change(turn.content)) for turn in content.turns),
        goal=change(content.goal),
        task=change(content.task),
        intent=change(content.intent),
        situation=_inside_fields(content.situation, change),
    )


def _inside_fields(value: Mapping[str, object], change: Callable[[str], str]) -> dict[str, object]:
    """The same with every text in it changed; the names of fields stay."""
    return {key: _inside(part, change) for key, part in value.items()}


def _inside(value: object, change: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return _inside_fields(value, change)
    if isinstance(value, list | tuple):
        return [_inside(part, change) for part in value]
    return value


def _texts(content: Content) -> list[str]:
    found: list[str] = []

    def noted(text: str) -> str:
        found.append(text)
        return text

    _mapped(content, noted)
    return found
