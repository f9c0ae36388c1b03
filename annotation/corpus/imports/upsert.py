"""Records of one source into a table: new ones inserted, changed ones updated in place, the same left alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from django.utils import timezone

from annotation.corpus.models import Dialogue, ResponsePair, SourcedModel
from core.files.outcome import Outcome

Row = TypeVar("Row", bound=SourcedModel)


@dataclass(frozen=True)
class Plan:
    """What to do with some records, by their external ids."""

    new: frozenset[str]
    changed: frozenset[str]
    same: frozenset[str]


def compare(model: type[SourcedModel], source: str, hashes: Mapping[str, str]) -> Plan:
    """Tell new, changed and unchanged records apart by the hash of their content. One query."""
    rows = model._default_manager.filter(source=source, external_id__in=list(hashes))
    stored = dict(rows.values_list("external_id", "content_hash"))
    same = frozenset(name for name, digest in hashes.items() if stored.get(name) == digest)
    return Plan(
        new=frozenset(hashes.keys() - stored.keys()), changed=frozenset(hashes.keys() & stored.keys()) - same, same=same
    )


def save(model: type[Row], rows: Sequence[Row], *, kind: str, plan: Plan, outcome: Outcome) -> None:
    """Write rows of the plan's new and changed records, and count them as `kind`."""
    changed = [row.external_id for row in rows if row.external_id in plan.changed]
    outcome.add(kind, created=len(rows) - len(changed), updated=len(changed), unchanged=len(plan.same))
    if changed and issubclass(model, Dialogue | ResponsePair):
        items = model._default_manager.filter(source=rows[0].source, external_id__in=changed, items__isnull=False)
        outcome.changed_items += items.distinct().count()
    now = timezone.now()
    for row in rows:
        row.updated_at = now
    fixed = {"id", "source", "external_id", "created_at"}
    columns = [field.name for field in model._meta.concrete_fields if field.name not in fixed]
    model._default_manager.bulk_create(
        rows, update_conflicts=True, unique_fields=["source", "external_id"], update_fields=columns
    )
