"""Sessions and accounts, as every request asks for them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from core.accounts.models.users import User
from tests.support.factories import UserFactory


@pytest.fixture
def bob(db: None) -> User:
    return UserFactory(username="bob", password="right-one-7")


@pytest.fixture
def client(bob: User) -> Client:
    client = Client()
    client.force_login(bob)
    return client


def is_in(client: Client) -> bool:
    """Scripts are told by the status whether anybody is signed in."""
    return client.post("/work/items/7/put-back/").status_code != 401


def test_a_request_asks_once_for_its_session_and_once_for_its_account(
    client: Client, django_assert_num_queries
) -> None:
    with django_assert_num_queries(3):  # and for the slot, which there is not
        assert is_in(client)


def test_a_session_ends_with_its_time(client: Client) -> None:
    Session.objects.update(expire_date=timezone.now() + timedelta(seconds=60))
    assert is_in(client)
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    assert not is_in(client)


def test_a_session_ends_with_its_row(client: Client) -> None:
    Session.objects.all().delete()
    assert not is_in(client)


def test_a_new_password_ends_all_sessions_at_once(client: Client, bob: User) -> None:
    bob.set_password("another-one-8")
    bob.save()
    assert not is_in(client)


@pytest.mark.parametrize("change", [{"is_active": False}, {"password": "!"}])
def test_an_account_that_is_closed_is_out_at_once(client: Client, bob: User, change: dict[str, object]) -> None:
    User.objects.filter(pk=bob.pk).update(**change)
    assert not is_in(client)


def test_an_account_that_is_gone_is_nobody(client: Client, bob: User) -> None:
    bob.delete()
    assert not is_in(client)
