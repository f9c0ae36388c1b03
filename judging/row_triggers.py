"""The triggers by which the database keeps rules and revocations as they were written: they go with their study only.

Who made a row may be forgotten; nothing else of it is changed. Rows may go once the row is gone that they belong to.
"""

SAID = "rules and revocations are never changed or deleted"
GUARDED = {
    "judging_verdictrules": ("annotation_study", "study_id", "number, kind, rules, success, reason, sha256"),
    "judging_revocation": ("judging_certificate", "certificate_id", "reason"),
}
"""By table: the one that its rows belong to, the link to it, and what besides was decided."""


def making(vendor: str) -> list[str]:
    """The statements that make them anew, whatever is there."""
    return [*dropping(vendor), *(statement for table in GUARDED for statement in _making(vendor, table))]


def dropping(vendor: str) -> list[str]:
    """The statements that take them away."""
    names = ((f"{table}_not_{done}", table) for table in GUARDED for done in ("changed", "deleted"))
    return [f"DROP TRIGGER IF EXISTS {name}" + (f" ON {on}" if vendor != "sqlite" else "") for name, on in names]


def _making(vendor: str, table: str) -> list[str]:
    parent, link, columns = GUARDED[table]
    changed = f"CREATE TRIGGER {table}_not_changed BEFORE UPDATE OF id, {link}, {columns}, created_at ON {table}"
    deleted = f"CREATE TRIGGER {table}_not_deleted BEFORE DELETE ON {table}"
    there = f"EXISTS (SELECT 1 FROM {parent} WHERE id = OLD.{link})"  # noqa: S608 # nosec B608 # names from above
    if vendor == "sqlite":
        refuse = f"BEGIN SELECT RAISE(ABORT, '{SAID}'); END"
        return [f"{changed} {refuse}", f"{deleted} WHEN {there} {refuse}"]
    refuse = f"RAISE EXCEPTION '{SAID}' USING ERRCODE = 'integrity_constraint_violation'"
    body = f"BEGIN IF TG_OP = 'DELETE' AND NOT {there} THEN RETURN OLD; END IF; {refuse}; END"
    function = f"CREATE OR REPLACE FUNCTION {table}_refuse() RETURNS trigger LANGUAGE plpgsql AS $${body}$$"
    return [function, *(f"{one} FOR EACH ROW EXECUTE FUNCTION {table}_refuse()" for one in (changed, deleted))]
