"""The preference types of a source: imported, and looked up."""

from __future__ import annotations

from pathlib import Path

from django.db import transaction

from core.accounts.models.users import User
from core.audit.log import audited
from core.files.input_files import InputFile
from simulation.agents.parsing import schema
from simulation.experiments.models import PreferenceType

FIELDS = ["description", "is_categorical", "has_multiple_values", "possible_values"]


@audited("schema.import", says=("path", "source"))
def load(*, by: User | None, path: Path, source: str) -> dict[str, int]:  # noqa: ARG001
    """Import a schema file. Importing twice changes nothing: types are known by source, domain and name."""
    domains = schema.read_domains(InputFile.from_path(path))
    wanted = {
        (domain.domain, one.name): PreferenceType(
            source=source,
            domain=domain.domain,
            name=one.name,
            description=one.description,
            is_categorical=one.is_categorical,
            has_multiple_values=one.has_multiple_values,
            possible_values=one.possible_values,
        )
        for domain in domains
        for one in domain.affinities
    }
    with transaction.atomic():
        there = {(one.domain, one.name): one for one in PreferenceType.objects.filter(source=source)}
        new = [one for key, one in wanted.items() if key not in there]
        changed = [one for key, one in wanted.items() if key in there and differs(one, there[key])]
        for one in changed:
            one.pk = there[one.domain, one.name].pk
        PreferenceType.objects.bulk_create(new)
        PreferenceType.objects.bulk_update(changed, FIELDS)
    return {"created": len(new), "updated": len(changed), "unchanged": len(wanted) - len(new) - len(changed)}


def differs(a: PreferenceType, b: PreferenceType) -> bool:
    return any(getattr(a, field) != getattr(b, field) for field in FIELDS)
