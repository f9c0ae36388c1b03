"""What an archive may hold: it comes from another site, and somebody may have made it by hand."""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import IO

from django.core.exceptions import ValidationError
from django.db.models import Field, JSONField, Model, SlugField
from pydantic import BaseModel, TypeAdapter, ValidationError as ShapeError

from annotation.corpus.parsing.records import Turn
from core.accounts.models.users import User
from core.errors import InputError
from core.files.input_files import DOCUMENT_LIMIT, MEGABYTE
from core.hashing import content_hash, digest
from judging.assessment.canonical_json import to_canonical_bytes
from judging.assessment.models.assessment import Certificate
from judging.assessment.models.rules import VerdictRules
from judging.assessment.services import rules

MANIFEST_LIMIT = 4 * MEGABYTE
SMALL = 64 * MEGABYTE
MOST_PACKED = 250
"""How many times its own size an archive may unpack to, if it is not small. Tables of real studies come to 10 to 40."""


class Category(BaseModel):
    value: str
    label: str


class Condition(BaseModel):
    criterion: str
    values: list[str]


class Example(BaseModel):
    good: bool
    text: str


class Span(BaseModel):
    part: str
    start: int
    end: int
    category: str
    text: str


class Given(BaseModel):
    text: str


class Mark(BaseModel):
    part: str
    start: int
    end: int
    text: str


SHAPES: dict[str, TypeAdapter[object]] = {
    "annotation.Dialogue.turns": TypeAdapter(list[Turn]),
    "annotation.Criterion.categories": TypeAdapter(list[Category]),
    "annotation.Criterion.condition": TypeAdapter(Condition),
    "annotation.Criterion.examples": TypeAdapter(list[Example]),
    "annotation.Criterion.limits": TypeAdapter(dict[str, object]),
    "annotation.Annotation.content": TypeAdapter(list[Span] | Given),
    "annotation.GuidelineVersion.categories": TypeAdapter(list[Category]),
    "annotation.Annotation.evidence": TypeAdapter(list[Mark]),
    "annotation.DemographicQuestion.options": TypeAdapter(list[str]),
    "annotation.Study.shown": TypeAdapter(list[str]),
    "annotation.Draft.content": TypeAdapter(dict[str, str]),
}
"""Of columns of JSON that pages walk through. Of others only whether they are a list or an object is looked at."""


def check_members(archive: zipfile.ZipFile, expected: set[str], path: Path) -> None:
    """Raise InputError unless the archive holds these files, each once, in a size that was not blown up."""
    names = Counter(one.filename for one in archive.infolist())
    name, n = max(names.items(), key=itemgetter(1))
    if n > 1:
        raise InputError("holds {name} twice", file=str(path), name=name)
    if others := names.keys() - expected:
        raise InputError("holds {others}, which is not part of a study's archive", file=str(path), others=min(others))
    unpacked, packed = sum(one.file_size for one in archive.infolist()), path.stat().st_size
    if unpacked > max(SMALL, MOST_PACKED * packed):
        sizes = f"{unpacked // MEGABYTE:,} MB from {packed / MEGABYTE:,.1f}"
        raise InputError("would unpack to {sizes}, which no study's archive does", file=str(path), sizes=sizes)


def read_lines(file: IO[bytes]) -> Iterator[bytes]:
    """The lines of a table. ValueError for one that is longer than any row."""
    while line := file.readline(DOCUMENT_LIMIT + 1):
        if len(line) > DOCUMENT_LIMIT:
            raise ValueError(f"a row has more than {DOCUMENT_LIMIT // MEGABYTE} MB")
        yield line


def check_row(row: Model) -> None:
    """Raise ValidationError for a value that the site itself would not have written. The database looks at links."""
    for field in list_checked_fields(type(row)):
        value = getattr(row, field.attname)
        if isinstance(field, JSONField):
            check_shape(field, value)
        elif value not in field.empty_values:
            field.validate(value, row)
            field.run_validators(value)
        elif isinstance(field, SlugField):
            raise ValidationError(f"{field.name} is empty")
    if isinstance(row, Certificate):
        check_certificate(row)
    if isinstance(row, VerdictRules):
        check_rules(row)


def check_certificate(row: Certificate) -> None:
    """Raise ValidationError where the hash is of something else: it is what the certificate is found by."""
    try:
        hashes = {digest(to_canonical_bytes(row.content)), content_hash(row.content)}  # the latter before signing
    except ValueError as error:
        raise ValidationError(f"content: {error}") from error
    if row.sha256 not in hashes:
        raise ValidationError("sha256 is not the seal of the content")


def check_rules(row: VerdictRules) -> None:
    """Raise ValidationError for rules that pages could not show."""
    try:
        rules.read_rules(row.rules), rules.read_success(row.success)
    except InputError as error:
        raise ValidationError(error.message) from error


@cache
def list_checked_fields(model: type[Model]) -> list[Field[object, object]]:
    """All that hold a value of their own. Raters who were imported have names that nobody may choose."""
    free = {"username", "password"} if model is User else set()
    found = model._meta.concrete_fields
    return [field for field in found if not field.is_relation and not field.primary_key and field.name not in free]


def check_shape(field: JSONField[object, object], value: object) -> None:
    if value is None and field.null:
        return
    default = field.get_default()
    if isinstance(default, list | dict) and not isinstance(value, type(default)):
        raise ValidationError(f"{field.name} is not {'a list' if isinstance(default, list) else 'an object'}")
    if shape := SHAPES.get(f"{field.model._meta.label}.{field.name}"):
        try:
            shape.validate_python(value, strict=True)
        except ShapeError as error:
            raise ValidationError(f"{field.name}: {error.errors()[0]['msg']}") from error
