"""One way in: no address of the site signs anybody in past the limit of wrong passwords or the second factor."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from allauth.mfa.totp.internal import auth as totp
from django.core.cache import cache
from django.test import Client
from django.urls import get_resolver, reverse

from core.accounts.models.users import User
from tests.db.config.test_permissions import routes, rule_of
from tests.support.factories import UserFactory
from tests.support.paths import ROOT

BASE = ROOT
PASSWORD = "right-one-7"
NAMES = ("login", "username", "user", "name", "email")
SECRETS = ("password", "password1", "password2", "oldpassword", "old_password", "new_password1", "new_password2")
GUARDED = ("signed_in", "adjudicator", "researcher", "owner")
"""Rules that send away whoever has not signed in; test_permissions.py asks each."""

OF_A_TABLE = re.compile(r"admin/(?!annotation/user/)\w+/\w+/")
"""The administration has the same pages for each table; those of accounts stand for all."""


@pytest.fixture(autouse=True)
def nothing_counted() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def bob(db: None) -> User:
    return UserFactory(username="bob", password=PASSWORD, is_staff=True, is_superuser=True)


def addresses() -> list[str]:
    """Every address that anybody may ask, with something in place of its parts."""
    found = [(route, view) for _, route, view in routes(get_resolver().url_patterns) if rule_of(view) not in GUARDED]
    return sorted({"/" + fill(route) for route, _ in found if not OF_A_TABLE.match(route)})


def fill(route: str) -> str:
    """The route with "1" in place of each part that varies."""
    return re.sub(r"\(\?P<\w+>\[\^/\]\+\)|\(\?P<\w+>[^/]*\)|<[^>]*>", "1", route)


def ways_in(client: Client) -> list[str]:
    """The addresses that sign bob in for his name and password."""
    given = dict.fromkeys(NAMES, "bob") | dict.fromkeys(SECRETS, PASSWORD)
    before, found = client.cookies.copy(), []
    for address in addresses():
        client.cookies = before.copy()
        client.post(address, given)
        if client.session.get("_auth_user_id") == str(bob_id()):
            found.append(address)
    return found


def bob_id() -> Any:
    return User.objects.values_list("pk", flat=True).get(username="bob")


def lock(name: str) -> None:
    for _ in range(5):
        Client().post(reverse("login"), {"login": name, "password": "wrong"})


def test_the_sign_in_page_is_the_only_way_in(bob: User) -> None:
    assert ways_in(Client(raise_request_exception=False)) == ["/login/"]


def test_no_address_passes_by_the_limit(bob: User) -> None:
    lock("bob")
    assert ways_in(Client(raise_request_exception=False)) == []


def test_no_address_passes_by_the_second_factor(bob: User) -> None:
    totp.TOTP.activate(bob, totp.generate_totp_secret())
    assert ways_in(Client(raise_request_exception=False)) == []


def test_nor_for_staff_who_have_signed_in_themselves(bob: User) -> None:
    lock("bob")
    client = Client(raise_request_exception=False)
    client.force_login(UserFactory(is_staff=True))
    assert ways_in(client) == []


SIGNS_IN = re.compile(
    r"\bfrom django\.contrib\.auth import [^\n]*\b(login|authenticate)\b|\bauth\.(login|authenticate)\("
)


def test_no_code_of_the_site_signs_in_past_allauth() -> None:
    """Django's own functions know neither limit nor second factor; allauth's `perform_login` does."""
    files = [
        path for app in ("annotation", "judging", "simulation", "config", "core") for path in (BASE / app).rglob("*.py")
    ]
    assert len(files) > 500
    assert [str(path) for path in files if SIGNS_IN.search(path.read_text())] == []
    assert SIGNS_IN.search("from django.contrib.auth import login, logout")
