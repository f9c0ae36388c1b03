"""The preference types of a source, in a file as PersonaLens publishes it: read and imported."""

from __future__ import annotations

from pathlib import Path

from django.db import transaction
from pydantic import BaseModel, ConfigDict, Field

from core.accounts.models.users import User
from core.audit.log import audited
from core.files.input_files import InputFile, check_value, locate_error, parse_document, read_document
from simulation.experiments.models import PreferenceType


class Affinity(BaseModel):
    """A preference type."""

    model_config = ConfigDict(extra="ignore")

    name: str = Field(min_length=1, max_length=200)
    description: str = ""
    is_categorical: bool = True
    has_multiple_values: bool = False
    possible_values: list[str] = Field(default_factory=list)


class Domain(BaseModel):
    """A domain with its preference types."""

    model_config = ConfigDict(extra="ignore")

    domain: str = Field(min_length=1, max_length=100)
    description: str = ""
    affinities: list[Affinity] = Field(default_factory=list)


def read_domains(file: InputFile) -> list[Domain]:
    """The domains of a schema file. InputError names line and field of the first that is wrong, or stands twice."""
    data = read_document(file)
    document = parse_document(file, data)
    if not isinstance(document, list):
        raise file.error("a JSON list of domains is expected", line=1)
    domains = [check_value(file, data, [place], one, Domain) for place, one in enumerate(document)]
    seen: set[tuple[str, str]] = set()
    for place, domain in enumerate(domains):
        for number, affinity in enumerate(domain.affinities):
            if (domain.domain, affinity.name) in seen:
                path: list[str | int] = [place, "affinities", number, "name"]
                raise locate_error(file, data, path, f"{domain.domain}: {affinity.name} stands there twice", skip=1)
            seen.add((domain.domain, affinity.name))
    return domains


FIELDS = ["description", "is_categorical", "has_multiple_values", "possible_values"]


@audited("schema.import", says=("path", "source"))
def load(*, by: User | None, path: Path, source: str) -> dict[str, int]:  # noqa: ARG001
    """Import a schema file. Importing twice changes nothing: types are known by source, domain and name."""
    domains = read_domains(InputFile.from_path(path))
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
