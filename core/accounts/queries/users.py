"""Accounts as every request asks for them."""

from __future__ import annotations

from core.accounts.models.users import User
from core.statements import Columns, row

COLUMNS = Columns(User)
FIND = f"SELECT {COLUMNS.render('annotation_user')} FROM annotation_user WHERE id = %(pk)s"  # noqa: S608 # nosec B608 # columns


def account(pk: int) -> User | None:
    """The account of this id, by a statement that is written out."""
    found = row(FIND, {"pk": pk})
    return COLUMNS.build_row(found) if found else None
