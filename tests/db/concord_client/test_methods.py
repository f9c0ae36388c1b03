"""The generated files: as the document gives them, a method for every operation and a type for every answer."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, NotRequired, get_origin, get_type_hints, is_typeddict

import pytest
import requests
from django.conf import settings

from concord_client import Concord, types
from concord_client.methods import Methods
from config.api.views import load_document
from scripts.make_client import TARGET, render

GENERATED = ("methods.py", "types.py")
TYPES = [name for name, one in vars(types).items() if is_typeddict(one)]
METHODS = [name for name in vars(Methods) if not name.startswith("_")]


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    found: dict[str, Any] = load_document()
    return found


@pytest.fixture(scope="module")
def rendered(document) -> dict[str, str]:
    return render(document)


@pytest.mark.parametrize("name", GENERATED)
def test_the_files_are_what_the_document_gives(name, rendered):
    assert (TARGET / name).read_text() == rendered[name], "the API has changed: run `make client`"


@pytest.mark.parametrize("name", TYPES)
def test_types_name_what_the_document_names(name, document):
    shape = document["components"]["schemas"][name]
    hints = get_type_hints(getattr(types, name), include_extras=True)
    assert set(hints) == set(shape["properties"])
    assert {field for field, hint in hints.items() if get_origin(hint) is not NotRequired} == set(
        shape.get("required", ())
    )


def test_every_answer_has_a_type(document):
    """Of every operation, with what it holds; pages of lists are the client's own."""
    held = held_by(successes(document), document)
    shapes = {name for name in held if "enum" not in document["components"]["schemas"][name]}
    answers = {name for name in shapes if not name.endswith("Page")}
    assert len(answers) > 110
    assert answers <= set(TYPES)


def successes(document: dict[str, Any]) -> list[Any]:
    return [
        answer
        for methods in document["paths"].values()
        for said in methods.values()
        for status, answer in said["responses"].items()
        if status.startswith("2")
    ]


def held_by(part: Any, document: dict[str, Any], seen: set[str] | None = None) -> set[str]:
    seen = set() if seen is None else seen
    for name in re.findall(r"#/components/schemas/(\w+)", json.dumps(part, default=str)):
        if name not in seen:
            seen.add(name)
            held_by(document["components"]["schemas"][name], document, seen)
    return seen


class Recording(Concord):
    """Sends nothing, and answers everything with something that any method can read."""

    def __init__(self) -> None:
        super().__init__("http://here", token="t")
        self.asked: list[tuple[str, str]] = []

    def _sent(self, method: str, url: str, **content: Any) -> requests.Response:
        self.asked.append((method, url.removeprefix("http://here").partition("?")[0]))
        answer = requests.Response()
        answer.raw = BytesIO(json.dumps({"results": [], "next": None, "n": 1, "erased": 1}).encode())
        return answer


def asked_by(name: str, file: Path) -> tuple[str, str]:
    """What a method of the client sends, given something for each argument that it needs."""
    concord = Recording()
    method = getattr(concord, name)
    arguments = inspect.signature(method).parameters.values()
    needed = [one for one in arguments if one.default is one.empty and one.kind is not one.VAR_KEYWORD]
    found = method(**{one.name: value_for(str(one.annotation), file) for one in needed})
    if isinstance(found, Iterator):
        list(found)
    (asked,) = concord.asked
    return asked


def value_for(annotation: str, file: Path) -> Any:
    if "Path" in annotation:
        return file
    kinds = {"Sequence": [], "Mapping": {}, "int": 7, "float": 0.5, "str": "x", "Literal": "x", "types.": {}}
    return next(value for kind, value in kinds.items() if annotation.startswith(kind))


def operation_of(method: str, path: str, document: dict[str, Any]) -> str | None:
    """The operation that an address is of: where two fit, the one with fewer parts that vary."""
    fitting = [
        template
        for template, methods in document["paths"].items()
        if method.lower() in methods and re.fullmatch(re.sub(r"{\w+}", "[^/]+", template), path)
    ]
    best = min(fitting, key=lambda template: template.count("{"), default=None)
    return None if best is None else document["paths"][best][method.lower()]["operationId"]


@pytest.mark.parametrize("name", METHODS)
def test_a_method_asks_for_the_operation_of_its_name(name, document, tmp_path):
    file = tmp_path / "a file"
    file.write_text("{}")
    assert operation_of(*asked_by(name, file), document) == name


def test_there_is_a_method_for_every_operation(document):
    there = {said["operationId"] for methods in document["paths"].values() for said in methods.values()}
    assert len(there) > 220
    assert there == set(METHODS)


def test_a_name_is_one_part_of_an_address():
    concord = Recording()
    concord.member("a/b", "käthe@home?")
    assert concord.asked == [("GET", "/api/v1/projects/a%2Fb/members/k%C3%A4the%40home%3F")]


def test_the_old_names_work_and_warn(document, tmp_path):
    file = tmp_path / "a file"
    file.write_text("{}")
    old = [name for name in dir(Concord) if not name.startswith("_") and name not in (*METHODS, *OWN)]
    told = (settings.BASE_DIR / "CHANGELOG.md").read_text()
    assert len(old) > 30
    for name in old:
        with pytest.warns(DeprecationWarning, match=f"{name} is now") as found:
            asked = asked_by(name, file)
        new = str(found[0].message).split(" is now ")[1].split(";")[0]
        assert operation_of(*asked, document) == new
        assert f"`{name}` → `{new}`" in told


OWN = ("get", "rows", "send", "post")
"""Methods that take any address."""


def test_arguments_go_by_the_names_and_places_that_they_had():
    concord = Recording()
    with pytest.warns(DeprecationWarning, match="annotators="):
        concord.add_annotators("suits", usernames=["anna"])
    with pytest.warns(DeprecationWarning, match="name="):
        concord.escalate_cascade("suits", [1, 2], "Rest")
    with pytest.warns(DeprecationWarning, match="idempotency_key="):
        concord.evaluate("suits", judges=[1], settings=["none"], key="k")
    concord.add_annotators("suits", ["anna"])
    with pytest.raises(TypeError), pytest.warns(DeprecationWarning, match="name="):
        concord.escalate_cascade("suits", [1, 2], "Rest", "more")
