"""What the API answers of material."""

from __future__ import annotations

from typing import Any, TypedDict


class Conflict(TypedDict):
    """What a model found to be in conflict, and what a person decided last."""

    id: int
    profile: int
    label: str
    explanation: str
    fields: Any
    is_between_domains: bool
    reviews: list[Review]


class Review(TypedDict):
    """Review."""

    decision: str
    note: str
    decided_by: str | None
    decided_at: str


class Making(TypedDict):
    """An order of material, with every reply and the field that did not fit."""

    id: int
    project: str
    kind: str
    agent: str
    asked: Any
    state: str
    replies: Any
    problem: str
    made: Any
    created_at: str
    finished_at: str | None


class Dialogue(TypedDict):
    """A dialogue, and the ids of the profile and task that it is about."""

    id: int
    source: str
    external_id: str
    content_hash: str
    extra: Any
    created_at: str
    updated_at: str
    turns: Any
    assistant_model: str
    condition: str
    profile: int | None
    task: int | None
    situation: Any


class Stock(TypedDict):
    """How many records of one kind there are."""

    kind: str
    total: int
    by_source: dict[str, int]


class Pair(TypedDict):
    """Pair."""

    id: int
    source: str
    external_id: str
    content_hash: str
    extra: Any
    created_at: str
    updated_at: str
    profile: int | None
    question: str
    context: str
    response_1: str
    response_2: str
    model_1: str
    model_2: str
    kind: str
    source_tier: str
    source_label: str


class Profile(TypedDict):
    """Profile."""

    id: int
    source: str
    external_id: str
    content_hash: str
    extra: Any
    created_at: str
    updated_at: str
    name: str
    persona: str
    demographics: Any
    preferences: Any
    interests: Any
    interactions: Any
    memories: Any


class Found(TypedDict):
    """What was found of one kind, at most 20; `more` says that there is more."""

    title: str
    names: list[str]
    addresses: list[str | None]
    more: bool


class Task(TypedDict):
    """Task."""

    id: int
    source: str
    external_id: str
    content_hash: str
    extra: Any
    created_at: str
    updated_at: str
    description: str
    intent: str
    goal: str
    domains: Any
    preference_types: Any
    is_multi_domain: bool


class Format(TypedDict):
    """A file that can be brought in, and what must be told besides."""

    key: str
    title: str
    about: str
    example: str
    fields_needed: list[str]
