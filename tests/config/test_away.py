"""While the database is away, everybody is told to wait; what is broken for good still says so."""

from __future__ import annotations

import sqlite3
from contextlib import AbstractContextManager

import psycopg
import pytest
import redis
from django.db import IntegrityError, InterfaceError, OperationalError, connection
from django.test import Client

from config.away import is_away
from tests.factories import ResearcherFactory

pytestmark = pytest.mark.django_db


def raised(error: Exception, cause: Exception | None = None) -> Exception:
    error.__cause__ = cause
    return error


AWAY = {
    "the server was restarted": raised(OperationalError("terminating"), psycopg.errors.AdminShutdown()),
    "it cannot be connected to": raised(OperationalError("connection refused"), psycopg.OperationalError()),
    "its disk is full": raised(OperationalError("no space left"), psycopg.errors.DiskFull()),
    "too many are connected": raised(OperationalError("too many clients"), psycopg.errors.TooManyConnections()),
    "the connection was closed": InterfaceError("the connection is closed"),
    "somebody else writes": raised(OperationalError("database is locked"), sqlite3.OperationalError()),
    "what processes share is away": redis.exceptions.ConnectionError("connection refused"),
    "it reads its file": redis.exceptions.BusyLoadingError("loading"),
}
WRONG = {
    "no such table": raised(OperationalError("no such table: x"), sqlite3.OperationalError()),
    "a deadlock": raised(OperationalError("deadlock detected"), psycopg.errors.DeadlockDetected()),
    "a promise broken": IntegrityError("duplicate key"),
    "a mistake": ValueError("x"),
}


@pytest.fixture
def signed_in(client: Client) -> Client:
    client.force_login(ResearcherFactory())
    client.raise_request_exception = False
    return client


def raising(error: Exception) -> AbstractContextManager[None]:
    """While it lasts, the database raises this from the first statement of each request on."""

    def refuse(execute, sql, params, many, context):
        raise error

    return connection.execute_wrapper(refuse)


@pytest.mark.parametrize("what", AWAY)
def test_it_is_told_what_helps_is_to_wait(signed_in, what):
    with raising(AWAY[what]):
        answer = signed_in.get("/studies/")
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "does not answer just now" in answer.content.decode()
    assert answer["Cache-Control"] == "no-store"


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_no_matter_of_waiting(signed_in, what):
    assert not is_away(WRONG[what])
    with raising(WRONG[what]):
        assert signed_in.get("/studies/").status_code == 500


def test_a_program_is_told_the_same_as_a_problem(signed_in):
    with raising(AWAY["the server was restarted"]):
        answer = signed_in.get("/api/v1/studies")
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["title"] == "Service Unavailable"


def test_the_script_of_the_rating_page_is_told_to_try_again(signed_in):
    with raising(AWAY["it cannot be connected to"]):
        answer = signed_in.post("/work/items/abcdefghij/save/", {"value": "1"})
    assert answer.status_code == 503  # from 500 on it keeps what was entered, and sends it again


def test_afterwards_all_is_as_before(signed_in):
    with raising(AWAY["the server was restarted"]):
        assert signed_in.get("/studies/").status_code == 503
    assert signed_in.get("/studies/").status_code == 200
