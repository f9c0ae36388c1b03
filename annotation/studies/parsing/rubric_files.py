"""Rubrics as TOML, YAML and JSON: read by one loader, and written so that what is read again is the same."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import TypeGuard

import yaml

from annotation.studies.parsing.criterion_specs import NAMES_OF_TYPES, CategorySpec, CriterionSpec, Example
from annotation.studies.parsing.rubrics import Rubric, parse_rubric
from core.errors import InputError
from core.files.input_files import MEGABYTE, InputFile, not_utf8, read_document
from core.files.json_text import parse_json

LIMIT = MEGABYTE
FORMATS = ("toml", "yaml", "json")
ENDINGS = {"toml": "toml", "yaml": "yaml", "yml": "yaml", "json": "json"}


def read_rubric(file: InputFile) -> Rubric:
    """The rubric in a file; its ending says what it is written in. InputError names file, line and field."""
    fmt = ENDINGS.get(file.name.rpartition(".")[2].lower())
    if fmt is None:
        raise file.error("is not a rubric: its name ends with .toml, .yaml or .json")
    data = read_document(file, limit=LIMIT)
    if wrong := not_utf8(data):
        raise file.error(wrong[0], line=wrong[1])
    try:
        return read_text(data.decode("utf-8"), fmt)
    except InputError as error:
        raise file.error(error.message, line=error.line, field=error.field) from error


def read_text(text: str, fmt: str) -> Rubric:
    """The rubric in a text of the format."""
    return parse_rubric(READERS[fmt](text))


def read_toml(text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r" \(at line (\d+), column \d+\)$", str(error))
        said = str(error).removesuffix(line[0]) if line else str(error)
        raise InputError("is not TOML: {said}", line=int(line[1]) if line else None, said=said) from error
    except RecursionError as error:
        raise InputError("is not TOML that can be read: it is nested too deep") from error


class PlainLoader(yaml.SafeLoader):
    """YAML without what a rubric has no use for: aliases, which can blow up, and keys that stand twice.

    Of plain words only true and false are truths, as in YAML 1.2: a category may be called yes, no, on or off.
    """

    yaml_implicit_resolvers = {
        first: [
            (tag, pattern)
            for tag, pattern in found
            if tag not in ("tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp")
        ]
        for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.events.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call] # of a library
            raise yaml.MarkedYAMLError(problem="an alias (*name) is not read here", problem_mark=event.start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.MarkedYAMLError(problem=f"{key.value} stands twice", problem_mark=key.start_mark)
            seen.add(str(key.value))
        return super().construct_mapping(node, deep=deep)


PlainLoader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)


def read_yaml(text: str) -> object:
    try:
        return yaml.load(text, Loader=PlainLoader)  # noqa: S506 # nosec B506 # a SafeLoader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise InputError(
            "is not YAML: {problem}", line=mark.line + 1 if mark else None, problem=error.problem
        ) from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InputError("is not YAML that can be read: {error}", error=error) from error


READERS = {"toml": read_toml, "yaml": read_yaml, "json": parse_json}


# ---------- writing ----------


def write_rubric(rubric: Rubric, fmt: str) -> str:
    """The rubric as a text of the format. `read_text` gives the same rubric again."""
    document = to_document(rubric)
    if fmt == "json":
        return json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    if fmt == "yaml":
        return str(yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100))
    return "".join(iterate_toml(document))


def to_document(rubric: Rubric) -> dict[str, object]:
    """As JSON types, without what goes without saying."""
    head = {name: getattr(rubric, name) for name in ("name", "description", "citation", "kind")}
    criteria = [to_criterion_document(one) for one in rubric.criteria]
    return {**{name: text for name, text in head.items() if text}, "criterion": criteria}


def to_criterion_document(one: CriterionSpec) -> dict[str, object]:
    called = spell_type(one)
    given: dict[str, object] = {"key": one.key, "name": one.name, "type": called}
    given |= {"level": one.level} if one.level != NAMES_OF_TYPES[called][1] else {}
    given |= {"unit": one.unit} if one.unit != "item" else {}
    given["question"] = one.question
    given |= {name: text for name in ("help", "guideline") if (text := getattr(one, name))}
    given |= {} if one.is_required else {"required": False}
    given |= {"limits": limits} if (limits := one.read_limits().to_json()) else {}
    if one.condition:
        given["condition"] = {"criterion": one.condition.criterion, "values": list(one.condition.values)}
    given |= {"category": [to_category(category) for category in one.categories]} if one.categories else {}
    given |= {"example": [to_example(example) for example in one.examples]} if one.examples else {}
    return given


def to_example(example: Example) -> dict[str, object]:
    given = {"good": example.good, "text": example.text}
    return {**given, "image": example.image} if example.image else given


def to_category(category: CategorySpec) -> dict[str, str]:
    given = {"value": category.value, "label": category.label, "guideline": category.guideline}
    return {name: text for name, text in given.items() if text}


WRITTEN = {"several": "multi_choice", "spans": "span"}


def spell_type(one: CriterionSpec) -> str:
    """The name that says most: an ordered scale of categories is ordinal."""
    return "ordinal" if (one.type, one.level) == ("choice", "ordinal") else WRITTEN.get(one.type, one.type)


def iterate_toml(document: Mapping[str, object], path: str = "") -> Iterator[str]:
    """Plain values first, then tables, then lists of tables."""
    tables = {name: value for name, value in document.items() if isinstance(value, dict)}
    lists = {name: value for name, value in document.items() if is_tables(value)}
    for name, value in document.items():
        if name not in tables and name not in lists:
            yield f"{name} = {spell_toml(value)}\n"
    for name, value in tables.items():
        yield f"\n[{path}{name}]\n"
        yield from iterate_toml(value, f"{path}{name}.")
    for name, values in lists.items():
        for value in values:
            yield f"\n[[{path}{name}]]\n"
            yield from iterate_toml(value, f"{path}{name}.")


def is_tables(value: object) -> TypeGuard[list[dict[str, object]]]:
    return isinstance(value, list) and all(isinstance(one, dict) for one in value) and bool(value)


def spell_toml(value: object) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(spell_toml, value))}]"
    if not isinstance(value, str):
        return json.dumps(value)
    if "\n" in value and not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", value):
        return '"""\n' + value.replace("\\", "\\\\").replace('"', '\\"') + '"""'
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
