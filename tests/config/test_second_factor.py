"""The second factor: its secrets are sealed in the database, and a site may demand one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal import auth as totp
from django.apps import apps
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from annotation.models import User
from judging.services import keys
from tests.factories import UserFactory

sealing_migration = import_module("judging.migrations.0014_second_factors_are_sealed")
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


@pytest.fixture(autouse=True)
def nothing_counted() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def bob(db: None) -> User:
    return UserFactory(username="bob", password="pw")


def code_of(secret: str) -> str:
    return totp.format_hotp_value(totp.hotp_value(secret, next(iter(totp.yield_hotp_counters_from_time()))))


def sign_in(client: Client, code: str) -> bool:
    """Whether name, password and a code sign bob in."""
    client.post(reverse("login"), {"login": "bob", "password": "pw"})
    client.post(reverse("mfa_authenticate"), {"code": code})
    return "_auth_user_id" in client.session


def stored() -> str:
    return json.dumps(list(Authenticator.objects.values_list("data", flat=True)))


class TestSealing:
    def test_the_database_holds_no_readable_secret(self, bob):
        totp.TOTP.activate(bob, SECRET)
        seed = RecoveryCodes.activate(bob)
        assert SECRET not in stored()
        assert "".join(seed.generate_codes()) not in stored()
        assert sign_in(Client(), code_of(SECRET))
        assert sign_in(Client(), seed.get_unused_codes()[0])

    def test_secrets_that_stood_readable_are_sealed_and_go_on_working(self, bob):
        Authenticator.objects.create(user=bob, type="totp", data={"secret": SECRET})
        Authenticator.objects.create(user=bob, type="recovery_codes", data={"seed": "5eed", "used_mask": 1})
        Authenticator.objects.create(
            user=UserFactory(), type="recovery_codes", data={"migrated_codes": ["11223344"], "used_mask": 0}
        )
        before = stored()
        sealing_migration.seal_all(apps, None)
        assert not any(text in stored() for text in (SECRET, "5eed", "11223344"))
        assert sign_in(Client(), code_of(SECRET))
        Authenticator.objects.filter(type="totp").update(last_used_at=None)
        sealing_migration.unseal_all(apps, None)
        assert stored() == before

    def test_a_rotation_of_the_sealing_secret_takes_them_along(self, bob, settings):
        settings.SEALING_SECRETS = ["old"]
        totp.TOTP.activate(bob, SECRET)
        RecoveryCodes.activate(bob)
        settings.SEALING_SECRETS = ["new", "old"]
        assert sign_in(Client(), code_of(SECRET))
        assert keys.reseal(by=None) == {"sealed": 2, "unreadable": 0}
        settings.SEALING_SECRETS = ["new"]
        cache.clear()  # a code is good once
        assert sign_in(Client(), code_of(SECRET))

    def test_what_cannot_be_read_is_said_where_the_code_is_entered(self, bob, settings):
        settings.SEALING_SECRETS = ["old"]
        totp.TOTP.activate(bob, SECRET)
        settings.SEALING_SECRETS = ["new"]
        client = Client()
        client.post(reverse("login"), {"login": "bob", "password": "pw"})
        page = client.post(reverse("mfa_authenticate"), {"code": code_of(SECRET)})
        assert "sealed with a secret that is gone" in page.content.decode()
        assert "_auth_user_id" not in client.session
        assert keys.reseal(by=None) == {"sealed": 0, "unreadable": 1}
