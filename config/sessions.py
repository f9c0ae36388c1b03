"""Sessions in the database, as Django keeps them, found by a statement that is written out.

Every request looks for its session and its account before all else.
"""

from __future__ import annotations

from typing import cast

from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.utils import timezone

from core.statements import Columns, load

COLUMNS = Columns(Session)
FIND = (
    f"SELECT {COLUMNS.render('django_session')} FROM django_session "  # noqa: S608 # nosec B608 # columns
    "WHERE session_key = %(key)s AND expire_date > %(now)s"
)


class SessionStore(db.SessionStore):
    def _get_session_from_db(self) -> Session | None:
        found = load(FIND, {"key": self.session_key, "now": timezone.now()}, COLUMNS)
        if found is None:
            self._session_key = None
            return None
        return cast("Session", found[0])
