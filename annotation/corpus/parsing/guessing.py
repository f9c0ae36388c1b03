"""Guesses which column of a table is what, by its name and by what stands in it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.corpus.parsing import mapped_fields
from annotation.corpus.parsing.mapped_fields import DIALOGUES, KINDS, MappedField, MappedKind
from annotation.corpus.parsing.mapped_rows import LABELS, to_turns_of
from annotation.corpus.parsing.mappings import ColumnMapping
from annotation.corpus.parsing.messages import is_dialogue, is_transcript
from annotation.stats.orders import MOST
from core.errors import InputError
from core.files.tables.rows import MOST_COLUMNS, TableRow, is_blank, list_paths

EXAMPLES = 3


@dataclass(frozen=True)
class FoundColumn:
    """A column, or a dotted path into one: how many of the rows looked at have a value, and the first of these."""

    path: str
    n_filled: int
    examples: tuple[object, ...]

    @property
    def is_empty(self) -> bool:
        return not self.n_filled


def find_columns(rows: Sequence[TableRow]) -> list[FoundColumn]:
    """The columns of some rows in the order in which they come, at most 300."""
    filled: dict[str, int] = {}
    examples: dict[str, list[object]] = {}
    for row in rows:
        for path, value in list_paths(row.values):
            if path not in filled:
                if len(filled) >= MOST_COLUMNS:
                    continue
                filled[path], examples[path] = 0, []
            if not is_blank(value):
                filled[path] += 1
                if len(examples[path]) < EXAMPLES and value not in examples[path]:
                    examples[path].append(value)
    return [FoundColumn(path, n, tuple(examples[path])) for path, n in filled.items()]


def guess_mapping(columns: Sequence[FoundColumn]) -> ColumnMapping:
    """The mapping that fits best. It may lack columns, which a person then chooses."""
    guesses = {kind.key: guess_columns(kind, columns) for kind in KINDS.values()}
    best = max(KINDS.values(), key=lambda kind: rate(kind, guesses[kind.key]))
    return ColumnMapping(kind=best.key, columns=guesses[best.key])


def rate(kind: MappedKind, guess: Mapping[str, str]) -> tuple[int, int]:
    """How telling the columns are that were found for a kind, and how many they are."""
    complete = any(set(guess) >= set(needed) for needed in kind.needed)
    return (rate_complete(kind, guess) if complete else -1), len(guess)


def rate_complete(kind: MappedKind, guess: Mapping[str, str]) -> int:
    if kind is DIALOGUES:
        return 4 if {"turns", "assistant", "role"} & set(guess) else 1
    if kind.key == "tasks":
        return 2 if len(guess) > 2 else 0
    return {"pairs": 5, "ratings": 3, "profiles": 2}.get(kind.key, 0)


def guess_columns(kind: MappedKind, columns: Sequence[FoundColumn]) -> dict[str, str]:
    """Field -> column, each column once. Names come before contents, and columns before paths into them."""
    free = {column.path: column for column in columns if not column.is_empty}
    found: dict[str, str] = {}
    for field in kind.fields:
        if path := find_named(field, free):
            found[field.key] = path
            del free[path]
    if kind is DIALOGUES:
        find_conversation(found, free)
    return drop_useless(kind, found)


def find_named(field: MappedField, free: Mapping[str, FoundColumn]) -> str:
    """The column that is called like the field, and holds what the field can hold; empty without one."""
    for name in field.names:
        matching = [path for path in free if normalise(path) == name]
        matching += [path for path in free if "." in path and normalise(path.rpartition(".")[2]) == name]
        for path in sorted(matching, key=lambda path: path.count(".")):
            if fits(field, free[path]):
                return path
    return ""


def normalise(name: str) -> str:
    """A column's name as the fields' names are spelt: `Response A` is response_a, `promptText` prompt_text."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return re.sub(r"[^\w]+", "_", apart).strip("_").casefold()


def fits(field: MappedField, column: FoundColumn) -> bool:
    """Whether the values can be what the field holds."""
    values = column.examples
    if field.holds == mapped_fields.TURNS:
        return all(holds_turns(value) for value in values)
    if field.holds == mapped_fields.JSON:
        return all(isinstance(value, dict) or str(value).lstrip().startswith("{") for value in values)
    if field.holds == mapped_fields.RESPONSES:
        return all(isinstance(value, list) or str(value).lstrip().startswith("[") for value in values)
    if field.key == "label":
        return all(str(value).strip().casefold() in LABELS for value in values)
    if field.key == "rater":
        return all(len(str(value)) <= 100 for value in values)
    return field.holds == mapped_fields.LIST or not any(isinstance(value, dict | list) for value in values)


def holds_turns(value: object) -> bool:
    """Whether a value is a conversation."""
    try:
        turns = to_turns_of(value)
    except InputError:
        return False
    return is_dialogue(value) or not isinstance(value, str) or is_transcript(value) or len(turns) > 1


def find_conversation(found: dict[str, str], free: Mapping[str, FoundColumn]) -> None:
    """Look for a whole conversation by content, where no column is called like one."""
    if "turns" in found:
        return
    for path, column in free.items():
        if all(holds_turns(value) for value in column.examples):
            found["turns"] = path
            return


def drop_useless(kind: MappedKind, found: dict[str, str]) -> dict[str, str]:
    """Of several ways to spell the same one is enough: a whole conversation, else turns, else question and answer."""
    if kind is DIALOGUES:
        if "turns" in found:
            dropped = {"user", "assistant", "role", "content"}
        elif {"id", "role", "content"} <= set(found) and "assistant" not in found:
            dropped = {"user", "system"}
        else:
            dropped = {"role", "content"}
    elif {"response_1", "response_2"} <= set(found):
        last = next(number for number in range(3, MOST + 2) if f"response_{number}" not in found)
        behind = {f"{name}_{number}" for name in ("response", "model") for number in range(last, MOST + 1)}
        dropped = {"chosen", "rejected", "responses", *behind}
    elif "responses" in found:
        dropped = {"chosen", "rejected", *(name for name in found if name.startswith("response_"))}
    else:
        dropped = {"response_1", "response_2"} if {"chosen", "rejected"} <= set(found) else set()
    return {field: path for field, path in found.items() if field not in dropped}
