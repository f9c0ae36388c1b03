"""A mapping: which column of a table is which field of a record, and how the table is read and drawn from.

It is written as JSON and read as JSON or TOML:

    {"kind": "pairs", "columns": {"question": "prompt.text", "response_1": "answer a", "response_2": "answer b"}}

A file of a known format needs no columns: `{"format": "sharegpt"}`.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Collection, Mapping
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from annotation.corpus.parsing.drawing_rules import DrawingRules
from annotation.corpus.parsing.mapped_fields import KINDS, RATINGS, MappedKind
from core.errors import InputError
from core.files.input_files import find_first_problem
from core.files.json_text import parse_json
from core.files.tables.layout import ENCODINGS, SEPARATORS, Layout

LIKE = 70.0
"""From this similarity on (percent) another column is proposed for one that is not there."""


class Reading(BaseModel):
    """How the file is read, where that is not to be found out."""

    model_config = ConfigDict(extra="forbid")

    encoding: str = ""
    separator: str = ""
    sheet: str = ""
    at: str = ""

    @model_validator(mode="after")
    def check_choices(self) -> Self:
        if self.encoding and self.encoding not in ENCODINGS:
            raise ValueError(f"no encoding is called {self.encoding!r}; there are {', '.join(ENCODINGS)}")
        if self.separator and self.separator not in SEPARATORS:
            raise ValueError(f"{self.separator!r} is not a separator; there are {', '.join(SEPARATORS.values())}")
        return self

    def to_layout(self) -> Layout:
        return Layout(encoding=self.encoding, separator=self.separator, sheet=self.sheet, at=self.at)


class ColumnMapping(BaseModel):
    """What the rows of a table become.

    Attributes
    ----------
    kind
        A key of KINDS; empty with a format.
    format
        A chat or trace format by name; it says itself what its rows become.
    columns
        Field of the kind -> column: its name, or a dotted path into a nested one.
    constants
        Field -> the value that all rows have.
    raters
        Of people's labels in a wide table: the columns that hold one rater's values each, called like the rater.
    keeps_others
        Whether columns that are not mapped are kept with the record.
    """

    model_config = ConfigDict(extra="forbid")

    kind: str = ""
    format: str = ""
    columns: dict[str, str] = {}
    constants: dict[str, str] = {}
    raters: list[str] = []
    keeps_others: bool = True
    read: Reading = Reading()
    draw: DrawingRules | None = None

    @property
    def of_kind(self) -> MappedKind:
        return KINDS[self.kind]

    def to_document(self) -> dict[str, object]:
        """As JSON types, without what is left at its default."""
        return self.model_dump(exclude_defaults=True)

    def to_text(self) -> str:
        """The mapping as a file."""
        return json.dumps(self.to_document(), ensure_ascii=False, indent=2) + "\n"

    def check(self) -> Self:
        """Return the mapping, if it can be used. InputError says which entry cannot."""
        if bool(self.kind) == bool(self.format):
            raise InputError("names either a kind of record or a format", field="kind")
        if self.format:
            if self.columns or self.constants or self.raters:
                raise InputError("a format says itself which column is which; leave them out", field="columns")
            return self
        if self.kind not in KINDS:
            raise InputError("{kind!r} is none of {kinds}", field="kind", kind=self.kind, kinds=", ".join(KINDS))
        refuse_second_use(self.named_columns)
        for field in (*self.columns, *self.constants):
            self.of_kind.field(field)
        for field in self.constants:
            if field in self.columns:
                raise InputError("has a column and a value for all rows; give one of them", field=f"constants.{field}")
            if not self.of_kind.field(field).may_be_constant:
                raise InputError("is of each row; choose a column for it", field=f"constants.{field}")
        if self.raters:
            self.check_raters()
        self.check_needed()
        return self

    @property
    def named_columns(self) -> dict[str, str]:
        """Entry of the mapping, without `columns.` -> the column that it names."""
        return {**self.columns, **{f"raters.{place}": column for place, column in enumerate(self.raters)}}

    def check_raters(self) -> None:
        """Refuse a wide table that is none: it has a column for each rater, and none of raters or values."""
        if self.kind != RATINGS.key:
            raise InputError("only people's labels can have a column for each rater", field="raters")
        for field in ("rater", "value"):
            if field in self.columns or field in self.constants:
                raise InputError("each rater has a column of values; leave {name} out", field="raters", name=field)

    def check_needed(self) -> None:
        """Refuse a mapping without the fields that its kind cannot do without."""
        given = {*self.columns, *self.constants, *(("rater", "value") if self.raters else ())}
        if any(given >= set(needed) for needed in self.of_kind.needed):
            return
        closest = max(self.of_kind.needed, key=lambda needed: len(given & set(needed)))
        missing = next(name for name in closest if name not in given)
        ways = "; or ".join(" and ".join(self.of_kind.field(name).title for name in one) for one in self.of_kind.needed)
        wide = " If each rater has a column, choose these columns as raters." if self.of_kind is RATINGS else ""
        raise InputError(
            "{title} need: {ways}. Choose a column.{wide}",
            field=f"columns.{missing}",
            title=self.of_kind.title,
            ways=ways,
            wide=wide,
        )

    def check_columns(self, there: Collection[str]) -> None:
        """Refuse a mapping that names a column which is not there. `there` are the dotted paths of the first rows."""
        for field, column in self.named_columns.items():
            if column not in there:
                place = field if field.startswith("raters.") else f"columns.{field}"
                raise InputError(describe_missing(column, there), field=place)


def refuse_second_use(columns: Mapping[str, str]) -> None:
    first: dict[str, str] = {}
    for field, column in columns.items():
        if other := first.get(column):
            raise InputError(
                "{other} and {name} both name the column {column!r}; each column can be one field",
                field=field if field.startswith("raters.") else f"columns.{field}",
                other=other,
                name=field,
                column=column,
            )
        first[column] = field


def describe_missing(column: str, there: Collection[str]) -> str:
    """That a column is not there, which one may be meant, and which there are."""
    from rapidfuzz import fuzz, process  # not needed where each column is there

    like = process.extractOne(column, list(there), scorer=fuzz.ratio, score_cutoff=LIKE) if there else None
    hint = f" Is {like[0]!r} meant?" if like else ""
    shown = list(there)[:30]
    more = f" and {len(there) - len(shown):,} more" if len(there) > len(shown) else ""
    return f"there is no column {column!r}.{hint} The file has: {', '.join(shown) or 'none'}{more}"


def parse_mapping(given: object) -> ColumnMapping:
    """Return the checked mapping of a document. InputError names the entry that is wrong."""
    try:
        return ColumnMapping.model_validate(given).check()
    except ValidationError as error:
        path, message = find_first_problem(error)
        raise InputError(message, field=".".join(map(str, path)) or None) from error


def read_mapping(text: str, *, name: str = "mapping") -> ColumnMapping:
    """Return the mapping written in a JSON or TOML text. InputError names the file and the entry that is wrong."""
    try:
        if text.lstrip().startswith("{"):
            return parse_mapping(parse_json(text))
        return parse_mapping(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InputError("is neither JSON nor TOML: {error}", file=name, error=error) from error
    except InputError as error:
        raise InputError(error.message, file=name, field=error.field) from error
