"""What one request may ask for: its size, its query, its headers, its lists, and how many there may be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from annotation.agreement.api import NewLabels
from annotation.studies.models.studies import Study
from config import gunicorn
from config.api.views import load_document
from config.middleware import LONGEST_QUERY
from core.accounts.models.tokens import IdempotentWrite
from core.accounts.models.users import User
from core.accounts.services import tokens
from core.api import requests
from core.api.base import MOST_AT_ONCE
from core.api.requests import AccountThrottle
from tests.support.factories import ResearcherFactory, UserFactory
from tests.support.labelled import with_items

pytestmark = pytest.mark.django_db


@pytest.fixture
def rosa() -> User:
    return ResearcherFactory(username="rosa")


def calling(user: User, *scopes: str) -> APIClient:
    _, token = tokens.make(by=user, name="limits", scopes=scopes or ["read", "research"])
    client = APIClient(raise_request_exception=False)
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    client.default_format = "json"
    return client


class TestSizes:
    def test_a_body_of_json_is_refused_before_it_becomes_objects(self, rosa, monkeypatch):
        monkeypatch.setattr(requests, "LARGEST", 1000)
        monkeypatch.setattr(requests, "parse_json", lambda content: pytest.fail("it was read"))
        answer = calling(rosa).generic("POST", "/api/v1/studies", "[" + "[]," * 400 + "[]]", "application/json")
        assert (answer.status_code, answer.json()["status"]) == (413, 413)

    @pytest.mark.parametrize("length", ["", "-1", "x", "1e9", "\u00b2", " 7", "0x10"])
    def test_a_length_that_is_none_reads_nothing(self, rosa, length):
        """\u00b2 is a digit by what Python says, and no number."""
        answer = calling(rosa).generic(
            "POST", "/api/v1/studies", '{"name": "x"}', "application/json", CONTENT_LENGTH=length
        )
        assert answer.status_code == 400
        assert not Study.objects.exists()

    def test_more_rows_than_one_request_may_hold(self, rosa):
        with_items(2, name="Suits", slug="suits")
        assert NewLabels().fields["labels"].max_length == 100_000
        items = [{"item": "x", "purpose": "gold"}] * 10_001
        answer = calling(rosa).post("/api/v1/studies/suits/known", {"items": items})
        assert answer.status_code == 400
        assert "no more than 10000 elements" in answer.text


def test_what_nobody_caught_is_a_problem_document_too(rosa, monkeypatch):
    def break_down(*args: Any, **kwargs: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("core.audit.api.list_events", break_down)
    answer = calling(rosa).get("/api/v1/acts")
    assert (answer.status_code, answer["Content-Type"]) == (500, "application/problem+json")
    assert answer.json()["detail"].startswith("Something broke on our side.")


class TestQueries:
    def test_the_web_server_lets_pass_what_the_site_refuses_in_words(self):
        assert gunicorn.limit_request_line > LONGEST_QUERY + 4000

    def test_one_that_is_too_long_is_refused_on_pages_and_by_the_api(self, rosa, client):
        """SQLite cannot search for 50,000 characters, and Python reads no number of 5,000 digits."""
        long = "x" * LONGEST_QUERY
        answer = calling(rosa).get("/api/v1/search", {"q": long})
        assert (answer.status_code, answer["Content-Type"]) == (414, "application/problem+json")
        client.force_login(rosa)
        page = client.get("/search/", {"q": long})
        assert page.status_code == 414
        assert "The address is too long." in page.text
        assert client.get("/search/", {"q": "x" * 3000}).status_code == 200
        assert calling(rosa).get("/api/v1/search", {"q": "%" * 1300}).status_code == 200

    def paged(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Address and parameter of every list that comes by pages."""
        for path, methods in load_document()["paths"].items():
            for one in methods.get("get", {}).get("parameters", []):
                if one["name"] == "limit":
                    yield path, one["schema"]

    def test_no_list_gives_more_than_a_thousand_rows(self):
        lists = dict(self.paged())
        assert len(lists) > 20
        assert {path for path, schema in lists.items() if schema.get("maximum", 10**9) > MOST_AT_ONCE} == set()

    @pytest.mark.parametrize("limit", ["1001", "0", "-1", "9" * 30, "9" * 3000, "1e3", "NaN", "", "\u0661"])
    def test_a_page_of_another_size_is_refused_at_its_field(self, rosa, limit):
        answer = calling(rosa).get("/api/v1/studies", {"limit": limit})
        assert (answer.status_code, answer.json().get("field")) in {(400, "limit"), (200, None)}
        assert answer.status_code == 400 or limit == "\u0661"  # the number one, in Arabic digits

    def test_a_name_that_stands_twice_or_is_not_known(self, rosa):
        assert calling(rosa).get("/api/v1/studies?limit=1&limit=100000").status_code == 400
        assert calling(rosa).get("/api/v1/studies?limits=1").status_code == 400
        assert calling(rosa).get("/api/v1/studies?" + "&".join(f"x{n}=" for n in range(500))).status_code == 400


class TestHeaders:
    @pytest.mark.parametrize(
        ("headers", "status"),
        [
            ({"Authorization": "Bearer " + "x" * 100_000}, 401),
            ({"Authorization": "Bearer"}, 401),
            ({"Authorization": "Bearer a b"}, 401),
            ({"Authorization": "Bearer caf\u00e9"}, 401),
            ({"Authorization": "Basic cm9zYTpw"}, 401),
            ({"Authorization": ""}, 401),
            ({"Host": "evil.example"}, 400),
            ({"X-Request-ID": "x" * 10_000}, 200),
            ({"X-Request-ID": "a\nb"}, 200),
            ({"Accept": "text/html;q=x, */*;" + "a" * 10_000}, 200),
            ({"Accept-Language": "de;q=" + "9" * 10_000}, 200),
            ({"Cookie": "sessionid=" + "x" * 10_000 + "; csrftoken=\u00e9"}, 200),
            ({"Range": "bytes=0-," * 1000}, 200),
            ({"If-Modified-Since": "x" * 10_000}, 200),
        ],
    )
    def test_nonsense_in_one_is_no_fault_of_the_site(self, rosa, headers, status):
        client = APIClient(raise_request_exception=False) if "Authorization" in headers else calling(rosa)
        assert client.get("/api/v1/studies", headers=headers).status_code == status

    @pytest.mark.parametrize(
        ("kind", "status"),
        [
            ("multipart/form-data", 400),
            ("multipart/form-data; boundary=" + "x" * 1000, 400),
            ("multipart/form-data; boundary=\u00e9", 400),
            ("multipart/form-data; boundary=x; charset=hex", 400),
            ("multipart/form-data; boundary=x; charset=utf-16", 400),
            ("application/x-www-form-urlencoded; charset=hex", 415),
            ("x" * 10_000, 415),
            ("", 415),
        ],
    )
    def test_a_type_of_body_that_is_none(self, rosa, kind, status):
        body = b'--x\r\nContent-Disposition: form-data; name="format"\r\n\r\ndialogues\r\n--x--\r\n'
        assert calling(rosa).generic("POST", "/api/v1/imports", body, kind).status_code == status

    @pytest.mark.parametrize("kind", ["multipart/form-data; boundary=x; charset=hex", "text/plain; charset=rot13"])
    def test_a_charset_that_is_none_in_a_form_of_a_page(self, client, kind):
        client.raise_request_exception = False
        body = b'--x\r\nContent-Disposition: form-data; name="login"\r\n\r\nbob\r\n--x--\r\n'
        assert client.generic("POST", "/login/", body, kind).status_code in (200, 400)


class TestRates:
    @pytest.fixture(autouse=True)
    def two_a_minute(self, monkeypatch):
        monkeypatch.setattr(AccountThrottle, "get_rate", lambda self: "2/min")
        cache.clear()

    def test_another_token_of_an_account_gives_no_more(self, rosa):
        assert [calling(rosa).get("/api/v1/me").status_code for _ in range(3)] == [200, 200, 429]

    def test_nor_do_another_address_a_session_or_a_header(self, rosa):
        client = calling(rosa)
        assert client.get("/api/v1/me").status_code == 200
        assert client.get("/api/v1/studies").status_code == 200
        forwarded = client.get("/api/v1/me", headers={"X-Forwarded-For": "1.2.3.4", "X-Real-IP": "1.2.3.4"})
        session = APIClient()
        session.force_login(rosa)
        assert (forwarded.status_code, session.get("/api/v1/me").status_code) == (429, 429)

    def test_a_write_beyond_it_is_not_done_and_one_account_does_not_slow_another(self, rosa):
        client = calling(rosa)
        for _ in range(2):
            client.get("/api/v1/me")
        refused = client.post("/api/v1/studies", {"name": "x", "kind": "pair"}, headers={"Idempotency-Key": "k"})
        assert (refused.status_code, Study.objects.count(), IdempotentWrite.objects.count()) == (429, 0, 0)
        assert calling(UserFactory(username="bob"), "annotate").get("/api/v1/me").status_code == 200


class TestKeysOfWrites:
    NEW = {"name": "Once", "kind": "dialogue"}

    def post(self, client: APIClient, key: str = "k") -> Any:
        return client.post("/api/v1/studies", self.NEW, headers={"Idempotency-Key": key})

    def test_a_kept_answer_is_not_given_to_who_may_no_longer_ask(self, rosa):
        assert self.post(calling(rosa)).status_code == 201
        assert self.post(calling(rosa, "read")).status_code == 403
        User.objects.filter(pk=rosa.pk).update(is_researcher=False)
        assert self.post(calling(User.objects.get(pk=rosa.pk), "annotate")).status_code == 403
        assert IdempotentWrite.objects.count() == 1

    def test_a_key_on_what_only_reads_is_not_kept(self, rosa):
        assert calling(rosa).get("/api/v1/studies", headers={"Idempotency-Key": "k"}).status_code == 200
        assert not IdempotentWrite.objects.exists()

    @pytest.mark.parametrize("key", ["k\n", "k\x00", "\u00e9", " " * 101, "../../x' OR 1=1 --", "%00", "*"])
    def test_a_key_is_a_text_and_nothing_else(self, rosa, key):
        first = self.post(calling(rosa), key)
        assert first.status_code in (201, 400)
        assert self.post(calling(rosa), key).status_code == first.status_code
        assert Study.objects.count() == IdempotentWrite.objects.count() == (first.status_code == 201)

    def test_a_file_counts_by_what_is_in_it(self, rosa):
        """The same name and size under the same key is another request."""
        client = calling(rosa)

        def send(text: str) -> int:
            file = SimpleUploadedFile("dialogues.jsonl", text.encode())
            data = {"format": "dialogues", "file": file}
            key = {"Idempotency-Key": "file"}
            answer: int = client.post("/api/v1/imports", data, format="multipart", headers=key).status_code
            return answer

        line = '{"id": "%s", "turns": [{"role": "user", "content": "Hi"}]}'
        assert [send(line % "a"), send(line % "b"), send(line % "a")] == [200, 422, 200]
