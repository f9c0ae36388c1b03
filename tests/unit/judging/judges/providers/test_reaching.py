"""A call goes to the address that was looked at, however often the name changes its mind, and to nobody else."""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from ipaddress import ip_address
from threading import Thread
from typing import Any

import httpx2
import pytest

from core import addresses
from core.addresses import ForbiddenAddressError, Rule, check, resolve_checked
from core.jobs.backoff import PermanentError
from judging.judges.providers import create, reaching
from judging.judges.providers.calls import OversizedError
from tests.support.asking import request, run

LAB = Rule(private=True)
SITE = Rule()


class Server:
    """A real server that notes whom it was asked for, and answers or points elsewhere."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.redirect = ""
        self.body = json.dumps({"score": 0.5, "data": []}).encode()
        self.packed = False


@contextmanager
def serving(address: str = "127.0.0.1") -> Iterator[tuple[Server, int]]:
    server = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            server.asked.append((self.headers["Host"], self.path))
            self.rfile.read(int(self.headers["Content-Length"] or 0))
            self.send_response(307 if server.redirect else 200)
            if server.redirect:
                self.send_header("Location", server.redirect)
            body = gzip.compress(server.body) if server.packed else server.body
            self.send_header("Content-Type", "application/json")
            if server.packed:
                self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    class OfItsFamily(HTTPServer):
        address_family = socket.AF_INET6 if ":" in address else socket.AF_INET

    httpd = OfItsFamily((address, 0), Handler)
    thread = Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server, httpd.server_address[1]
    finally:
        httpd.shutdown()
        thread.join()
        httpd.server_close()


@pytest.fixture
def resolver(monkeypatch) -> dict[str, list[list[str]]]:
    """Names -> what they are at the first look, the second …; the last stays. Connections ask the system's own."""
    names: dict[str, list[list[str]]] = {}
    real = socket.getaddrinfo

    def resolve(host: Any, port: Any, *rest: Any, **more: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name not in names:
            return real(host, port, *rest, **more)
        now = names[name].pop(0) if len(names[name]) > 1 else names[name][0]
        return [
            (socket.AF_INET6 if ":" in one else socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in now
        ]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(addresses.resolve_checked, "__kwdefaults__", {"resolve": resolve})
    monkeypatch.setattr(addresses.check, "__kwdefaults__", {"resolve": resolve})
    return names


def posted(url: str, rule: Rule | None) -> httpx2.Response:
    async def post() -> httpx2.Response:
        async with reaching.client(url, rule, timeout=10) as client:
            return await client.post(url, json={"a": 1})

    return run(post())


def test_a_name_that_changes_between_look_and_connection_leads_nowhere_else(resolver):
    """The look sees a listed host's own address; what the name is afterwards nobody asks."""
    with serving() as (server, port):
        resolver["model.example"] = [["127.0.0.1"], ["203.0.113.9"]]
        rule = Rule(hosts=["model.example"])
        assert posted(f"http://model.example:{port}/v1", rule).status_code == 200
        assert server.asked == [(f"model.example:{port}", "/v1")], "the name stays in the Host header"
        assert resolver["model.example"] == [["203.0.113.9"]], "it was resolved once"


def test_a_name_that_was_public_at_the_check_is_refused_when_it_leads_inside(resolver):
    with serving() as (server, port):
        resolver["model.example"] = [["8.8.8.8"], ["127.0.0.1"]]
        url = f"http://model.example:{port}/v1"
        assert check(url, SITE) == ip_address("8.8.8.8")
        with pytest.raises(ForbiddenAddressError, match=r"127\.0\.0\.1, which is not a public address"):
            posted(url, SITE)
        assert server.asked == []


def test_every_call_looks_again(resolver):
    with serving() as (server, port):
        resolver["model.example"] = [["127.0.0.1"], ["169.254.169.254"]]
        url = f"http://model.example:{port}/"

        async def twice() -> None:
            async with reaching.client(url, LAB, timeout=10) as client:
                assert (await client.post(url)).status_code == 200
                with pytest.raises(ForbiddenAddressError, match=r"169\.254\.169\.254"):
                    await client.post(url)

        run(twice())
        assert len(server.asked) == 1


@pytest.mark.parametrize("rule", [LAB, SITE, Rule(hosts=["127.0.0.1"]), None])
def test_redirects_are_not_followed(rule):
    with serving() as (inside, secret), serving() as (server, port):
        server.redirect = f"http://127.0.0.1:{secret}/metadata"
        url = f"http://127.0.0.1:{port}/v1"
        if rule is SITE:
            with pytest.raises(ForbiddenAddressError):
                posted(url, rule)
        else:
            assert posted(url, rule).status_code == 307
        assert inside.asked == []


def test_of_several_addresses_the_next_is_tried_where_nobody_is(resolver):
    with serving() as (server, port):
        resolver["here.example"] = [["::1", "127.0.0.1"]]
        assert posted(f"http://here.example:{port}/", LAB).status_code == 200
        assert len(server.asked) == 1


@pytest.mark.skipif(not socket.has_ipv6, reason="this machine has no IPv6")
def test_an_address_of_the_newer_kind(resolver):
    with serving("::1") as (server, port):
        resolver["here.example"] = [["::1"]]
        assert posted(f"http://here.example:{port}/", LAB).status_code == 200
        assert server.asked == [(f"here.example:{port}", "/")]


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data",
        "http://[fe80::1]/v1",
        "http://[fd00:ec2::254]/latest",
        "http://[::ffff:169.254.169.254]/",
        "http://[64:ff9b::a9fe:a9fe]/",
    ],
)
def test_where_a_cloud_keeps_keys_is_refused_on_a_laptop_too(url: str):
    for look in (check, resolve_checked):
        with pytest.raises(ForbiddenAddressError, match="not a public address"):
            look(url, LAB)
    with pytest.raises(ForbiddenAddressError):
        posted(url, LAB)


def test_a_listed_host_may_be_anything():
    assert resolve_checked("http://169.254.169.254/", Rule(hosts=["169.254.169.254"])) == [
        ip_address("169.254.169.254")
    ]


def test_a_proxy_of_the_environment_makes_the_connection_but_the_name_is_looked_at(monkeypatch, resolver):
    with serving() as (proxy, port):
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{port}")
        resolver["model.example"] = [["8.8.8.8"]]
        assert posted("http://model.example/v1", SITE).status_code == 200
        assert proxy.asked == [("model.example", "http://model.example/v1")]
        resolver["model.example"] = [["10.0.0.1"]]
        with pytest.raises(ForbiddenAddressError):
            posted("http://model.example/v1", SITE)
        assert len(proxy.asked) == 1


@pytest.mark.parametrize("rule", [LAB, None])
def test_a_packed_answer_is_unpacked_once(rule):
    with serving() as (server, port):
        server.packed = True
        assert posted(f"http://127.0.0.1:{port}/", rule).json() == {"score": 0.5, "data": []}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("rule", [LAB, None])
def test_an_answer_without_end_is_not_read_to_its_end(rule, packed):
    """Packed it is 40 kB, so that what counts is what it becomes."""
    with serving() as (server, port):
        server.body, server.packed = b" " * (reaching.MOST_BYTES + 1), packed
        with pytest.raises(OversizedError, match="more than 32 MB"):
            posted(f"http://127.0.0.1:{port}/", rule)


def test_a_judge_counts_it_as_oversized(monkeypatch):
    monkeypatch.setattr(reaching, "MOST_BYTES", 1_000)
    with serving() as (server, port):
        server.body = b" " * 1_001
        judge = create("openai_compatible", model="m", parameters={"base_url": f"http://127.0.0.1:{port}/v1"})
        reply = run(judge.judge(request()))
        assert (reply.unscored, len(server.asked)) == ("oversized", 1)


def endpoint(url: str) -> Any:
    return create("scorer", model="endpoint", parameters={"url": url, "max_retries": 0}).scorer


class TestScorer:
    def test_a_site_asks_no_private_scorer(self, monkeypatch):
        monkeypatch.setenv("CONCORD_HTTPS", "1")
        with serving() as (server, port):
            found = endpoint(f"http://127.0.0.1:{port}/score")
            assert "not a public address" in found.problems()[0]
            with pytest.raises(PermanentError, match="not a public address"):
                run(found.request_score({"persona": "", "question": "", "response": ""}))
            assert server.asked == []
            monkeypatch.setenv("CONCORD_ALLOWED_MODEL_HOSTS", "127.0.0.1")
            assert endpoint(f"http://127.0.0.1:{port}/score").problems() == []

    def test_it_follows_no_redirect(self):
        with serving() as (inside, secret), serving() as (server, port):
            server.redirect = f"http://127.0.0.1:{secret}/"
            found = endpoint(f"http://127.0.0.1:{port}/score")
            with pytest.raises(PermanentError, match="redirects are not followed"):
                run(found.request_score({"persona": "", "question": "", "response": ""}))
            assert inside.asked == []
