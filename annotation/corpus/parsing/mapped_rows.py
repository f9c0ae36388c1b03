"""Rows of a table as records, by a mapping."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby

from annotation.corpus.parsing import mapped_fields
from annotation.corpus.parsing.contents import is_content
from annotation.corpus.parsing.drawing_rules import draw_number, to_number
from annotation.corpus.parsing.mapped_fields import DIALOGUES, PAIRS, MappedField
from annotation.corpus.parsing.mappings import ColumnMapping
from annotation.corpus.parsing.messages import parse_transcript, to_turns
from annotation.corpus.parsing.records import DialogueRecord, PairRecord, ProfileRecord, Record, TaskRecord
from annotation.stats.orders import LETTERS
from core.errors import InputError
from core.files.tables.rows import TableRow, find_value, is_blank
from core.hashing import content_hash

SCHEMAS: dict[str, type[Record]] = {
    "dialogues": DialogueRecord,
    "pairs": PairRecord,
    "profiles": ProfileRecord,
    "tasks": TaskRecord,
}
SIDES = {
    **{str(number): (str(number), letter.lower()) for number, letter in enumerate(LETTERS, start=1)},
    "1": ("1", "a", "left", "model_a", "response_1", "response_a", "first", "text1"),
    "2": ("2", "b", "right", "model_b", "response_2", "response_b", "second", "text2"),
    "tie": ("tie", "0", "equal", "both", "draw", "tie (bothbad)", "same", "neither"),
}
LABELS = {spelt: label for label, ways in SIDES.items() for spelt in ways}
ID_LENGTH = 16
"""Hexadecimal digits of the hash that identifies a row without an id."""


def iterate_groups(mapping: ColumnMapping, rows: Iterable[TableRow]) -> Iterator[list[TableRow]]:
    """Yield the rows of each record: one by one, or those of one id that follow each other where each is a turn."""
    if mapping.kind == DIALOGUES.key and "role" in mapping.columns:
        column = mapping.columns["id"]
        for _, group in groupby(rows, key=lambda row: spell_cell(find_value(row.values, column))):
            yield list(group)
    else:
        for row in rows:
            yield [row]


def build_record(mapping: ColumnMapping, rows: list[TableRow]) -> dict[str, object]:
    """The record of some rows, as a line of Concord's own JSONL. InputError names field and column."""
    values = rows[0].values
    given: dict[str, object] = {**mapping.constants}
    for field, column in mapping.columns.items():
        found = find_value(values, column)
        if not is_blank(found):
            try:
                given[field] = convert_cell(mapping.of_kind.field(field), found)
            except InputError as error:
                raise InputError(error.message, field=name_place(mapping, field)) from error
    if mapping.kind == DIALOGUES.key:
        fill_turns(mapping, given, rows)
    if mapping.kind == PAIRS.key:
        fill_pair(mapping, given)
    record = {**collect_others(mapping, values), **given}
    return record if "id" in record else {"id": content_hash(record)[:ID_LENGTH], **record}


def name_place(mapping: ColumnMapping, field: str) -> str:
    """A field with the column that it comes from."""
    column = mapping.columns.get(field.split(".")[0])
    return f"{field} (column {column})" if column and column != field else field


def convert_cell(field: MappedField, value: object) -> object:
    """A cell as its field holds it."""
    if field.holds == mapped_fields.TURNS:
        return to_turns_of(value)
    if field.holds == mapped_fields.LIST:
        return to_list(value)
    if field.holds == mapped_fields.JSON:
        return parse_cell(value)
    if field.holds == mapped_fields.RESPONSES:
        return to_responses(value)
    if field.holds == mapped_fields.NUMBER:
        number = to_number(value)
        if number is None:
            raise InputError("{value!r} is not a number", value=value)
        return number
    if field.key == "label":
        return LABELS.get(spell_cell(value).casefold(), spell_cell(value))
    return value if is_content(value) else spell_cell(value)


def to_turns_of(value: object) -> list[dict[str, object]]:
    """Turns from a list of messages, its JSON text, or a transcript."""
    if isinstance(value, str) and not value.lstrip().startswith("["):
        return parse_transcript(value)
    found = parse_cell(value)
    inner = found.get("messages") if isinstance(found, dict) else None
    if isinstance(found, list) and found and all(isinstance(one, str) for one in found):
        return [{"role": "assistant" if place % 2 else "user", "content": text} for place, text in enumerate(found)]
    return to_turns(found if inner is None else inner)


def parse_cell(value: object) -> object:
    """The value of JSON text; other values as they are."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError as error:
        raise InputError("is not JSON: {error}", error=error) from error


def to_list(value: object) -> list[object]:
    """A list, its JSON text, or texts with semicolons, vertical bars or line breaks between them."""
    if isinstance(value, str) and not value.lstrip().startswith("["):
        return [part.strip() for part in re.split(r"[;|\n]", value) if part.strip()]
    found = parse_cell(value)
    if not isinstance(found, list):
        raise InputError("a list is expected")
    return found


def to_responses(value: object) -> list[object]:
    """A list of responses, or its JSON text."""
    found = parse_cell(value)
    if not isinstance(found, list):
        raise InputError("a list of responses is expected")
    return found


def spell_cell(value: object) -> str:
    """A cell as text: 3.0 is 3, an object its JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list | bool) else str(value)


def fill_turns(mapping: ColumnMapping, given: dict[str, object], rows: list[TableRow]) -> None:
    """Put the turns together where a row holds one turn, or one question with its answer."""
    if "role" in mapping.columns:
        for name in ("role", "content"):
            given.pop(name, None)
        given["turns"] = to_turns([build_message(mapping, row) for row in rows])
        return
    said = [(role, given.pop(role, "")) for role in ("system", "user", "assistant")]
    if "turns" not in given and (turns := [{"role": role, "content": text} for role, text in said if text]):
        given["turns"] = turns
    elif said[0][1] and isinstance(rest := given["turns"], list):
        given["turns"] = [{"role": "system", "content": said[0][1]}, *rest]


def build_message(mapping: ColumnMapping, row: TableRow) -> dict[str, str]:
    """The turn in one row."""
    role, content = (spell_cell(find_value(row.values, mapping.columns[name])) for name in ("role", "content"))
    return {"role": role, "content": content}


def fill_pair(mapping: ColumnMapping, given: dict[str, object]) -> None:
    """Put a chosen and a rejected response on the two sides, by a draw that follows from the texts."""
    given.setdefault("question", "(no question)")
    if "chosen" in mapping.columns:
        texts = given.pop("chosen", ""), given.pop("rejected", "")
        given |= order_responses(*texts)


def order_responses(chosen: object, rejected: object) -> dict[str, object]:
    """Which content, a text or a list of parts, is which response: the better one is first in half of all pairs."""
    spelled = [one if isinstance(one, str) else json.dumps(one, sort_keys=True) for one in (chosen, rejected)]
    first = draw_number(0, content_hash(sorted(spelled))) < 0.5
    swap = (spelled[0] > spelled[1]) != first
    one, other = (rejected, chosen) if swap else (chosen, rejected)
    return {"response_1": one, "response_2": other, "label": "2" if swap else "1"}


def collect_others(mapping: ColumnMapping, values: Mapping[str, object]) -> dict[str, object]:
    """The columns that are not mapped and say something; one that is called like a field gets another name."""
    if not mapping.keeps_others:
        return {}
    used, own = list(mapping.columns.values()), SCHEMAS[mapping.kind].model_fields
    rest = {name: drop_used(value, name, used) for name, value in values.items() if name not in used}
    return {
        f"{name}_column" if name in own or name == "source" else name: value
        for name, value in rest.items()
        if not is_blank(value)
    }


def drop_used(value: object, path: str, used: Collection[str]) -> object:
    """An object without the parts that are mapped, and without what is empty then."""
    if not isinstance(value, Mapping) or not any(one.startswith(f"{path}.") for one in used):
        return value
    rest = {
        name: drop_used(part, f"{path}.{name}", used) for name, part in value.items() if f"{path}.{name}" not in used
    }
    return {name: part for name, part in rest.items() if not is_blank(part)}


def build_cells(mapping: ColumnMapping, rows: Iterable[TableRow]) -> Iterator[tuple[int, list[str]]]:
    """Line and cells of each label, the first with the names of the fields. In a wide table a row is a label of each
    rater who has a value in it."""
    wide = ["rater", "value"] if mapping.raters else []
    yield 1, [*mapping.constants, *mapping.columns, *wide]
    constants = list(mapping.constants.values())
    for row in rows:
        cells = [*constants, *(spell_cell(find_value(row.values, one)) for one in mapping.columns.values())]
        if not wide:
            yield row.line, cells
        for rater in mapping.raters:
            if not is_blank(value := find_value(row.values, rater)):
                yield row.line, [*cells, rater, spell_cell(value)]
