"""Signing in: guessing is slowed down, a second factor is asked for, and the lab's own accounts work."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from allauth.mfa.totp.internal import auth as totp
from cryptography.hazmat.primitives.asymmetric import rsa
from django.core.cache import cache
from django.core.cache.backends.filebased import FileBasedCache
from django.db import connection
from django.test import Client
from django.urls import reverse

from config.accounts import Accounts
from config.broker import CACHE_TABLE, FileCache, build_shared_cache
from config.settings import build_sign_on_providers
from core.accounts.models.users import User
from tests.support.factories import UserFactory
from tests.support.second_factors import code_of

pytestmark = pytest.mark.usefixtures("one_moment")


@pytest.fixture(autouse=True)
def nothing_counted() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def bob(db) -> User:
    return UserFactory(username="bob", password="right-one-7")


def attempt(client: Client, password: str, name: str = "bob") -> Any:
    return client.post(reverse("login"), {"login": name, "password": password})


def test_who_signs_in_is_told_nothing_that_would_stay_over_the_next_item(client, bob):
    page = client.post(reverse("login"), {"login": "bob", "password": "right-one-7"}, follow=True)
    assert page.context["user"] == bob
    assert list(page.context["messages"]) == []


class TestGuessing:
    def test_after_five_wrong_passwords_the_right_one_waits_too(self, client, bob):
        for _ in range(5):
            assert attempt(client, "wrong").status_code == 200
        reply = attempt(client, "right-one-7")
        assert reply.status_code == 200
        assert "Too many failed login attempts" in reply.content.decode()
        assert "_auth_user_id" not in client.session

    @pytest.mark.any_database
    def test_the_owner_of_a_guessed_name_comes_in_from_elsewhere(self, client, bob):
        for _ in range(30):
            attempt(client, "wrong")
        assert attempt(Client(REMOTE_ADDR="192.0.2.7"), "right-one-7").status_code == 302

    def test_guesses_at_a_name_from_many_addresses_are_slowed_down_together(self, client, bob, settings):
        settings.ACCOUNT_RATE_LIMITS = {**settings.ACCOUNT_RATE_LIMITS, "login_failed_anywhere": "7/h/key"}
        for last in range(1, 8):
            attempt(Client(REMOTE_ADDR=f"192.0.2.{last}"), "wrong", "Bob")
        elsewhere = Client(REMOTE_ADDR="192.0.2.99")
        assert "Too many failed login attempts" in attempt(elsewhere, "right-one-7").content.decode()
        UserFactory(username="eve", password="another-9")
        assert attempt(elsewhere, "another-9", "eve").status_code == 302

    def test_sixty_who_sign_in_at_once_behind_one_address_all_pass(self, rf):
        request = rf.post(reverse("login"))
        for number in range(60):  # the password of none of them has been looked at yet
            Accounts().pre_authenticate(request, username=f"person-{number}", password="right")

    def test_the_right_password_uses_nothing_up(self, client, bob, settings):
        settings.ACCOUNT_RATE_LIMITS = {"login_failed": "2/5m/key", "login_failed_anywhere": "2/h/key"}
        for _ in range(4):
            assert attempt(Client(), "right-one-7").status_code == 302

    def test_capitals_are_no_way_round(self, client, bob):
        for name in ("bob", "Bob", "BOB", "bOb", "boB"):
            attempt(client, "wrong", name)
        assert "Too many failed login attempts" in attempt(client, "right-one-7").content.decode()

    def test_others_are_not_held_up(self, client, bob):
        for _ in range(6):
            attempt(client, "wrong")
        UserFactory(username="eve", password="another-9")
        assert attempt(Client(), "another-9", "eve").status_code == 302

    def test_an_unknown_name_gets_the_same_answer_as_a_wrong_password(self, client, bob):
        unknown, wrong = attempt(client, "x", "nobody"), attempt(client, "x")
        errors = [reply.context["form"].non_field_errors() for reply in (unknown, wrong)]
        assert errors[0] == errors[1]

    def test_another_port_in_the_request_is_no_way_round(self, client, bob):
        for port in range(81, 86):
            client.post(reverse("login"), {"login": "bob", "password": "wrong"}, HTTP_HOST=f"testserver:{port}")
        assert "Too many failed login attempts" in attempt(client, "right-one-7").content.decode()

    def test_processes_count_together(self, tmp_path):
        sqlite, postgresql, redis = "django.db.backends.sqlite3", "config.postgresql", "redis://broker:6379/0"
        assert "FileCache" in build_shared_cache("filesystem://", sqlite, tmp_path)["BACKEND"]
        assert "FileCache" in build_shared_cache("amqp://broker", sqlite, tmp_path)["BACKEND"]
        assert "DatabaseCache" in build_shared_cache("amqp://broker", postgresql, tmp_path)["BACKEND"]
        assert [build_shared_cache(redis, engine, tmp_path)["LOCATION"] for engine in (sqlite, postgresql)] == [
            redis,
            redis,
        ]

    def test_many_made_up_names_do_not_push_out_a_counter(self, tmp_path):
        made = build_shared_cache("filesystem://", "django.db.backends.sqlite3", tmp_path)
        cache = FileCache(made["LOCATION"], made)
        cache.set("attempts:alice", 4)
        for number in range(400):
            cache.set(f"attempts:{number}", 1)
        assert cache.get("attempts:alice") == 4
        assert len(list(tmp_path.glob("*.djcache"))) == 401

    def test_two_who_lock_a_counter_in_files_at_once_do_not_both_have_it(self, monkeypatch, tmp_path):
        def looks_slowly(self: FileCache, *args: Any) -> bool:
            found = has_key(self, *args)
            time.sleep(0.05)
            return found

        has_key = FileBasedCache.has_key
        monkeypatch.setattr(FileBasedCache, "has_key", looks_slowly)
        with ThreadPoolExecutor(4) as pool:
            won = list(pool.map(lambda _: FileCache(str(tmp_path), {}).add("lock", True), range(4)))
        assert sorted(won) == [False, False, False, True]

    def test_where_there_is_no_redis_they_count_in_the_database(self, client, bob, settings, tmp_path):
        settings.CACHES = {"default": build_shared_cache("amqp://broker", "config.postgresql", tmp_path)}
        for _ in range(5):
            attempt(client, "wrong")
        assert "Too many failed login attempts" in attempt(client, "right-one-7").content.decode()
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT count(*) FROM {CACHE_TABLE}")
            assert cursor.fetchone()[0] > 0


class TestSecondFactor:
    def test_a_password_alone_no_longer_opens_the_account(self, client, bob):
        secret = totp.generate_totp_secret()
        totp.TOTP.activate(bob, secret)
        reply = attempt(client, "right-one-7")
        assert reply.url.startswith(reverse("mfa_authenticate"))
        assert client.get(reverse("my_work")).status_code == 302
        assert "wrong" not in client.post(reply.url, {"code": "000000"}).headers.get("Location", "")
        assert client.get(reverse("my_work")).status_code == 302
        client.post(reverse("mfa_authenticate"), {"code": code_of(secret)})
        assert client.get(reverse("my_work")).status_code == 200

    def test_the_account_page_leads_to_it(self, client, bob):
        client.force_login(bob)
        html = client.get(reverse("account")).content.decode()
        assert reverse("mfa_index") in html
        assert "Not set up" in html
        assert client.get(reverse("account_change_password")).status_code == 200

    def test_nobody_makes_an_account_without_an_invitation(self, client, db):
        client.post(
            reverse("account_signup"), {"username": "x", "password1": "long-enough-8", "password2": "long-enough-8"}
        )
        assert not User.objects.filter(username="x").exists()


class Lab(BaseHTTPRequestHandler):
    """An OpenID Connect provider on this machine that knows one person."""

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    nonce: str | None = None

    def do_GET(self) -> None:
        issuer = f"http://{self.headers['Host']}"
        if self.path.endswith("openid-configuration"):
            paths = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
            paths["userinfo_endpoint"] = "userinfo"
            self.say({"issuer": issuer, **{name: f"{issuer}/{path}" for name, path in paths.items()}})
        elif self.path == "/userinfo":
            self.say({"sub": "42", "preferred_username": "dana", "name": "Da\u202ena \nLee"})
        else:
            public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
            self.say({"keys": [{**public, "kid": "1", "alg": "RS256", "use": "sig"}]})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        now = int(time.time())
        claims = {
            "iss": f"http://{self.headers['Host']}",
            "aud": "concord",
            "sub": "42",
            "iat": now,
            "exp": now + 60,
            "preferred_username": "dana",
            "name": "Da\u202ena \nLee",
            **({"nonce": Lab.nonce} if Lab.nonce else {}),
        }
        token = jwt.encode(claims, self.key, algorithm="RS256", headers={"kid": "1"})
        self.say({"access_token": "a", "token_type": "Bearer", "id_token": token, "expires_in": 60})

    def say(self, document: dict[str, Any]) -> None:
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Keep the tests' output clean."""


@pytest.fixture
def lab(settings) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Lab)
    Thread(target=server.serve_forever, daemon=True).start()
    issuer = f"http://127.0.0.1:{server.server_port}"
    settings.SOCIALACCOUNT_PROVIDERS = build_sign_on_providers(
        {"CONCORD_OIDC_ISSUER": issuer, "CONCORD_OIDC_CLIENT_ID": "concord", "CONCORD_OIDC_NAME": "the lab"}
    )
    yield issuer
    server.shutdown()
    server.server_close()


class TestSingleSignOn:
    def come_in(self, client: Client, lab: str) -> Any:
        away = client.post(reverse("openid_connect_login", args=["lab"]))
        assert away.url.startswith(f"{lab}/authorize")
        asked = {key: values[0] for key, values in parse_qs(urlsplit(away.url).query).items()}
        Lab.nonce = asked.get("nonce")
        return client.get(reverse("openid_connect_callback", args=["lab"]), {"code": "c", "state": asked["state"]})

    def test_a_person_of_the_lab_comes_in_as_an_annotator(self, client, db, lab):
        assert "Sign in with the lab" in client.get(reverse("login")).content.decode()
        assert self.come_in(client, lab).status_code == 302
        dana = User.objects.get(username="dana")
        assert client.get(reverse("my_work")).status_code == 200
        assert not dana.is_researcher
        assert (dana.first_name, dana.last_name) == ("Dana", "Lee")

    @pytest.mark.any_database
    def test_strangers_stay_out_where_accounts_are_not_made(self, client, db, lab, settings):
        settings.SINGLE_SIGN_ON_MAKES_ACCOUNTS = False
        self.come_in(client, lab)
        assert not User.objects.exists()
        assert client.get(reverse("my_work")).status_code == 302

    def test_without_an_issuer_there_is_no_button(self, client, db):
        assert build_sign_on_providers({}) == {}
        assert "Sign in with" not in client.get(reverse("login")).content.decode()
