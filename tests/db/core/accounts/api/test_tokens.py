"""Tokens: shown once, kept as a hash, with scopes that never add to an account's role, until they end."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from core.accounts.models.tokens import ApiToken
from core.accounts.services import tokens
from core.errors import InputError
from tests.support.factories import MembershipFactory


def test_only_the_hash_of_a_token_is_kept(alice):
    token, text = tokens.make(by=alice, name="nightly", scopes=["read"])
    row = ApiToken.objects.values().get()
    assert text not in json.dumps(row, default=str)
    assert row["digest"] == hashlib.sha256(text.encode()).hexdigest()
    assert text.startswith(token.hint)


@pytest.mark.parametrize("end", ["revoked", "expired", "closed", "altered"])
def test_a_token_that_has_ended_opens_nothing(alice, client, end):
    token, text = tokens.make(by=alice, name="nightly", scopes=["read"])
    headers = {"Authorization": f"Bearer {text}"}
    assert client.get("/api/v1/me", headers=headers).json()["username"] == "alice"
    if end == "revoked":
        tokens.revoke(by=alice, token=token)
    elif end == "expired":
        ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    elif end == "closed":
        alice.is_active = False
        alice.save()
    else:
        headers = {"Authorization": f"Bearer {text[:-1]}"}
    answer = client.get("/api/v1/me", headers=headers)
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"].startswith("Bearer")
    assert answer["Content-Type"] == "application/problem+json"


def test_a_token_notes_when_it_was_used_at_most_once_a_minute(alice, client, django_assert_num_queries):
    _, text = tokens.make(by=alice, name="nightly", scopes=["read"])
    headers = {"Authorization": f"Bearer {text}"}
    with django_assert_num_queries(2):
        client.get("/api/v1/me", headers=headers)
    assert ApiToken.objects.get().last_used_at
    with django_assert_num_queries(1):
        client.get("/api/v1/me", headers=headers)


@pytest.mark.parametrize(
    ("scope", "method", "address", "status"),
    [
        ("read", "get", "/api/v1/studies", 200),
        ("read", "post", "/api/v1/studies", 403),
        ("annotate", "get", "/api/v1/studies", 403),
        ("annotate", "get", "/api/v1/work", 200),
        ("read", "post", "/api/v1/work/suits/next", 403),
        ("research", "get", "/api/v1/studies", 200),
        ("research", "post", "/api/v1/studies", 400),
        ("admin", "get", "/api/v1/studies", 403),
        ("admin", "get", "/api/v1/me", 200),
    ],
)
def test_a_scope_allows_what_it_names_and_no_more(alice, caller, scope, method, address, status):
    answer = getattr(caller(alice, scope), method)(address)
    assert answer.status_code == status
    if status == 403:
        assert "scope" in answer.json()["detail"]


def test_no_scope_makes_an_annotator_a_researcher(bob, caller):
    with pytest.raises(InputError, match="not a researcher"):
        tokens.make(by=bob, name="more", scopes=["research"])
    ApiToken.objects.all().delete()
    client = caller(bob, "read")
    ApiToken.objects.update(scopes=["read", "research", "admin", "annotate"])
    assert client.get("/api/v1/studies").status_code == 403
    assert client.get("/api/v1/work").status_code == 200


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 81}, "name"),
        ({"scopes": []}, "scopes"),
        ({"scopes": ["all"]}, "scopes"),
        ({"days": 0}, "days"),
        ({"days": 4000}, "days"),
    ],
)
def test_a_token_that_makes_no_sense_is_refused(alice, wrong, field):
    with pytest.raises(InputError) as refused:
        tokens.make(by=alice, **{"name": "nightly", "scopes": ["read"], **wrong})
    assert refused.value.field == field


def test_the_page_shows_a_token_once(alice, client):
    client.force_login(alice)
    page = reverse("token_list")
    answer = client.post(page, {"name": "nightly <b>", "scopes": ["read", "research"], "days": "30"})
    text = answer.context["made"][1]
    assert text in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    later = client.get(page).content.decode()
    assert text not in later
    assert "nightly &lt;b&gt;" in later
    assert tokens.authenticate_token(text)


def test_the_page_revokes_ones_own_tokens_only(alice, bob, client):
    token, text = tokens.make(by=alice, name="nightly", scopes=["read"])
    client.force_login(bob)
    assert client.post(reverse("token_revoke", args=[token.pk])).status_code == 404
    assert tokens.authenticate_token(text)
    client.force_login(alice)
    client.post(reverse("token_revoke", args=[token.pk]))
    assert tokens.authenticate_token(text) is None


def test_an_annotator_is_not_offered_a_researchers_scopes(bob, client):
    client.force_login(bob)
    page = client.get(reverse("token_list")).content.decode()
    assert 'value="annotate"' in page
    assert 'value="research"' not in page
    assert 'value="adjudicate"' not in page
    answer = client.post(reverse("token_list"), {"name": "x", "scopes": ["research"], "days": ""})
    assert answer.context["made"] is None


def test_an_adjudicator_is_offered_to_decide(bob, client):
    MembershipFactory(user=bob, role="adjudicator")
    client.force_login(bob)
    page = client.get(reverse("token_list")).content.decode()
    assert 'value="adjudicate"' in page
    assert 'value="research"' not in page
    answer = client.post(reverse("token_list"), {"name": "x", "scopes": ["read", "adjudicate"], "days": "30"})
    assert answer.context["made"][0].scopes == ["read", "adjudicate"]


def test_the_api_lists_and_revokes_tokens(alice, bob, caller):
    client = caller(alice, "read")
    other, _ = tokens.make(by=alice, name="other", scopes=["read"])
    foreign, _ = tokens.make(by=bob, name="bobs", scopes=["read"])
    found = client.get("/api/v1/tokens").json()
    assert [one["name"] for one in found] == ["test", "other"]
    assert "digest" not in found[0]
    assert client.delete(f"/api/v1/tokens/{foreign.pk}").status_code == 404
    assert client.delete(f"/api/v1/tokens/{other.pk}").status_code == 204
    assert client.get("/api/v1/tokens").json()[1]["state"] == "revoked"


def test_the_command_makes_lists_and_revokes(alice, capsys):
    call_command("token", "alice", "--name", "nightly", "--scopes", "read", "research", "--json")
    made = json.loads(capsys.readouterr().out)
    found = tokens.authenticate_token(made["token"])
    assert found
    assert found.scopes == ["read", "research"]
    call_command("token", "alice", "--json")
    listed = capsys.readouterr().out
    assert made["token"] not in listed
    call_command("token", "alice", "--revoke", str(found.pk), "--json")
    assert json.loads(capsys.readouterr().out)["tokens"][0]["state"] == "revoked"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nobody"], "username"),
        (["alice", "--revoke", "7"], "revoke"),
        (["alice", "--name", "x", "--scopes", "a"], "a"),
    ],
)
def test_the_command_says_what_is_wrong(alice, arguments, says):
    with pytest.raises(CommandError, match=says) as refused:
        call_command("token", *arguments)
    assert refused.value.returncode == 2
