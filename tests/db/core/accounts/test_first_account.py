"""An empty site: the link that the server prints makes one account, once, and signs nobody in."""

from __future__ import annotations

import pytest
from django.core import signing
from django.core.management import call_command
from django.urls import reverse

from config import supervision
from core.accounts.models.users import User
from core.accounts.services import first_account
from core.audit.models import Act
from core.errors import InputError
from tests.support.factories import UserFactory

pytestmark = pytest.mark.django_db

GIVEN = {"username": "ada", "password1": "a-long-enough-secret", "password2": "a-long-enough-secret"}


def address(key: str = "") -> str:
    return reverse("first_account", args=[key or first_account.sign_key()])


def test_the_link_makes_the_account_which_then_signs_in(client):
    assert "make serve" in client.get(reverse("login")).content.decode()
    answer = client.post(address(), GIVEN, follow=True)
    assert answer.redirect_chain == [(reverse("login"), 302)]
    assert "The account is created" in answer.content.decode()
    assert not answer.wsgi_request.user.is_authenticated
    ada = User.objects.get()
    assert (ada.username, ada.is_superuser, ada.is_researcher) == ("ada", True, True)
    assert Act.objects.filter(verb="account.create_first").count() == 1
    assert "secret" not in str(Act.objects.values_list("arguments", flat=True))
    client.post(reverse("login"), {"login": "ada", "password": GIVEN["password1"]})
    assert client.get(reverse("study_list")).status_code == 200
    assert "make serve" not in client.get(reverse("logout")).content.decode()


def test_the_rules_of_a_password_are_within_what_describes_the_field(client):
    said = client.get(address()).content.decode()
    assert '<div class="field__help" id="id_password1_helptext"><ul>' in said, "a paragraph ends where a list begins"


@pytest.mark.parametrize("key", ["x", signing.dumps("", salt="another page")], ids=["no key", "another key"])
def test_without_a_valid_key_there_is_no_such_page(client, key):
    assert client.get(address(key)).status_code == client.post(address(key), GIVEN).status_code == 404
    assert not User.objects.exists()


def test_an_old_link_opens_nothing(client, monkeypatch):
    monkeypatch.setattr(first_account, "SECONDS", -1)
    assert client.post(address(), GIVEN).status_code == 404


def test_with_an_account_the_link_opens_nothing(client):
    UserFactory()
    assert client.get(address()).status_code == client.post(address(), GIVEN).status_code == 404
    with pytest.raises(InputError, match="has an account already"):
        first_account.create(by=None, username="eve", password="a-long-enough-secret")
    assert User.objects.count() == 1


def test_imported_annotators_are_no_account(client):
    UserFactory(kind=User.Kind.IMPORTED)
    assert client.get(address()).status_code == 200


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"password2": "another"}, "didn’t match"),
        ({"password1": "short", "password2": "short"}, "too short"),
        ({"username": ""}, "required"),
    ],
)
def test_what_does_not_do_is_said_at_its_field(client, change, said):
    answer = client.post(address(), GIVEN | change)
    assert said in answer.content.decode()
    assert not User.objects.exists()


@pytest.mark.parametrize("is_new", [True, False])
def test_serve_prints_the_link_where_nobody_has_an_account(monkeypatch, capsys, settings, tmp_path, is_new):
    settings.DATA_DIR = settings.STATIC_ROOT = tmp_path
    if not is_new:
        UserFactory()
    monkeypatch.setattr(supervision, "check_free", lambda host, port: None)
    monkeypatch.setattr("os.execve", lambda *args: None)
    call_command("serve", port=8123)
    assert ("http://127.0.0.1:8123/first-account/" in capsys.readouterr().out) is is_new
