"""The log of what is done: `@act` on a service writes one row of each call, in the call's own transaction.

`record` writes what is no service, such as a sign-in or an export.

Only the outermost act is written: opening a study that was made in the course of another act is a part of that. What
is rolled back leaves no row. Several acts in one transaction are written at its end (`together`). Arguments are named
one by one, so that no secret and no text of a label gets in by accident; texts are cut, people are numbers, and of long
lists only the length is kept.
"""

from __future__ import annotations

import getpass
import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import date
from decimal import Decimal
from functools import cache, wraps
from math import isfinite
from pathlib import PurePath
from typing import ParamSpec, TypeVar

from django.db import connection, transaction
from django.db.models import Model, QuerySet
from django.utils import timezone
from django_guid import get_guid
from pydantic import BaseModel

from core.accounts import permissions
from core.accounts.models.projects import Project
from core.accounts.models.users import User
from core.accounts.permissions import study_model
from core.audit.heads import current_key_id, write_head
from core.audit.models import Act
from core.audit.queries import RESTORE, head
from core.files.input_files import InputFile
from core.files.outcome import Outcome

VERBS: set[str] = {"log.key", "export.backup", RESTORE}
"""All that there are, once the services and the site's signals are loaded; `log.key` is written by a migration."""

P = ParamSpec("P")
R = TypeVar("R")

LONGEST_TEXT = 200
LONGEST_LIST = 20
DEEPEST = 4
LOCK = 0x436F6E636F7264
"""Key of PostgreSQL's advisory lock that lets one act at a time look for the act before it."""

WAYS_TO_A_STUDY = ("item", "criterion", "assignment", "known", "question", "run", "draft", "evaluation")
"""Links of rows that belong to a study and do not name it."""

Way = Act.Through
through: ContextVar[str] = ContextVar("through", default=Way.OTHER.value)


@dataclass
class Pending:
    """The outermost act of a call."""

    verb: str
    by: User | None
    on: object
    arguments: dict[str, object]
    reference: tuple[str, int | None, str]
    study: int | None
    project: int | None
    is_in_transaction: bool = False
    before: list[Act] = field(default_factory=list)
    """What was put on record inside, and stands before it in the log."""


@dataclass
class AuditTransaction:
    """The transaction of an event; `result` is what the service returned."""

    result: object = None


pending: ContextVar[Pending | None] = ContextVar("pending", default=None)
waiting: ContextVar[list[Act] | None] = ContextVar("waiting", default=None)
"""Events of a larger transaction, written at its end."""


@contextmanager
def audit_through(way: str) -> Iterator[None]:
    """Record the events of a block as made through a page, the API or a command."""
    token = through.set(way)
    try:
        yield
    finally:
        through.reset(token)


def audited(
    verb: str, *, on: str = "", says: Sequence[str] = (), prepares: bool = False
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Put each call of a service that begins with `by` on record as `verb`.

    `on` names the argument that it is done to (without it: what is returned), `says` the arguments that are kept, with
    a dot for a part of one. A service that `prepares` reads or asks for long before it writes: it is not one
    transaction from its beginning, but has a `saving()` of its own, or calls another service that acts. Where it
    returns before that it has changed nothing, and nothing is written.
    """

    def decorate(service: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(service)
        unknown = [name for name in (on, *says) if name and name.split(".")[0] not in signature.parameters]
        if unknown or "by" not in signature.parameters:
            raise TypeError(f"{service.__qualname__} has no argument {(unknown or ['by'])[0]}")

        VERBS.add(verb)

        def saved(*args: P.args, **kwargs: P.kwargs) -> R:
            with audit_transaction() as whole:
                whole.result = result = service(*args, **kwargs)
            return result

        @wraps(service)
        def acting(*args: P.args, **kwargs: P.kwargs) -> R:
            outer = pending.get()
            if outer is not None:
                return service(*args, **kwargs) if prepares or outer.is_in_transaction else saved(*args, **kwargs)
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            given = bound.arguments
            target = find_argument(given, on) if on else None
            arguments = {name.rpartition(".")[2]: to_audit_json(find_argument(given, name)) for name in says}
            # Where new things go says nothing of where they went: labels may go into a study of another project.
            rows = [target, *(value for name, value in given.items() if name != "project")]
            study = find_study(rows)
            mine = Pending(verb, given["by"], target, arguments, reference(target), study, find_project(rows, study))
            token = pending.set(mine)
            try:
                return service(*args, **kwargs) if prepares else saved(*args, **kwargs)
            finally:
                pending.reset(token)

        acting.act = verb  # type: ignore[attr-defined]
        return acting

    return decorate


@contextmanager
def audit_transaction() -> Iterator[AuditTransaction]:
    """One transaction, at whose end the act of which it is a part is written, where that is not written yet."""
    mine, made = pending.get(), AuditTransaction()
    with transaction.atomic():
        if mine is None or mine.is_in_transaction:
            yield made
            return
        mine.is_in_transaction = True
        try:
            yield made
            write(mine, made.result)
        except BaseException:
            mine.is_in_transaction = False  # it is rolled back; what the service does instead is written
            mine.before.clear()
            raise


@contextmanager
def audit_batch() -> Iterator[None]:
    """One transaction of several acts, which are written at its end.

    Whoever writes an act holds the log until the end of the transaction. Were that the first of several acts, the
    others would wait for rows of somebody who waits for the log.
    """
    outer = waiting.get()
    rows = [] if outer is None else outer
    before, token = len(rows), waiting.set(rows)
    try:
        with transaction.atomic():
            yield
            if outer is None:
                append_to_chain(rows)
    except BaseException:
        del rows[before:]  # they are rolled back, also where whoever is around goes on
        raise
    finally:
        waiting.reset(token)


def record(verb: str, *, by: User | None, on: object = None, **says: object) -> None:
    """Put on record what is no service's act; nothing within another act, which is on record itself."""
    if pending.get() is None:
        record_always(verb, by=by, on=on, **says)


def record_always(verb: str, *, by: User | None, on: object = None, **says: object) -> None:
    """The same, within another act too: it then stands before that."""
    study, given = find_study([on]), {name: to_audit_json(value) for name, value in says.items()}
    mine, outer = Pending(verb, by, on, given, reference(on), study, find_project([on], study)), pending.get()
    if outer is not None and outer.is_in_transaction:
        outer.before.append(build_event(mine, None))  # whoever writes an act holds the log: not before the end
        return
    with transaction.atomic():
        write(mine, None)


def write(mine: Pending, result: object) -> None:
    """One row, behind the newest; with other acts of a larger transaction at the end of that."""
    rows, later = [*mine.before, build_event(mine, result)], waiting.get()
    if later is None:
        append_to_chain(rows)
    else:
        later.extend(rows)


def build_event(mine: Pending, result: object) -> Act:
    """Build the event of a call, without its place in the log."""
    kind, key, name = mine.reference if mine.on is not None else reference(main(result))
    study = mine.study or find_study([main(result)])
    return Act(
        who=mine.by,
        operator=operator() if through.get() == Way.COMMAND else "",
        verb=mine.verb,
        kind=kind,
        key=key,
        name=name,
        study_id=study,
        project_id=mine.project or find_project([main(result)], study),
        through=through.get(),
        request_id=get_guid() or "",
        arguments=to_json(mine.arguments),
        outcome=to_json(result_summary(result)),
    )


def append_to_chain(rows: Sequence[Act]) -> None:
    """Append events to the chain, locked against other writers until the transaction ends."""
    if not rows:
        return
    if connection.vendor == "postgresql":  # on SQLite there is one writer at a time
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
    place, digest = head()
    for row in rows:
        place += 1
        row.number, row.at, row.previous = place, timezone.now(), digest
        row.digest_key_id = current_key_id()
        row.digest = digest = row.compute_digest()
        row.save(force_insert=True)

    def write_newest_head() -> None:
        write_head(place, digest, rows[-1].at)

    # What is committed stays, also where the second place cannot be written: `robust` logs that as an error.
    transaction.on_commit(write_newest_head, robust=True)


@cache
def operator() -> str:
    """Return the machine's account that runs this process; empty if unknown."""
    try:
        return getpass.getuser()[:80]
    except (KeyError, OSError):
        return ""


def to_json(content: object) -> str:
    return json.dumps(content, sort_keys=True, separators=(", ", ": "))


def find_argument(given: Mapping[str, object], way: str) -> object:
    """Return an argument, or an attribute of it after a dot."""
    first, *rest = way.split(".")
    found = given[first]
    for name in rest:
        found = getattr(found, name)
    return found


def main(result: object) -> object:
    """Return the row that a service's result is about."""
    if isinstance(result, Outcome | Mapping):
        name = result.study if isinstance(result, Outcome) else result.get("study")
        return study_model()._default_manager.filter(name=name).first() if isinstance(name, str) else None
    if is_dataclass(result) and not isinstance(result, type):
        result = tuple(getattr(result, one.name) for one in fields(result))
    if isinstance(result, tuple | list):
        return next((one for one in result if isinstance(one, Model)), None)
    return result if isinstance(result, Model) else None


def result_summary(result: object) -> object:
    """Summarise a service's result for the log: rows and numbers, never a text."""
    if isinstance(result, Outcome):
        counts = {"created": result.created, "updated": result.updated, "unchanged": result.unchanged}
        return {name: dict(one) for name, one in counts.items()} | {"skipped": len(result.skipped)}
    if isinstance(result, Mapping):
        return {str(name): to_audit_json(one) for name, one in result.items() if isinstance(one, int | float)}
    if isinstance(result, list):
        return {"n": len(result)}
    if isinstance(result, bool | int | float | date):
        return to_audit_json(result)
    found = main(result)
    return None if found is None else to_audit_json(found)


def reference(row: object) -> tuple[str, int | None, str]:
    """Kind, number and name of a row. Names of people are in no log: they could not be taken out of it again."""
    if not isinstance(row, Model):
        return "", None, ""
    key = row.pk if isinstance(row.pk, int) else None
    if isinstance(row, User):
        return "user", key, ""
    name = next((str(getattr(row, one)) for one in ("slug", "name", "key") if getattr(row, one, "")), "")
    return str(row._meta.model_name), key, name[:LONGEST_TEXT]


def to_audit_json(value: object, deep: int = 0) -> object:
    """Convert a value to JSON types: rows to kind and number; texts are cut, long lists become their length."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, str):
        return value if len(value) <= LONGEST_TEXT else f"{value[:LONGEST_TEXT]}…"
    if isinstance(value, BaseModel):
        value = dict(value)
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Model):
        return {name: part for name, part in zip(("kind", "id", "name"), reference(value), strict=True) if part}
    if isinstance(value, InputFile | PurePath):
        return PurePath(value.name).name
    if deep == DEEPEST:
        return "…"
    if isinstance(value, Mapping | list | tuple | set | frozenset | QuerySet) and len(value) > LONGEST_LIST:
        return {"n": len(value)}
    if isinstance(value, Mapping):
        return {str(name): to_audit_json(part, deep + 1) for name, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset | QuerySet):
        return [to_audit_json(one, deep + 1) for one in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: to_audit_json(getattr(value, one.name), deep + 1) for one in fields(value)}
    return type(value).__name__


def find_study(rows: Sequence[object]) -> int | None:
    """Return the study of the first row that belongs to one."""
    for row in rows:
        if isinstance(row, study_model()):
            return int(row.pk)
    for row in rows:
        if not isinstance(row, Model):
            continue
        if isinstance(found := getattr(row, "study_id", None), int):
            return found
        for way in WAYS_TO_A_STUDY:
            if getattr(row, f"{way}_id", None) and isinstance(
                found := getattr(getattr(row, way), "study_id", None), int
            ):
                return found
    return None


def find_project(rows: Sequence[object], study: int | None) -> int | None:
    """The project whose members may see it: that of the study, or of the first row that is of one."""
    of_study = next((row for row in rows if isinstance(row, study_model())), None)
    for row in [of_study, *rows]:
        found = row.pk if isinstance(row, Project) else getattr(row, "project_id", None)
        if isinstance(row, Model) and isinstance(found, int):
            return found
    if study is not None:
        return study_model()._default_manager.filter(pk=study).values_list("project_id", flat=True).first()
    for row in rows:
        if isinstance(row, Model) and row.pk and (way := permissions.PROJECT_LOOKUPS.get(row._meta.label)):
            found_by_way: int | None = row._meta.base_manager.filter(pk=row.pk).values_list(way, flat=True).first()
            return found_by_way
    return None
