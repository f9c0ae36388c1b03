#!/usr/bin/env python
"""Write the client's types and methods from the OpenAPI document of today (`make client`)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "client" / "concord_client"
PREFIX = "/api/v1/"
JSON = "application/json"
Shape = Mapping[str, Any]

ARGUMENTS = {
    ("judges", "id"): "judge",
    ("runs", "id"): "run",
    ("experiments", "id"): "experiment",
    ("evaluations", "id"): "evaluation",
    ("members", "username"): "user",
    ("annotators", "username"): "user",
    ("participants", "username"): "annotator",
    ("items", "name"): "assignment",
}
"""What a part of an address is called as an argument, by the word before it; other ids are a `number`."""

SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}

ANYTHING = ("Any", "object")
"""JSON of any shape: in an answer, which is read on, and in a body, which takes it as it is."""

TYPES_HEAD = '''"""What the API takes and answers, written from its OpenAPI document by `make client`: do not edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

from concord_client.transport import Json
'''

METHODS_HEAD = '''"""Every operation of the API, written from its OpenAPI document by `make client`: do not edit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from concord_client import types
from concord_client.transport import OMITTED, Json, Transport, quote


class Methods(Transport):
    """Every operation by its name: a noun reads, a verb changes something.

    A write takes `idempotency_key`; without one it gets a key of its own. A list takes `after`, the key of the last row
    seen, and `limit`, how many rows one request brings; it goes on to its end.
    """
'''

AFTER = "Key of the last row seen; `next` fills it in."
"""What the document says of `after` at every list by key: the class says it once."""


@dataclass(frozen=True)
class Argument:
    """One argument of a method."""

    name: str
    hint: str
    is_required: bool = True
    about: str = ""


class Document:
    """The OpenAPI document, read as Python types and methods."""

    def __init__(self, document: Shape) -> None:
        self.paths: dict[str, dict[str, Any]] = document["paths"]
        self.shapes: dict[str, Shape] = document["components"]["schemas"]
        self.in_answers = self.names_under(
            [answer for spec in self.operations() for status, answer in spec["responses"].items() if status < "3"]
        )

    def operations(self) -> Iterator[dict[str, Any]]:
        """Yield operations with their `path` and `method`, those of one tag together."""
        found = [
            {**spec, "path": path.removeprefix(PREFIX), "method": method.upper()}
            for path, methods in self.paths.items()
            for method, spec in methods.items()
        ]
        order = list(dict.fromkeys(spec["tags"][0] for spec in found))
        yield from sorted(found, key=lambda spec: order.index(spec["tags"][0]))

    def names_under(self, part: Any) -> set[str]:
        """Return the components that a part of the document refers to, also indirectly."""
        found: set[str] = set()
        waiting = [part]
        while waiting:
            new = set(re.findall(r"#/components/schemas/([\w.]+)", str(waiting.pop()))) - found
            found |= new
            waiting.extend(self.shapes[name] for name in new)
        return found

    def write_types(self) -> str:
        """Return the types of answers, and of what stands within bodies: a body's own fields are arguments.

        A type that has all fields of another one, in the same words, stands after it and names only its own.
        """
        bodies = [self.shapes[name] for spec in self.operations() if (name := self.body_name(spec))]
        names = sorted(self.in_answers | self.names_under(bodies))
        wanted = [name for name in names if "properties" in self.shapes[name] and not name.endswith("Page")]
        fields = {name: self.lines_of(name) for name in wanted}
        bases = {name: base_of(name, fields) for name in wanted}

        def depth(name: str) -> int:
            return depth(bases[name]) + 1 if bases[name] else 0

        return "\n".join(
            [TYPES_HEAD, *(self.write_type(name, bases[name], fields) for name in sorted(wanted, key=depth))]
        )

    def write_type(self, name: str, base: str, fields: Mapping[str, Mapping[str, str]]) -> str:
        lines = [f"\nclass {name}({base or 'TypedDict'}):"]
        if about := describe(self.shapes[name]):
            lines += [quoted(about, 4), ""]
        lines += [line for field, line in fields[name].items() if field not in fields.get(base, {})]
        return "\n".join(lines) + "\n"

    def lines_of(self, name: str) -> dict[str, str]:
        """Return what is written for each field of a type."""
        shape, found = self.shapes[name], {}
        for field, one in shape["properties"].items():
            hint = self.hint(one, is_body=name not in self.in_answers)
            found[field] = f"    {field}: " + (hint if field in shape.get("required", ()) else f"NotRequired[{hint}]")
            if about := describe(one):
                found[field] += "\n" + quoted(about, 4)
        return found

    def hint(self, shape: Shape, *, is_body: bool = False, prefix: str = "") -> str:
        """Return the Python type of a schema; a body takes sequences and mappings, an answer holds lists and dicts."""
        found = self.plain_hint(shape, is_body=is_body, prefix=prefix)
        return f"{found} | None" if shape.get("nullable") and found not in ANYTHING else found

    def plain_hint(self, shape: Shape, *, is_body: bool, prefix: str) -> str:
        if values := self.values_of(shape):
            return f"Literal[{', '.join(map(repr, values))}]"
        if "$ref" in shape:
            return prefix + name_of(shape)
        for kind in ("allOf", "oneOf", "anyOf"):
            if kind in shape:
                return " | ".join(dict.fromkeys(self.hint(one, is_body=is_body, prefix=prefix) for one in shape[kind]))
        if shape.get("type") == "array":
            return f"{'Sequence' if is_body else 'list'}[{self.hint(shape['items'], is_body=is_body, prefix=prefix)}]"
        if shape.get("type") == "object":
            inner = shape.get("additionalProperties")
            value = self.hint(inner if isinstance(inner, Mapping) else {}, is_body=is_body, prefix=prefix)
            return "Json" if value == "Any" else f"{'Mapping' if is_body else 'dict'}[str, {value}]"
        if is_body and shape.get("format") == "decimal":
            return "float | str"
        return SCALARS.get(shape.get("type", ""), ANYTHING[is_body])

    def values_of(self, shape: Shape) -> list[Any]:
        """Return the values of an enumeration, or of several together; empty for other schemas."""
        if "$ref" in shape:
            return self.values_of(self.shapes[name_of(shape)])
        parts = [self.values_of(one) for one in (*shape.get("allOf", ()), *shape.get("oneOf", ()))]
        return list(shape.get("enum", ())) or ([value for part in parts for value in part] if all(parts) else [])

    def write_methods(self) -> str:
        lines = [METHODS_HEAD]
        for tag, spec in groupby(self.operations(), lambda one: one["tags"][0]):
            lines += [f"    # {tag}\n", *map(self.write_method, spec)]
        return "\n".join(lines)

    def write_method(self, spec: Shape) -> str:
        place, path = self.place_of(spec)
        sent = self.query_of(spec) if spec["method"] == "GET" else self.fields_of(spec)
        file = [Argument("path", "str | Path")] if is_download(spec) or is_upload(spec) else []
        needed = [*place, *file, *(one for one in sent if one.is_required or (len(sent) == 1 and not file))]
        optional = [one for one in sent if one not in needed]
        arguments = ["self", *map(declare, needed), *(["*"] if optional else []), *map(declare, optional)]
        if spec["method"] != "GET":
            arguments += [*([] if optional else ["*"]), "idempotency_key: str | None = None"]
        about = [f"`{one.name}`: {one.about}" for one in (*needed, *optional) if one.about not in ("", AFTER)]
        summary = spec["summary"] + ("" if spec["summary"].endswith((".", "…", "?")) else ".")
        doc = quoted(summary if not about else "\n".join([summary, "", *about, ""]), 8)
        answer = self.answer_of(spec)
        call = self.call_of(spec, path, sent)
        head = f"    def {spec['operationId']}({', '.join(arguments)}) -> {answer}:"
        return f"{head}\n{doc}\n        {call if answer == 'None' else f'return {call}'}\n"

    def place_of(self, spec: Shape) -> tuple[list[Argument], str]:
        """Return the arguments that stand in the address, and the address as Python text."""
        schemas = {one["name"]: one["schema"] for one in spec.get("parameters", ()) if one["in"] == "path"}
        found: list[Argument] = []
        before, parts = "", []
        for word in spec["path"].split("/"):
            part = word
            for name in re.findall(r"{(\w+)}", word):
                called = ARGUMENTS.get((before, name), "number" if name == "id" else name)
                found.append(Argument(called, self.hint(schemas[name])))
                part = part.replace(name, f"quote({called})" if found[-1].hint == "str" else called)
            before = word
            parts.append(part)
        return found, f'{"f" if found else ""}"{"/".join(parts)}"'

    def query_of(self, spec: Shape) -> list[Argument]:
        return [
            Argument(one["name"], self.body_hint(one["schema"]), one.get("required", False), describe(one))
            for one in spec.get("parameters", ())
            if one["in"] == "query"
        ]

    def fields_of(self, spec: Shape) -> list[Argument]:
        shape = self.shapes.get(self.body_name(spec), {})
        return [
            Argument(name, self.body_hint(one), name in shape.get("required", ()), describe(one))
            for name, one in shape.get("properties", {}).items()
            if not (is_upload(spec) and name == "file")
        ]

    def body_hint(self, schema: Shape) -> str:
        return self.hint(schema, is_body=True, prefix="types.")

    @staticmethod
    def body_name(spec: Shape) -> str:
        content = spec.get("requestBody", {}).get("content", {})
        return next((name_of(one["schema"]) for one in content.values()), "")

    def answer_of(self, spec: Shape) -> str:
        """Return the type of what a method returns."""
        if is_download(spec):
            return "None"
        successes = [one for status, one in spec["responses"].items() if status.startswith("2")]
        shapes = [one["content"][JSON]["schema"] for one in successes if JSON in one.get("content", {})]
        if not shapes:
            return "None"
        if "$ref" in shapes[0] and name_of(shapes[0]).endswith("Page"):
            row = self.shapes[name_of(shapes[0])]["properties"]["results"]["items"]
            return f"Iterator[{self.hint(row, prefix='types.')}]"
        found = self.hint(shapes[0], prefix="types.")
        return found if len(successes) == len(shapes) else f"{found} | None"

    def call_of(self, spec: Shape, path: str, sent: list[Argument]) -> str:
        """Return the call of the transport that a method consists of."""
        pairs = ", ".join(f'"{one.name}": {one.name}' for one in sent)
        if spec["method"] == "GET":
            named = [f"{one.name}={one.name}" for one in sent]
            if is_download(spec):
                return f"self._download({', '.join([path, 'path', *named])})"
            verb = "rows" if self.answer_of(spec).startswith("Iterator") else "get"
            return f"self.{verb}({', '.join([path, *named])})"
        if is_upload(spec):
            return f"self._upload({path}, path, {{{pairs}}}, key=idempotency_key)"
        verb = "self.post(" if spec["method"] == "POST" else f'self.send("{spec["method"]}", '
        return f"{verb}{path}, {f'{{{pairs}}}, ' if sent else ''}key=idempotency_key)"


def base_of(name: str, fields: Mapping[str, Mapping[str, str]]) -> str:
    """Return the type with the most fields of which all are a type's too, at least four; empty if there is none."""
    own = fields[name].items()
    inner = [one for one in fields if len(fields[one]) >= 4 and fields[one].items() < own]
    return max(inner, key=lambda one: len(fields[one]), default="")


def name_of(shape: Shape) -> str:
    return str(shape["$ref"]).rpartition("/")[2]


def is_download(spec: Shape) -> bool:
    return any(kind != JSON for one in [spec["responses"].get("200", {})] for kind in one.get("content", {}))


def is_upload(spec: Shape) -> bool:
    return "multipart/form-data" in spec.get("requestBody", {}).get("content", {})


def declare(one: Argument) -> str:
    return f"{one.name}: {one.hint}" + ("" if one.is_required else " = OMITTED")


def describe(shape: Shape) -> str:
    """Return what the document says of a part, without its list of values."""
    return " ".join(str(shape.get("description", "")).partition("* `")[0].split())


def quoted(text: str, indent: int) -> str:
    """Return a docstring; its lines may be longer than a line of code."""
    return textwrap.indent(f'"""{text}"""', " " * indent)


def render(document: Shape) -> dict[str, str]:
    """Return the text of each generated file, formatted, by its name."""
    found = Document(document)
    return {"types.py": format_code(found.write_types()), "methods.py": format_code(found.write_methods())}


def format_code(text: str) -> str:
    """Return the text without imports that are not used, in the repository's style."""
    ruff = [sys.executable, "-m", "ruff"]
    config = ["--quiet", "--config", str(ROOT / "pyproject.toml"), "-"]
    for step in (["check", "--select", "F401", "--fix"], ["format"]):
        text = subprocess.run([*ruff, *step, *config], input=text, capture_output=True, text=True, check=True).stdout
    return text


def main() -> None:
    sys.path.insert(0, str(ROOT))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from config.api.views import load_document

    for name, text in render(load_document()).items():
        (TARGET / name).write_text(text)


if __name__ == "__main__":
    main()
