"""What the API answers of accounts, projects, acts and webhooks."""

from __future__ import annotations

from typing import Any, TypedDict


class Act(TypedDict):
    """One act; people are accounts by number, and `digest` is over the act and the `digest` of the one before."""

    number: int
    at: str
    who: str | None
    who_id: int | None
    operator: str
    verb: str
    kind: str
    object_id: int | None
    name: str
    study_id: int | None
    project_id: int | None
    through: str
    request_id: str
    arguments: Any
    outcome: Any
    previous: str
    digest: str
    digest_key_id: str


class Me(TypedDict):
    """Me."""

    username: str
    is_researcher: bool
    scopes: list[str]


class Token(TypedDict):
    """A token, without what would let somebody use it."""

    id: int
    name: str
    hint: str
    scopes: list[str]
    state: str
    created_at: str
    expires_at: str | None
    last_used_at: str | None
    revoked_at: str | None


class Erasure(TypedDict):
    """What erasing an account means. Labels and decisions stay, under the number."""

    username: str
    number: str
    labels: int
    studies: list[str]
    refused: str


class Project(TypedDict):
    """People who work together, and see nothing of what others do."""

    id: int
    name: str
    slug: str
    n_members: int
    n_owners: int
    is_chosen: bool
    created_at: str


class Member(TypedDict):
    """What one account may do in a project."""

    user: str
    role: str
    created_at: str


class ModelKey(TypedDict):
    """That a project has a key for an address."""

    id: int
    address: str
    note: str
    is_readable: bool
    created_by: str | None
    created_at: str


class Webhook(TypedDict):
    """Webhook."""

    id: int
    project: str
    url: str
    events: list[str]
    created_by: str
    created_at: str
    ended_at: str | None


class MadeWebhook(TypedDict):
    """With the secret that signs its messages, which is shown now."""

    id: int
    project: str
    url: str
    events: list[str]
    created_by: str
    created_at: str
    ended_at: str | None
    secret: str


class Delivery(TypedDict):
    """A message to a webhook, and what became of it."""

    id: int
    event: str
    subject: str
    body: str
    created_at: str
    due_at: str | None
    attempts: int
    delivered_at: str | None
    status: int | None
    error: str
