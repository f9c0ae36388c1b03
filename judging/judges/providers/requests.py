"""What a provider of judges is asked: one criterion of one item, with what is shown of it.

Responses are called A, B, … here, in the order in which they are shown. Which of them is response 1 is settled by the
caller, so a provider cannot tell and cannot lean on it: `to_shown_criterion` and `to_stored_value` alone translate.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from annotation.stats.orders import LETTERS, TIE, list_shown, name_responses, to_response
from core.jobs.backoff import PermanentError

CHOICE = "choice"


@dataclass(frozen=True, slots=True)
class Category:
    value: str
    label: str
    guideline: str = ""


@dataclass(frozen=True, slots=True)
class CriterionSpec:
    """What is asked, with its scale in order. For a preference the values are A, B and perhaps tie.

    `type` and `limits` are those of the criterion: a choice, a number, several categories, a ranking, spans, a text.
    """

    key: str
    name: str
    question: str
    guideline: str
    level: str
    categories: tuple[Category, ...]
    type: str = CHOICE
    limits: Mapping[str, object] = field(default_factory=dict)

    @property
    def is_choice(self) -> bool:
        """Whether one of the categories is the answer; anything else is read by `judging.judges.answer_parsing`."""
        return self.type == CHOICE

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(category.value for category in self.categories)


@dataclass(frozen=True, slots=True)
class Person:
    """What a judge may know of the user: the parts that the study shows to its annotators, the others empty."""

    persona: str = ""
    demographics: Mapping[str, object] = field(default_factory=dict)
    preferences: Mapping[str, object] = field(default_factory=dict)
    interactions: Mapping[str, object] = field(default_factory=dict)
    memories: Sequence[object] = ()


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of the item. `name` says where in it; `path` is where its bytes lie."""

    sha256: str
    type: str
    path: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    role: str
    content: str
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True, slots=True)
class DialogueContent:
    """A conversation. `task` is what the user set out to do, `intent` how they ask for it, `goal` when it is done.

    `domains` and `preference_types` say which of the preferences matter for the task. With `turn`, counted from 1, that
    turn alone is rated, and nothing after it is shown.
    """

    turns: tuple[Turn, ...]
    person: Person = Person()
    goal: str = ""
    task: str = ""
    intent: str = ""
    turn: int | None = None
    domains: tuple[str, ...] = ()
    preference_types: tuple[str, ...] = ()
    situation: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PairContent:
    """A question and its responses in the order shown: two, with `further` more, or the first alone."""

    question: str
    response_a: str
    response_b: str
    context: str = ""
    person: Person = Person()
    pictures: tuple[Picture, ...] = ()
    further: tuple[str, ...] = ()
    is_alone: bool = False

    @property
    def responses(self) -> dict[str, str]:
        """The texts by the letters that they are called by."""
        texts = (self.response_a,) if self.is_alone else (self.response_a, self.response_b, *self.further)
        return dict(zip(LETTERS, texts, strict=False))

    def change_responses(self, change: Callable[[str], str], only: str = "") -> PairContent:
        """The content with the response of a letter changed, or with all."""
        texts = [change(text) if only in ("", side) else text for side, text in self.responses.items()]
        first, *rest = texts if len(texts) > 1 else [*texts, self.response_b]
        return replace(self, response_a=first, response_b=rest[0], further=tuple(rest[1:]))


Content = DialogueContent | PairContent


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request put in words. `version` is a hash of the templates it was made from.

    The first `shared` characters of `user` are the item alone, the same whatever is asked of it: a server that keeps
    what it has read needs to read them once.
    """

    system: str
    user: str
    schema: Mapping[str, Any]
    version: str
    shared: int = 0
    pictures: tuple[Picture, ...] = ()

    @property
    def parts(self) -> tuple[str, str]:
        """The part of `user` that is shared, perhaps empty, and the rest."""
        return self.user[: self.shared], self.user[self.shared :]


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """One criterion of one item, asked for the `repeat`-th time. `item` is its id in the source.

    An item that is one of the judge's examples (`is_example`) is not asked about: its answer stands in the prompt.
    """

    item: str
    criterion: CriterionSpec
    content: Content
    repeat: int = 1
    order: str = ""
    seed: int = 0
    prompt: Prompt | None = None
    is_example: bool = False


def read_base64(picture: Picture) -> str:
    """The picture's bytes. PermanentError where the data folder has lost them."""
    try:
        return b64encode(Path(picture.path).read_bytes()).decode("ascii")
    except OSError as error:
        raise PermanentError(f"The picture {picture.name} cannot be read: {error.strerror}.") from error


def to_anthropic_pictures(pictures: Iterable[Picture]) -> list[dict[str, object]]:
    """Each picture behind a line that says which it is."""
    parts: list[dict[str, object]] = []
    for one in pictures:
        source = {"type": "base64", "media_type": one.type, "data": read_base64(one)}
        parts += [{"type": "text", "text": f"{one.name}:"}, {"type": "image", "source": source}]
    return parts


def to_openai_pictures(pictures: Iterable[Picture]) -> list[dict[str, object]]:
    """Each picture behind a line that says which it is."""
    parts: list[dict[str, object]] = []
    for one in pictures:
        url = {"url": f"data:{one.type};base64,{read_base64(one)}"}
        parts += [{"type": "text", "text": f"{one.name}:"}, {"type": "image_url", "image_url": url}]
    return parts


def is_preference(criterion: CriterionSpec) -> bool:
    """Whether the values name responses: "1", "2" and perhaps "tie"; or more numbers, which are no scale."""
    named = name_responses(criterion.values)
    return len(named) == 2 or bool(named and criterion.is_choice and criterion.level == "nominal")


def to_shown_criterion(criterion: CriterionSpec, order: str) -> CriterionSpec:
    """The criterion as it is asked in this order: a preference names the places, A first, as far as there are any."""
    if not order or not is_preference(criterion):
        return criterion
    there = list_shown(order)
    named = [
        Category(there[one.value], f"Response {there[one.value]}", one.guideline)
        for one in criterion.categories
        if one.value in there
    ]
    tie = [one for one in criterion.categories if one.value == TIE]
    return replace(criterion, categories=(*sorted(named, key=lambda one: one.value), *tie))


def to_stored_value(value: str, criterion: CriterionSpec, order: str) -> str:
    """What is stored for a value given on the scale that `to_shown_criterion` made of this criterion."""
    return to_response(value, order) if is_preference(criterion) else value
