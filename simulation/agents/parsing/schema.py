"""A file that says what preferences there may be, as PersonaLens publishes it (pure)."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from core.files.input_files import InputFile, check_value, locate_error, parse_document, read_document


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
