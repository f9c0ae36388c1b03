"""A write that is sent twice under one key is done once.

The row of the key, what is written and the answer are one transaction. A second sender of the same key waits for the
first at the unique constraint (on SQLite at the lock of the database), and then gets the first one's answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from core.accounts.models.tokens import IdempotentWrite
from core.accounts.models.users import User
from core.audit.log import audit_batch
from core.errors import InputError

KEPT = timedelta(days=1)
LONGEST_KEY = 100


class OtherRequestError(InputError):
    """The key was used for another request."""

    status = 422


@dataclass(frozen=True)
class StoredResponse:
    """What a write answered: status, content as JSON types, type. `again`: it was done before, not now."""

    status: int
    content: object
    content_type: str = ""
    again: bool = False


def check_key(key: str) -> None:
    if not 1 <= len(key) <= LONGEST_KEY or not key.isascii() or not key.isprintable():
        raise InputError(
            "A key has 1 to {longest_key} printable ASCII characters.", field="Idempotency-Key", longest_key=LONGEST_KEY
        )


def has_response(*, by: User, key: str) -> bool:
    """Whether a write was done under this key."""
    return IdempotentWrite.objects.filter(user=by, key=key).exists()


def run_once(*, by: User, key: str, request_hash: str, act: Callable[[], StoredResponse]) -> StoredResponse:
    """Do it and keep the answer; give the kept answer if it was done. What raises is undone and leaves no trace."""
    with audit_batch():
        forget_old(by)
        row = claim_key(by, key, request_hash)
        if row is None:
            return load_stored_response(by, key, request_hash)
        answer = act()
        row.status, row.answer, row.content_type = answer.status, answer.content, answer.content_type
        row.save(update_fields=["status", "answer", "content_type"])
    return answer


def forget_old(by: User) -> None:
    IdempotentWrite.objects.filter(user=by, created_at__lt=timezone.now() - KEPT).delete()


def claim_key(by: User, key: str, request_hash: str) -> IdempotentWrite | None:
    try:
        with transaction.atomic():
            return IdempotentWrite.objects.create(user=by, key=key, request_hash=request_hash)
    except IntegrityError:
        return None


def load_stored_response(by: User, key: str, request_hash: str) -> StoredResponse:
    row = IdempotentWrite.objects.get(user=by, key=key)
    if row.request_hash != request_hash:
        raise OtherRequestError("This key was used for another request. Send a new key.", field="Idempotency-Key")
    return StoredResponse(row.status, row.answer, row.content_type, again=True)
