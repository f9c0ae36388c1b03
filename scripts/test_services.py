"""Run the tests that use the database on PostgreSQL and Redis where they answer; say which does not otherwise.

What has no database, what a browser, a killed worker or the local model shows, and who may see which address or which
pages say the same number, runs once: in `make test`.

    python scripts/test_services.py [pytest arguments]

TEST_DATABASE_URL and TEST_BROKER_URL name other places than this machine's defaults.
"""

from __future__ import annotations

import os
import subprocess
import sys

import dj_database_url
import psycopg
import redis

DATABASE = os.environ.get("TEST_DATABASE_URL") or "postgresql://127.0.0.1:5432/postgres"
BROKER = os.environ.get("TEST_BROKER_URL") or "redis://127.0.0.1:6379/9"


def postgres_problem() -> str:
    parsed = dj_database_url.parse(DATABASE)
    try:
        with psycopg.connect(
            host=parsed["HOST"] or None,
            port=parsed["PORT"] or None,
            user=parsed["USER"] or None,
            password=parsed["PASSWORD"] or None,
            dbname=parsed["NAME"],
            connect_timeout=3,
        ):
            return ""
    except psycopg.OperationalError as error:
        return f"PostgreSQL does not answer: {str(error).splitlines()[0]}"


def redis_problem() -> str:
    try:
        redis.Redis.from_url(BROKER, socket_connect_timeout=3).ping()
    except redis.RedisError as error:
        return f"Redis does not answer: {error}"
    return ""


def main() -> int:
    problems = [problem for problem in (postgres_problem(), redis_problem()) if problem]
    if problems:
        print("test-services: not run. " + "; ".join(problems))
        return 0
    environment = {**os.environ, "TEST_DATABASE_URL": DATABASE, "TEST_BROKER_URL": BROKER}
    pytest = [sys.executable, "-m", "pytest", "--database-only", "-n", "4", "--dist", "loadgroup"]
    command = [*pytest, *(sys.argv[1:] or ["tests/db", "tests/faults"])]
    return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
