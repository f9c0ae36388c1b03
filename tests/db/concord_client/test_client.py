"""The client, against the site itself; and every example of docs/api.md."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import ClassVar
from urllib.request import Request, urlopen

import pytest
from django.conf import settings

from annotation.corpus.models import ResponsePair
from annotation.studies.services import webhooks
from concord_client import Concord, ProblemError, is_signed
from core.accounts.services import tokens
from tests.support.factories import ResearcherFactory, UserFactory

pytestmark = pytest.mark.any_database

EXAMPLES = re.findall(r"```python\n(.*?)```", (settings.BASE_DIR / "docs" / "api.md").read_text(), re.S)


@pytest.fixture
def quiet(monkeypatch):
    monkeypatch.setattr("celery.app.base.Celery.send_task", lambda *args, **kwargs: None)


@pytest.mark.long
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


class LosesAnswers(BaseHTTPRequestHandler):
    """Passes requests on to the site, and closes the first connection of each kind before or within the answer."""

    site = ""
    within = False
    lost: ClassVar[list[str]] = []
    keys: ClassVar[list[str | None]] = []

    def do_GET(self):
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name: text for name, text in self.headers.items() if name != "Host"}
        request = Request(self.site + self.path, data=content or None, method=self.command, headers=headers)
        with urlopen(request) as answer:
            found = answer.read()
        self.keys.append(self.headers["Idempotency-Key"])
        if self.command not in self.lost:
            self.lost.append(self.command)
            self.close_connection = True
            if not self.within:
                return
            self.send_response(answer.status)
            self.send_header("Content-Length", str(len(found)))
            self.end_headers()
            self.wfile.write(found[:20])
            return
        self.send_response(answer.status)
        self.send_header("Content-Length", str(len(found)))
        self.end_headers()
        self.wfile.write(found.replace(self.site.encode(), f"http://{self.headers['Host']}".encode()))

    def do_POST(self):
        self.do_GET()

    def log_message(self, *_: object) -> None:
        """Nothing is said of it."""


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.long
@pytest.mark.parametrize("within", [False, True])
def test_a_request_whose_answer_got_lost_is_sent_again_and_a_write_done_once(live_server, monkeypatch, within):
    rosa = ResearcherFactory(username="rosa")
    _, token = tokens.make(by=rosa, name="docs", scopes=["read", "research"])
    monkeypatch.setattr(LosesAnswers, "site", live_server.url)
    monkeypatch.setattr(LosesAnswers, "within", within)
    monkeypatch.setattr(LosesAnswers, "lost", [])
    monkeypatch.setattr(LosesAnswers, "keys", [])
    with serving(LosesAnswers) as address:
        concord = Concord(address, token=token)
        made = concord.create_study("Once", kind="pair", idempotency_key="once")
        assert [one["id"] for one in concord.studies()] == [made["id"]]
    assert LosesAnswers.lost == ["POST", "GET"]
    assert LosesAnswers.keys == ["once", "once", None, None]


@pytest.mark.parametrize("within", [False, True])
def test_a_file_whose_answer_got_lost_is_sent_again_whole(live_server, monkeypatch, within, tmp_path):
    rosa = ResearcherFactory(username="rosa")
    _, token = tokens.make(by=rosa, name="docs", scopes=["read", "research"])
    monkeypatch.setattr(LosesAnswers, "site", live_server.url)
    monkeypatch.setattr(LosesAnswers, "within", within)
    monkeypatch.setattr(LosesAnswers, "lost", [])
    monkeypatch.setattr(LosesAnswers, "keys", [])
    file = tmp_path / "pairs.jsonl"
    file.write_text('{"id": "p1", "question": "Q?", "response_1": "Yes.", "response_2": "No."}\n')
    with serving(LosesAnswers) as address:
        Concord(address, token=token).import_file(file, "pairs", source="lab")
    assert ResponsePair.objects.filter(source="lab").count() == 1
    assert len(LosesAnswers.keys) == 2
    assert len(set(LosesAnswers.keys)) == 1


class Busy(BaseHTTPRequestHandler):
    """Is busy once, then sends on to another host; what came is written down."""

    came: ClassVar[list[tuple[str, str | None]]] = []

    def do_GET(self):
        self.came.append((self.path, self.headers["Authorization"]))
        if len(self.came) == 1:
            self.send_response(429)
            self.send_header("Retry-After", "1")
        else:
            self.send_response(308)
            self.send_header("Location", "http://localhost:9/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def log_message(self, *_: object) -> None:
        """Nothing is said of it."""


@pytest.mark.long
def test_a_busy_site_is_asked_again_when_it_says_and_a_write_is_not_sent_on(monkeypatch):
    monkeypatch.setattr(Busy, "came", [])
    with serving(Busy) as address:
        start = time.monotonic()
        with pytest.raises(ProblemError, match="http://localhost:9/elsewhere") as refused:
            Concord(address, token="t").create_study("Somewhere", kind="pair")
    assert refused.value.status == 308
    assert time.monotonic() - start >= 1
    assert Busy.came == [("/api/v1/studies", "Bearer t")] * 2


def test_a_site_that_knows_itself_by_another_name_is_read_to_the_end():
    """Such as without its port, or as http behind a proxy of https. No row is lost, and the token stays at home."""

    class Elsewhere(BaseHTTPRequestHandler):
        came: ClassVar[list[str]] = []

        def do_GET(self):
            self.came.append(self.path)
            more = f'"http://elsewhere.example/api/v1/studies?limit=500&after={len(self.came)}"'
            content = f'{{"next": {more if len(self.came) < 3 else "null"}, "results": [{len(self.came)}]}}'.encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Nothing is said of it."""

    with serving(Elsewhere) as address:
        assert list(Concord(address, token="t").studies()) == [1, 2, 3]
    assert Elsewhere.came[1:] == [f"/api/v1/studies?limit=500&after={k}" for k in (1, 2)]


def test_what_is_no_json_is_told_in_words():
    class Portal(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", "8")
            self.end_headers()
            self.wfile.write(b"<p>Hello")

        def log_message(self, *_: object) -> None:
            """Nothing is said of it."""

    with serving(Portal) as address, pytest.raises(ProblemError, match="200 No JSON came: <p>Hello"):
        Concord(address, token="t").me()


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

    with serving(BreaksOff) as address, pytest.raises(ConnectionError, match="broke off before its end"):
        Concord(address, token="t").export_labels("suits", "csv", tmp_path / "labels.csv")
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
