"""What the API answers of one's own work."""

from __future__ import annotations

from typing import TypedDict

from concord_client.types.labels import Context, Turn


class MyStudy(TypedDict):
    """An open study that the account rates in."""

    study: str
    name: str
    instructions: str
    rated: int
    left: int


class Assignment(TypedDict):
    """An item in my work, as it is shown to me."""

    id: str
    study: str
    state: str
    leased_until: str | None
    turns: list[Turn] | None
    question: str | None
    question_context: str | None
    responses: dict[str, str] | None
    context: list[Context]
    criteria: list[AskedCriterion]
    asks: list[str]
    entered: dict[str, str]


class AskedCriterion(TypedDict):
    """A question with its answers: of a pair A, B and perhaps a tie, whichever response they are."""

    key: str
    name: str
    question: str
    guideline: str
    guideline_version: int
    categories: list[AskedCategory]


class AskedCategory(TypedDict):
    """A possible answer."""

    value: str
    label: str
    guideline: str


class Submitted(TypedDict):
    """Submitted."""

    id: str
    state: str


class Kept(TypedDict):
    """Kept."""

    content: dict[str, str]


class Freed(TypedDict):
    """Freed."""

    freed: bool
