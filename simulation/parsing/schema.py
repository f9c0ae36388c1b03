"""A file that says what preferences there may be, as PersonaLens publishes it (pure)."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError


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


SCHEMA = TypeAdapter(list[Domain])


class SchemaError(ValueError):
    """The file is no schema; says which field."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.field = field


def read(data: bytes) -> list[Domain]:
    """The domains of a schema file. SchemaError names the first field that is wrong, or what stands twice."""
    try:
        domains = SCHEMA.validate_json(data)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        raise SchemaError(problem["msg"], ".".join(str(part) for part in problem["loc"]) or "file") from error
    seen: set[tuple[str, str]] = set()
    for domain in domains:
        for affinity in domain.affinities:
            if (domain.domain, affinity.name) in seen:
                raise SchemaError(f"{domain.domain}: {affinity.name} stands there twice", "affinities")
            seen.add((domain.domain, affinity.name))
    return domains
