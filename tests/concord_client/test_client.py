"""The client, against the site itself; and every example of docs/api.md."""

from __future__ import annotations

import inspect
import json
import re
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from threading import Thread
from typing import Any, get_type_hints

import pytest
from django.conf import settings

from annotation.studies.services import webhooks
from concord_client import Concord, ProblemError, is_signed, types
from config.api.views import load_document
from core.accounts.services import tokens
from tests.factories import ResearcherFactory, UserFactory

EXAMPLES = re.findall(r"```python\n(.*?)```", (settings.BASE_DIR / "docs" / "api.md").read_text(), re.S)


@pytest.fixture
def quiet(monkeypatch):
    monkeypatch.setattr("celery.app.base.Celery.send_task", lambda *args, **kwargs: None)


def test_every_example_of_the_docs_runs(live_server, quiet, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rosa = ResearcherFactory(username="rosa")
    anna = UserFactory(username="anna")
    _, token = tokens.make(by=rosa, name="docs", scopes=["read", "research", "admin"])
    _, annas = tokens.make(by=anna, name="docs", scopes=["annotate"])
    assert len(EXAMPLES) >= 7
    program = "\n".join(EXAMPLES).replace("http://localhost:8000", live_server.url)
    known: dict[str, object] = {"TOKEN": token, "ANNAS_TOKEN": annas}
    exec(compile(program, "docs/api.md", "exec"), known)
    assert Path("labels.csv").read_text().startswith("study,")


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    found: dict[str, Any] = load_document()
    return found


@pytest.mark.parametrize("name", types.__all__)
def test_types_name_what_the_document_names(name, document):
    shape = document["components"]["schemas"][name]["properties"]
    assert set(get_type_hints(getattr(types, name))) == set(shape)


def test_every_answer_has_a_type(document):
    """Of every operation, with what it holds; pages of lists are the client's own."""
    refs = set(re.findall(r"#/components/schemas/(\w+)", json.dumps(successes(document), default=str)))
    held = {name for name in refs for name in held_by(name, document)}
    shapes = {name for name in held if "enum" not in document["components"]["schemas"][name]}
    assert {name for name in shapes if not name.endswith("Page")} == set(types.__all__)


def successes(document: dict[str, Any]) -> list[Any]:
    return [
        answer
        for methods in document["paths"].values()
        for said in methods.values()
        for status, answer in said["responses"].items()
        if status.startswith("2")
    ]


def held_by(name: str, document: dict[str, Any], seen: set[str] | None = None) -> set[str]:
    seen = seen if seen is not None else set()
    if name not in seen:
        seen.add(name)
        text = json.dumps(document["components"]["schemas"][name], default=str)
        for inner in re.findall(r"#/components/schemas/(\w+)", text):
            held_by(inner, document, seen)
    return seen


class Whole(BytesIO):
    """An answer of which nothing is missing."""

    length = 0


class Recording(Concord):
    """Sends nothing, and answers everything with something that any method can read."""

    def __init__(self) -> None:
        super().__init__("http://here", token="t")
        self.asked: list[tuple[str, str]] = []

    def _sent(self, method: str, url: str, body: bytes | None = None, headers: Any = None) -> Any:
        self.asked.append((method, url.removeprefix("http://here").partition("?")[0]))
        return Whole(json.dumps({"results": [], "next": None, "n": 1, "erased": 1}).encode())


OWN = ("get", "rows", "send", "post")
"""Methods that take any address."""

METHODS = [name for name in dir(Concord) if not name.startswith("_") and name not in OWN]
GIVEN = {"int": 7, "str": "x", "float": 0.5}


def asked_by(name: str, file: Path) -> tuple[str, str]:
    """What a method of the client sends, given something for each argument that it needs."""
    concord = Recording()
    method = getattr(concord, name)
    needed = [
        one for one in inspect.signature(method).parameters.values() if one.default is one.empty and one.kind != 4
    ]  # 4: **options
    found = method(**{one.name: value_for(str(one.annotation), file) for one in needed})
    if isinstance(found, Iterator):
        list(found)
    (asked,) = concord.asked
    return asked


def value_for(annotation: str, file: Path) -> Any:
    if "Path" in annotation:
        return file
    if annotation.startswith("Sequence[int"):
        return [7]
    if annotation.startswith("Sequence[str"):
        return ["x"]
    return [] if annotation.startswith("Sequence") else {} if annotation.startswith("Mapping") else GIVEN[annotation]


def operation_of(method: str, path: str, document: dict[str, Any]) -> tuple[str, str] | None:
    """The operation that an address is of: where two fit, the one with fewer parts that vary."""
    fitting = [
        template
        for template, methods in document["paths"].items()
        if method.lower() in methods and re.fullmatch(re.sub(r"{\w+}", "[^/]+", template), path)
    ]
    best = min(fitting, key=lambda template: template.count("{"), default=None)
    return None if best is None else (method, best)


WITHOUT_A_METHOD: dict[tuple[str, str], str] = {}
"""Operations that the client has no method for, with the reason."""


def test_the_client_has_a_method_for_every_operation(document, tmp_path):
    file = tmp_path / "a file"
    file.write_text("{}")
    asked = {name: asked_by(name, file) for name in METHODS}
    found = {name: operation_of(*one, document) for name, one in asked.items()}
    assert [(name, asked[name]) for name, one in found.items() if one is None] == []
    there = {(verb.upper(), path) for path, methods in document["paths"].items() for verb in methods}
    assert len(there) > 170
    assert there - set(found.values()) == set(WITHOUT_A_METHOD)
    assert len(set(found.values())) == len(found), "no two methods for one operation"


def test_no_part_of_the_client_hides_another():
    names = [name for part in Concord.__bases__ for name in vars(part) if not name.startswith("_")]
    assert len(names) == len(set(names))


def test_a_problem_says_where_and_the_token_stays_at_home(live_server):
    rosa = ResearcherFactory(username="rosa")
    _, token = tokens.make(by=rosa, name="docs", scopes=["read"])
    concord = Concord(live_server.url, token=token)
    with pytest.raises(ProblemError, match="404") as refused:
        concord.study("none")
    assert refused.value.status == 404
    with pytest.raises(ProblemError, match="scope"):
        concord.create_study("X", kind="pair")
    with pytest.raises(ValueError, match="not sent there"):
        concord._sent("GET", "http://elsewhere.example/api/v1/me")
    with pytest.raises(ValueError, match="http"):
        Concord("localhost", token="x")


def test_a_write_whose_answer_got_lost_is_sent_again_and_done_once(live_server, monkeypatch):
    rosa = ResearcherFactory(username="rosa")
    _, token = tokens.make(by=rosa, name="docs", scopes=["read", "research"])
    concord = Concord(live_server.url, token=token)
    real, lost = concord._sent, []

    def losing(*given):
        answer = real(*given)
        if not lost:
            lost.append(answer.read())
            raise ConnectionResetError
        return answer

    monkeypatch.setattr(concord, "_sent", losing)
    made = concord.create_study("Once", kind="pair")
    monkeypatch.undo()
    assert lost
    assert [one["id"] for one in concord.studies()] == [made["id"]]


@pytest.mark.parametrize("chunked", [True, False])
def test_a_download_that_breaks_off_leaves_no_file(tmp_path, chunked):
    class BreaksOff(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.send_response(200)
            self.send_header(*(("Transfer-Encoding", "chunked") if chunked else ("Content-Length", "4000")))
            self.end_headers()
            self.wfile.write(b"7d0\r\n" + b"a,b\n" * 500 + b"\r\n" if chunked else b"a,b\n" * 500)
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Nothing is said of it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), BreaksOff)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        concord = Concord(f"http://127.0.0.1:{server.server_port}", token="t")
        with pytest.raises(ConnectionError, match="broke off before its end"):
            concord.download_labels("suits", tmp_path / "labels.csv")
    finally:
        server.shutdown()
        server.server_close()
    assert list(tmp_path.iterdir()) == []


def test_signatures():
    now = int(time.time())
    header = webhooks.signature("secret", "{}", now)
    assert is_signed("secret", header, b"{}")
    assert not is_signed("other", header, b"{}")
    assert not is_signed("secret", header, b"{ }")
    assert not is_signed("secret", header, b"{}", now=now + 301)
    for forged in ("nonsense", f"t={now}", f"t={now},v1=é", f"t=-{now},v1=0", f"t={'9' * 5000},v1=0", "t=١٢,v1=0"):
        assert not is_signed("secret", forged, b"{}", now=now)
    assert not is_signed("secret", header.replace("t=", "t=0"), b"{}", now=now)  # the time is signed as it stands
