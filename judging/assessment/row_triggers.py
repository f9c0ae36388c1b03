"""The triggers by which the database keeps rules and revocations as they were written: they go with their study only.

Who made a row may be forgotten; nothing else of it is changed. Rows may go once the row is gone that they belong to.
Made by migrations, looked for by the checker.
"""

from __future__ import annotations

from django.db.backends.base.base import BaseDatabaseWrapper

from core.audit.triggers import plain

SAID = "rules and revocations are never changed or deleted"
GUARDED = {
    "judging_verdictrules": ("annotation_study", "study_id", "number, kind, rules, success, reason, sha256"),
    "judging_revocation": ("judging_certificate", "certificate_id", "reason"),
}
"""By table: the one that its rows belong to, the link to it, and what besides was decided."""


OF_STUDY = "number = NEW.number OR kind = 'locked' AND NEW.kind = 'locked'"
IN_THE_WAY = {
    "judging_verdictrules": f"id = NEW.id OR study_id = NEW.study_id AND ({OF_STUDY})",
    "judging_revocation": "id = NEW.id OR certificate_id = NEW.certificate_id",
}
"""By table: which row SQLite's INSERT OR REPLACE would delete, without asking the trigger of deletions."""

DONE = ("changed", "deleted", "replaced")

EVENTS = {"changed": 1 | 2 | 16, "deleted": 1 | 2 | 8}
"""As `pg_trigger.tgtype` says it: each row 1, before 2, delete 8, update 16."""

WORKING = """
    SELECT tgname, tgtype, trim(prosrc),
        (SELECT string_agg(attname, ', ' ORDER BY place)
         FROM unnest(tgattr) WITH ORDINALITY AS used(number, place)
         JOIN pg_attribute ON attrelid = tgrelid AND attnum = number)
    FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid
    WHERE tgrelid = %s::regclass AND tgenabled IN ('O', 'A') AND tgqual IS NULL
"""


def build_create_statements(vendor: str) -> list[str]:
    """The statements that make them anew, whatever is there."""
    return [
        *build_drop_statements(vendor),
        *(statement for table in GUARDED for statement in _build_table_statements(vendor, table)),
    ]


def build_drop_statements(vendor: str) -> list[str]:
    """The statements that take them away."""
    names = ((f"{table}_not_{done}", table) for table in GUARDED for done in DONE)
    return [f"DROP TRIGGER IF EXISTS {name}" + (f" ON {on}" if vendor != "sqlite" else "") for name, on in names]


def find_missing(connection: BaseDatabaseWrapper) -> list[str]:
    """The names of those that are gone, switched off, or do something else than they should."""
    return [name for table in GUARDED for name in _missing(connection, table)]


def find_emptiable(connection: BaseDatabaseWrapper) -> list[str]:
    """The tables that the site's own role may empty by TRUNCATE, which asks no trigger of a row; PostgreSQL alone."""
    if connection.vendor == "sqlite":
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name FROM unnest(%s::text[]) AS name WHERE has_table_privilege(name, 'TRUNCATE')", [[*GUARDED]]
        )
        return sorted(name for (name,) in cursor.fetchall())


def _missing(connection: BaseDatabaseWrapper, table: str) -> list[str]:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s", [table])
            there: dict[str, object] = {name: plain(text) for name, text in cursor.fetchall()}
            wanted: dict[str, object] = {one.split()[2]: plain(one) for one in _build_table_statements("sqlite", table)}
        else:
            cursor.execute(WORKING, [table])
            there = {name: more for name, *more in cursor.fetchall()}
            wanted = {
                f"{table}_not_{done}": [events, _body(table), _list_fixed_columns(table) if done == "changed" else None]
                for done, events in EVENTS.items()
            }
    return [name for name, what in wanted.items() if there.get(name) != what]


def _list_fixed_columns(table: str) -> str:
    """The columns that are never changed."""
    _, link, columns = GUARDED[table]
    return f"id, {link}, {columns}, created_at"


def _body(table: str) -> str:
    """What PostgreSQL's function does."""
    refuse = f"RAISE EXCEPTION '{SAID}' USING ERRCODE = 'integrity_constraint_violation'"
    return f"BEGIN IF TG_OP = 'DELETE' AND NOT {_build_parent_check(table)} THEN RETURN OLD; END IF; {refuse}; END"


def _build_parent_check(table: str) -> str:
    """Whether the row is there that a row belongs to."""
    parent, link, _ = GUARDED[table]
    return f"EXISTS (SELECT 1 FROM {parent} WHERE id = OLD.{link})"  # noqa: S608 # nosec B608 # names from above


def _build_table_statements(vendor: str, table: str) -> list[str]:
    changed = f"CREATE TRIGGER {table}_not_changed BEFORE UPDATE OF {_list_fixed_columns(table)} ON {table}"
    deleted = f"CREATE TRIGGER {table}_not_deleted BEFORE DELETE ON {table}"
    if vendor == "sqlite":
        refuse = f"BEGIN SELECT RAISE(ABORT, '{SAID}'); END"
        there = f"EXISTS (SELECT 1 FROM {table} WHERE {IN_THE_WAY[table]})"  # noqa: S608 # nosec B608 # names from above
        replaced = f"CREATE TRIGGER {table}_not_replaced BEFORE INSERT ON {table} WHEN {there}"
        return [f"{changed} {refuse}", f"{deleted} WHEN {_build_parent_check(table)} {refuse}", f"{replaced} {refuse}"]
    function = f"CREATE OR REPLACE FUNCTION {table}_refuse() RETURNS trigger LANGUAGE plpgsql AS $${_body(table)}$$"
    return [function, *(f"{one} FOR EACH ROW EXECUTE FUNCTION {table}_refuse()" for one in (changed, deleted))]
