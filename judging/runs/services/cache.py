"""Answers that are known already: a request equal in all that can alter its reply is not asked twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields, replace
from typing import Any

from core.batches import iterate_batches
from core.hashing import content_hash
from judging.judges.models import CachedReply, Judge
from judging.judges.providers.base import Provider, Reply, Usage
from judging.runs.queries.requests import Pending

AT_ONCE = 500


def build_key(judge: Judge, seed: int, provider: Provider, pending: Pending) -> str:
    """The hash of what the reply depends on; empty for rules, which answer again at no cost.

    Repeat and the run's `seed` are part of it: who wants independent answers asks for repeats, or with another seed.
    """
    if not provider.is_asked:
        return ""
    asked = pending.request
    identity = provider.identity(replace(asked, seed=seed))
    return content_hash([judge.provider, identity, asked.order, asked.repeat, seed])


def load_known(keys: Iterable[str]) -> dict[str, Reply]:
    """The replies kept under these keys."""
    found: dict[str, Reply] = {}
    for part in iterate_batches(filter(None, keys), AT_ONCE):
        rows = CachedReply.objects.filter(key__in=part).values_list("key", "reply")
        found |= {key: build_reply(reply) for key, reply in rows}
    return found


def row(judge: Judge, key: str, reply: Reply) -> CachedReply:
    """A row that keeps the reply."""
    return CachedReply(key=key, provider=judge.provider, model=judge.model, reply=storable(asdict(reply)))


def keep(rows: Iterable[CachedReply], *, anew: bool) -> None:
    """Write rows. `anew` replaces what is there under the same key: who looked found no verdict in it."""
    if anew:
        CachedReply.objects.bulk_create(
            rows, update_conflicts=True, unique_fields=["key"], update_fields=["reply", "created_at"]
        )
    else:
        CachedReply.objects.bulk_create(rows, ignore_conflicts=True)


def build_reply(kept: Mapping[str, Any]) -> Reply:
    """The reply as it came. What a later version no longer knows is left out."""
    names = {field.name for field in fields(Reply)}
    given = {name: value for name, value in kept.items() if name in names}
    given["usage"] = Usage(**given["usage"]) if given.get("usage") else None
    return Reply(**given)


def storable(value: object) -> object:
    """The same without what a database cannot hold: NUL, and halves of characters."""
    if isinstance(value, str):
        return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, Mapping):
        return {str(name): storable(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [storable(part) for part in value]
    return value
