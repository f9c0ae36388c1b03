"""While the database is away, everybody is told to wait; what is broken for good still says so."""

from __future__ import annotations

import errno
import sqlite3
from contextlib import AbstractContextManager

import psycopg
import pytest
import redis
from django.db import IntegrityError, InterfaceError, OperationalError, connection
from django.test import Client
from django.utils.html import escape

from core import faults
from core.faults import describe_fault
from tests.support.factories import ResearcherFactory

pytestmark = pytest.mark.django_db


def raised(error: Exception, cause: Exception | None = None) -> Exception:
    error.__cause__ = cause
    return error


def of_sqlite(says: str) -> Exception:
    return raised(OperationalError(says), sqlite3.OperationalError())


AWAY = {
    "the server was restarted": (raised(OperationalError("terminating"), psycopg.errors.AdminShutdown()), faults.AWAY),
    "it cannot be connected to": (raised(OperationalError("refused"), psycopg.OperationalError()), faults.AWAY),
    "its disk is full": (raised(OperationalError("no space left"), psycopg.errors.DiskFull()), faults.FULL),
    "too many are connected": (raised(OperationalError("many"), psycopg.errors.TooManyConnections()), faults.AWAY),
    "the connection was closed": (InterfaceError("the connection is closed"), faults.AWAY),
    "somebody else writes": (of_sqlite("database is locked"), faults.LOCKED),
    "the disk of SQLite is full": (of_sqlite("database or disk is full"), faults.FULL),
    "SQLite's disk fails": (of_sqlite("disk I/O error"), "The disk of the database is full, or fails."),
    "SQLite's file is read-only": (of_sqlite("attempt to write a readonly database"), faults.READ_ONLY),
    "SQLite's folder is gone": (of_sqlite("unable to open database file"), faults.READ_ONLY),
    "an upload fills the disk": (OSError(errno.ENOSPC, "No space left on device"), faults.FULL),
    "a file is read-only": (PermissionError(errno.EACCES, "Permission denied"), faults.READ_ONLY),
    "what processes share is away": (redis.exceptions.ConnectionError("connection refused"), faults.SHARED_AWAY),
    "it reads its file": (redis.exceptions.BusyLoadingError("loading"), faults.SHARED_AWAY),
}
WRONG = {
    "no such table": of_sqlite("no such table: x"),
    "no such file": FileNotFoundError(errno.ENOENT, "No such file or directory"),
    "a command of Redis that is none": redis.exceptions.ResponseError("unknown command"),
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
def test_it_is_told_what_is_wrong_and_that_it_may_wait(signed_in, what):
    error, says = AWAY[what]
    with raising(error):
        answer = signed_in.get("/studies/")
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert f"<h1>{escape(says)}</h1>" in answer.content.decode()
    assert answer["Cache-Control"] == "no-store"


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_no_matter_of_waiting(signed_in, what):
    assert describe_fault(WRONG[what]) is None
    with raising(WRONG[what]):
        assert signed_in.get("/studies/").status_code == 500


def test_a_program_is_told_the_same_as_a_problem(signed_in):
    with raising(AWAY["the server was restarted"][0]):
        answer = signed_in.get("/api/v1/studies")
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["title"] == "Service Unavailable"
    assert answer.json()["detail"].startswith(faults.AWAY)


def test_the_script_of_the_rating_page_is_told_to_try_again(signed_in):
    with raising(AWAY["it cannot be connected to"][0]):
        answer = signed_in.post("/work/items/abcdefghij/save/", {"value": "1"})
    assert answer.status_code == 503  # from 500 on it keeps what was entered, and sends it again


def test_afterwards_all_is_as_before(signed_in):
    with raising(AWAY["the server was restarted"][0]):
        assert signed_in.get("/studies/").status_code == 503
    assert signed_in.get("/studies/").status_code == 200
