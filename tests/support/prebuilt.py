"""What is made once and copied by every process that tests: a migrated database, and the demo.

`migrate` costs some 20 s of processor time on an empty database, the demo 10 s more. Files lie in `.cache/tests`,
named by a hash of what they were made from; on PostgreSQL a template database beside the one that TEST_DATABASE_URL
names holds the migrated state.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.db import connection
from psycopg import sql

from tests.support.paths import ROOT

CACHE = ROOT / ".cache" / "tests"
LOCK = 7_267_001  # any number that nobody else takes as an advisory lock


def compute_hash(*patterns: str) -> str:
    """Hash the files of the project that match, and the locked packages, which bring migrations of their own."""
    digest = hashlib.sha256((ROOT / "requirements-dev.lock").read_bytes())
    for path in sorted(path for pattern in patterns for path in ROOT.glob(pattern)):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def hash_migrations() -> str:
    return compute_hash("[a-z]*/migrations/*.py", "core/audit/triggers.py")


def manage(command: str, folder: str, url: str = "") -> None:
    environment = {**os.environ, "CONCORD_DATA_DIR": folder, "DATABASE_URL": url, "CELERY_BROKER_URL": ""}
    environment["DJANGO_SETTINGS_MODULE"] = "config.settings"
    subprocess.run([sys.executable, "manage.py", command, "-v0"], cwd=ROOT, env=environment, check=True)


def find_or_make(kind: str, state: str, make: Callable[[str], None]) -> Path:
    """Return the SQLite file of a kind and state; the first process makes it while the others wait."""
    made = CACHE / f"{kind}-{state}.sqlite3"
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / f"{kind}.lock", "w") as lock, tempfile.TemporaryDirectory() as folder:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            make(folder)
            for older in CACHE.glob(f"{kind}-*.sqlite3"):
                older.unlink()
            shutil.move(f"{folder}/concord.sqlite3", CACHE / f"{kind}.partial")
            (CACHE / f"{kind}.partial").rename(made)
    return made


def find_or_make_migrated() -> Path:
    return find_or_make("migrated", hash_migrations(), lambda folder: manage("migrate", folder))


def find_or_make_demo() -> Path:
    def make(folder: str) -> None:
        shutil.copy(find_or_make_migrated(), f"{folder}/concord.sqlite3")
        manage("demo", folder)

    code = [f"{app}/**/*.py" for app in ("annotation", "config", "core", "judging", "simulation")]
    return find_or_make("demo", compute_hash(*code, "fixtures/demo/*"), make)


@contextmanager
def maintenance() -> Iterator[psycopg.Connection[Any]]:
    """Connect to the database that TEST_DATABASE_URL names; one process at a time makes and copies databases."""
    with closing(psycopg.connect(**given_parameters(), autocommit=True)) as server:
        server.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        yield server


def given_parameters() -> dict[str, Any]:
    given = connection.get_connection_params()
    return {name: given[name] for name in ("host", "port", "user", "password", "dbname") if given.get(name)}


def find_or_make_template(server: psycopg.Connection[Any]) -> str:
    """Return the name of a migrated database. Others of the same given database are of an earlier state, and go."""
    prefix = f"{connection.settings_dict['NAME']}_migrated_"
    template = prefix + hash_migrations()
    known = "SELECT datname FROM pg_database WHERE starts_with(datname, %s)"
    older = {name for (name,) in server.execute(known, [prefix])}
    if template in older:
        return template
    for name in older:
        drop(server, name)
    partial = f"{prefix}partial"
    server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(partial)))
    before, _, _ = os.environ["TEST_DATABASE_URL"].rpartition("/")
    with tempfile.TemporaryDirectory() as folder:
        manage("migrate", folder, f"{before}/{partial}")
    rename = "ALTER DATABASE {} RENAME TO {}"
    server.execute(sql.SQL(rename).format(sql.Identifier(partial), sql.Identifier(template)))
    return template


def use_copied_database() -> Callable[[], None]:
    """Let Django use a copy of the migrated database; return what ends that."""
    given, name = connection.settings_dict["NAME"], connection.creation._get_test_db_name()
    if connection.vendor == "sqlite":
        shutil.copy(find_or_make_migrated(), name)
    else:
        with maintenance() as server:
            drop(server, name)
            copy = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
            server.execute(copy.format(sql.Identifier(name), sql.Identifier(find_or_make_template(server))))
            unwritten = sql.SQL("ALTER DATABASE {} SET synchronous_commit = off")  # as on SQLite, in tests/settings.py
            server.execute(unwritten.format(sql.Identifier(name)))
    use(name)

    def stop() -> None:
        use(given)
        if connection.vendor != "sqlite":  # its file goes with the folder of the process
            with maintenance() as server:
                drop(server, name)

    return stop


def use(name: str) -> None:
    connection.close()
    connection.settings_dict["NAME"] = settings.DATABASES["default"]["NAME"] = name


def drop(server: psycopg.Connection[Any], name: str) -> None:
    server.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
