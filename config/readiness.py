"""Whether the site can do its work: database, migrations, broker, room on the disk. Each with what to do if not."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from shutil import disk_usage

from celery import current_app
from django.conf import settings
from django.db import DatabaseError, connection
from django.utils.translation import gettext_noop
from kombu.exceptions import OperationalError

from annotation.recruitment.services import withdrawn
from core.schema_state import describe_gap

logger = logging.getLogger(__name__)

POLL_SECONDS = 2.0

LEAST_FREE = 100 * 1024 * 1024  # bytes


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that the site needs. `problem` is empty where it is there."""

    name: str
    problem: str = ""

    @property
    def ok(self) -> bool:
        return not self.problem


def checks() -> list[Check]:
    """All checks; without a database the migrations are not looked at."""
    found = [check(gettext_noop("database"), database)]
    if found[0].ok:
        found.append(check(gettext_noop("migrations"), describe_gap))
    return [*found, check(gettext_noop("broker"), broker), check(gettext_noop("disk"), disk)]


def notices() -> list[Check]:
    """What keeps nobody from working, and should be mended nevertheless."""
    return [check(gettext_noop("list of the withdrawn"), withdrawn.problem)]


def check(name: str, problem: Callable[[], str]) -> Check:
    return Check(name, problem())


def database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        connection.close()
        return f"The database does not answer: {shorten_error(error)}"
    return ""


def broker() -> str:
    """The broker is asked over a connection of its own, once, for two seconds."""
    try:
        with current_app.connection_for_write(connect_timeout=2) as link:
            link.ensure_connection(max_retries=1, interval_start=0, interval_max=0)
    except (OperationalError, OSError) as error:
        return f"The broker does not answer: {shorten_error(error)}"
    return ""


def disk() -> str:
    free = disk_usage(settings.DATA_DIR).free
    return "" if free >= LEAST_FREE else f"Only {free // 1024**2} MB are free in the data folder."


def shorten_error(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def wait_for_schema() -> None:
    """Return once the database answers and has all migrations of this version; say what is missing until then."""
    told = ""
    while problem := schema_problem():
        if problem != told:
            logger.warning("This worker waits for the database. %s", problem)
            told = problem
        time.sleep(POLL_SECONDS)
    if told:
        logger.warning("The database is ready; this worker starts.")


def schema_problem() -> str:
    try:
        return database() or describe_gap()
    except DatabaseError as error:  # it went away between the two questions
        return f"The database does not answer: {shorten_error(error)}"
