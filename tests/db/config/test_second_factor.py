"""The second factor: its secrets are sealed in the database, and a site may demand one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from unittest.mock import patch

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal import auth as totp
from django.apps import apps
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from config import checks
from core.accounts.models.users import User
from core.accounts.services import tokens
from judging.judges.services import keys
from tests.support.factories import MembershipFactory, UserFactory
from tests.support.second_factors import code_of

pytestmark = pytest.mark.usefixtures("one_moment")
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


def sign_in(client: Client, code: str) -> bool:
    """Whether name, password and a code sign bob in."""
    client.post(reverse("login"), {"login": "bob", "password": "pw"})
    client.post(reverse("mfa_authenticate"), {"code": code})
    return "_auth_user_id" in client.session


def stored() -> str:
    return json.dumps(list(Authenticator.objects.order_by("pk").values_list("data", flat=True)), sort_keys=True)


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


def opens(client: Client, name: str = "my_work") -> bool:
    """Whether a page opens; if not, it leads to setting up a second factor."""
    reply = client.get(reverse(name))
    assert reply.status_code in (200, 403)
    assert (reply.status_code == 403) == (reverse("mfa_activate_totp") in reply.content.decode())
    return reply.status_code == 200


def set_up(client: Client) -> None:
    """Confirm the password, set up an app, and give its first code."""
    address = reverse("mfa_activate_totp")
    client.post(client.get(address).url, {"password": "pw"})
    secret = client.get(address).context["form"].secret
    with patch("django.db.transaction.on_commit", lambda do, **_: do()):  # a test's own transaction never commits
        assert client.post(address, {"code": code_of(secret)}).url == reverse("mfa_view_recovery_codes")


class TestDemand:
    def people(self) -> dict[str, User]:
        owner = MembershipFactory(role="owner").user
        researcher = MembershipFactory(role="researcher").user
        staff, superuser = UserFactory(is_staff=True), UserFactory(is_superuser=True)
        return {"annotator": UserFactory(), "researcher": researcher, "owner": owner, "staff": staff, "root": superuser}

    @pytest.mark.parametrize(
        ("setting", "asked"),
        [
            ("", set()),
            ("staff", {"staff", "root"}),
            ("owners", {"staff", "root", "owner"}),
            ("everyone", {"staff", "root", "owner", "researcher", "annotator"}),
        ],
    )
    def test_it_is_asked_of_whom_the_setting_names(self, db, settings, setting, asked):
        settings.REQUIRE_SECOND_FACTOR = setting
        found = set()
        for role, person in self.people().items():
            client = Client()
            client.force_login(person)
            if not opens(client):
                found.add(role)
        assert found == asked

    def test_who_has_none_sets_one_up_and_goes_on(self, bob, settings):
        settings.REQUIRE_SECOND_FACTOR = "everyone"
        client = Client()
        client.post(reverse("login"), {"login": "bob", "password": "pw"})
        assert not opens(client)
        set_up(client)
        assert opens(client)
        client.post(reverse("mfa_deactivate_totp"))
        assert not opens(client)

    def test_nothing_else_opens_before(self, bob, settings):
        settings.REQUIRE_SECOND_FACTOR = "everyone"
        User.objects.filter(pk=bob.pk).update(is_staff=True, is_superuser=True)
        client = Client()
        client.force_login(bob)
        for address in ("/", "/account/", "/account/tokens/", "/studies/", "/admin/", "/account/password/"):
            assert client.get(address).status_code in (403, 404), address
            assert client.post(address).status_code in (403, 404), address
        reply = client.get("/api/v1/me")
        assert reply.status_code == 403
        assert "second factor" in reply.json()["detail"]
        assert client.post(reverse("logout")).status_code == 302

    def test_a_session_older_than_the_second_factor_ends(self, bob, settings):
        old, new = Client(), Client()
        for client in (old, new):
            client.post(reverse("login"), {"login": "bob", "password": "pw"})
        set_up(new)
        assert opens(old), "where nothing is demanded it goes on"
        settings.REQUIRE_SECOND_FACTOR = "everyone"
        assert opens(new)
        assert old.get(reverse("my_work")).url.startswith(reverse("login"))
        assert "_auth_user_id" not in old.session

    def test_who_signs_in_with_it_is_not_asked_again(self, bob, settings):
        settings.REQUIRE_SECOND_FACTOR = "everyone"
        totp.TOTP.activate(bob, SECRET)
        client = Client()
        assert sign_in(client, code_of(SECRET))
        assert opens(client)

    def test_a_token_is_a_credential_of_its_own(self, bob, settings, client):
        _, text = tokens.make(by=bob, name="script", scopes=["read"])
        settings.REQUIRE_SECOND_FACTOR = "everyone"
        assert client.get("/api/v1/me", headers={"authorization": f"Bearer {text}"}).status_code == 200

    def test_a_word_that_names_nobody_is_an_error_and_means_everyone(self, bob, settings, client):
        settings.REQUIRE_SECOND_FACTOR = "admins"
        assert [found.id for found in checks.second_factor_is_of_somebody()] == ["concord.E010"]
        client.force_login(bob)
        assert not opens(client)
        settings.REQUIRE_SECOND_FACTOR = "staff"
        assert checks.second_factor_is_of_somebody() == []
