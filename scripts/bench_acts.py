"""How fast acts are put on record, read again and checked, and how long sixty people wait who sign in at once.

    python scripts/bench_acts.py [--acts 400] [--threads 8] [--people 60] [--json]

On SQLite in a temporary folder, or on the empty database that DATABASE_URL names. An act is `known.set_rules` with the
row that it changes. Who signs in does so through all of the site's code, but with a password hash that costs nothing:
Django's own takes some tenths of a second of a processor for each, beside which the log could not be seen. Time of the
processor stands beside that of the clock, for a machine on which others work.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="concord-bench-") as name:
        os.environ |= {"CONCORD_DATA_DIR": name, "DJANGO_SETTINGS_MODULE": "config.settings", "CELERY_BROKER_URL": ""}
        Path(name, "static").mkdir()
        os.environ |= {"CONCORD_LOG_LEVEL": "ERROR"}
        sys.path.insert(0, str(ROOT))
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        result = measure(options)
    print(json.dumps(result, indent=1) if options.json else in_words(result))
    return 0


def measure(options: argparse.Namespace) -> dict[str, Any]:
    from django.db import connection

    from core.audit import queries as audit_queries

    used = time.process_time()
    alone = acting(options.acts, 1)
    used = time.process_time() - used
    many = acting(options.acts, options.threads)
    began = time.perf_counter()
    broken = audit_queries.find_break()
    rate = audit_queries.head()[0] / (time.perf_counter() - began)
    assert broken is None, broken
    return {
        "database": connection.vendor,
        "acts_per_second_alone": alone,
        "processor_ms_an_act": 1000 * used / options.acts,
        "threads": options.threads,
        "acts_per_second": many,
        "checked_per_second": rate,
        "people": options.people,
        "sign_in": signing_in(options.people),
    }


def acting(n: int, threads: int) -> float:
    """Acts a second of `threads` that do nothing else."""
    from annotation.quality.services import gold_questions
    from annotation.studies.services import studies
    from core.accounts.models.users import User

    by, _ = User.objects.get_or_create(username="bench", is_researcher=True)
    names = [f"{threads} {number}" for number in range(threads)]
    made = [studies.create(by=by, name=name, kind="pair", criteria=["preference"]) for name in names]

    def work(study: Any) -> None:
        for number in range(n // threads):
            gold_questions.set_rules(by=by, study=study, item_limit=number + 1)

    took = at_once(work, made)
    return n // threads * threads / took


def signing_in(people: int) -> dict[str, float]:
    """Seconds until everybody is in, and of one in the middle."""
    from django.conf import settings
    from django.test import Client

    from core.accounts.models.users import User

    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    word = secrets.token_hex(8)
    for number in range(people):
        User.objects.create_user(f"sixty-{people}-{number}", password=word)
    waited: list[float] = []

    def come(number: int) -> None:
        began = time.perf_counter()
        sent = {"login": f"sixty-{people}-{number}", "password": word}
        answer = Client(SERVER_NAME="localhost", REMOTE_ADDR=f"10.0.0.{number}").post("/login/", sent)
        assert answer.status_code == 302, answer.status_code
        waited.append(time.perf_counter() - began)

    used = time.process_time()
    took = at_once(come, list(range(people)))
    used = time.process_time() - used
    return {"all_s": took, "median_s": statistics.median(waited), "processor_ms_each": 1000 * used / people}


def at_once(work: Callable[[Any], None], parts: list[Any]) -> float:
    """Seconds that it takes to do all parts, each in a thread of its own."""
    from django.db import connections

    def done(part: Any) -> None:
        try:
            work(part)
        finally:
            connections.close_all()

    began = time.perf_counter()
    with ThreadPoolExecutor(len(parts)) as pool:
        list(pool.map(done, parts))
    return time.perf_counter() - began


def in_words(result: dict[str, Any]) -> str:
    return (
        f"{result['database']}: {result['acts_per_second_alone']:.0f} acts a second alone, "
        f"{result['acts_per_second']:.0f} in {result['threads']} threads, "
        f"{result['processor_ms_an_act']:.2f} ms of this processor each; "
        f"{result['checked_per_second']:,.0f} checked a second; {result['people']} people were signed in within "
        f"{result['sign_in']['all_s']:.1f} s (half of them within {result['sign_in']['median_s']:.1f} s, "
        f"{result['sign_in']['processor_ms_each']:.0f} ms of this processor each)"
    )


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--acts", type=int, default=400)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--people", type=int, default=60)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
