"""How long what is kept is kept: per kind a period from the environment, what is over it now, and its deletion."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db.models import Exists, OuterRef
from django.utils import timezone
from django.utils.translation import gettext_noop

from annotation.recruitment.models import DemographicAnswer
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Draft
from annotation.studies.models.studies import Study
from annotation.studies.models.webhooks import WebhookDelivery
from core.accounts.models.tokens import IdempotentWrite
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.files.staging import find_staging_folder
from judging.judges.models import CachedReply

ALWAYS = "always"
LONGEST = 36_500


class ExpiredRows(Protocol):
    """What is over its period."""

    def count(self) -> int: ...

    def delete(self) -> object: ...


@dataclass(frozen=True)
class Kind:
    """Something that is kept.

    Attributes
    ----------
    key
        Its name, also in CONCORD_KEEP_<KEY>_DAYS.
    what
        In words, with the moment from which the period counts.
    usual
        Days where the environment says nothing; None is always.
    found
        What is older than a moment.
    """

    key: str
    what: str
    usual: int | None
    found: Callable[[datetime], ExpiredRows]

    @property
    def variable(self) -> str:
        return f"CONCORD_KEEP_{self.key.upper()}_DAYS"


@dataclass(frozen=True)
class Due:
    """A kind with its period, and how much of it is over that now."""

    kind: Kind
    days: int | None
    n: int

    def to_json(self) -> dict[str, object]:
        return {
            "kind": self.kind.key,
            "what": self.kind.what,
            "days": self.days,
            "variable": self.kind.variable,
            "over": self.n,
        }


@dataclass(frozen=True)
class Files:
    """Files of a folder that were written before a moment."""

    folder: Path
    before: datetime

    def paths(self) -> list[Path]:
        limit = self.before.timestamp()
        return [path for path in self.folder.glob("*") if path.is_file() and path.stat().st_mtime < limit]

    def count(self) -> int:
        return len(self.paths())

    def delete(self) -> None:
        for path in self.paths():
            path.unlink(missing_ok=True)


def sessions(before: datetime) -> ExpiredRows:
    return Session.objects.filter(expire_date__lt=before)


def build_answered_requests(before: datetime) -> ExpiredRows:
    return IdempotentWrite.objects.filter(created_at__lt=before)


def deliveries(before: datetime) -> ExpiredRows:
    return WebhookDelivery.objects.filter(due_at=None, created_at__lt=before)


def drafts(before: datetime) -> ExpiredRows:
    """Late answers wait for a researcher, and stay."""
    closed = Study.State.CLOSED
    return Draft.objects.filter(state=Draft.State.DRAFT, assignment__study__state=closed, saved_at__lt=before)


def build_decided_late_answers(before: datetime) -> ExpiredRows:
    return Draft.objects.filter(state__in=[Draft.State.USED, Draft.State.DISMISSED], decided_at__lt=before)


def demographics(before: datetime) -> ExpiredRows:
    """Of closed studies in which nobody has handed anything in since."""
    since = Assignment.objects.filter(study=OuterRef("question__study"), submitted_at__gte=before)
    closed = DemographicAnswer.objects.filter(question__study__state=Study.State.CLOSED, answered_at__lt=before)
    return closed.exclude(Exists(since))


def replies(before: datetime) -> ExpiredRows:
    return CachedReply.objects.filter(created_at__lt=before)


def import_errors(before: datetime) -> ExpiredRows:
    return Files(Path(settings.DATA_DIR) / "import-errors", before)


def import_files(before: datetime) -> ExpiredRows:
    return Files(find_staging_folder(), before)


KINDS = (
    Kind("sessions", gettext_noop("sessions, from their end"), 0, sessions),
    Kind(
        "idempotency",
        gettext_noop("answers to writes with an Idempotency-Key, from the write"),
        1,
        build_answered_requests,
    ),
    Kind("deliveries", gettext_noop("messages to webhooks that are over, from their making"), 90, deliveries),
    Kind("drafts", gettext_noop("drafts in closed studies, from the last change"), 90, drafts),
    Kind(
        "late_answers",
        gettext_noop("late answers that were used or dismissed, from the decision"),
        None,
        build_decided_late_answers,
    ),
    Kind(
        "demographics", gettext_noop("answers about oneself in closed studies, from the last label"), None, demographics
    ),
    Kind("replies", gettext_noop("judges' replies kept for equal requests, from the reply"), None, replies),
    Kind(
        "import_errors", gettext_noop("files of records that an import set aside in the data folder"), 90, import_errors
    ),
    Kind("import_files", gettext_noop("files that were uploaded to be imported, from the upload"), 1, import_files),
)


def period(kind: Kind) -> int | None:
    """How many days a kind is kept; None is always. InputError, naming the variable, for what is no period."""
    text = os.environ.get(kind.variable, "").strip().lower()
    if not text:
        return kind.usual
    if text == ALWAYS:
        return None
    if not (text.isascii() and text.isdigit() and int(text) <= LONGEST):
        raise InputError(
            "is days from 0 to {longest:,}, or {always}; not {text!r}",
            field=kind.variable,
            longest=LONGEST,
            always=ALWAYS,
            text=text,
        )
    return int(text)


def find_expired(kind: Kind, now: datetime) -> ExpiredRows | None:
    """What is over its period; None for what is always kept."""
    days = period(kind)
    return None if days is None else kind.found(now - timedelta(days=days))


def due() -> list[Due]:
    """Every kind, and how much of it would go now. A query for each that does not stay for good."""
    now = timezone.now()
    return [Due(kind, period(kind), found.count() if (found := find_expired(kind, now)) else 0) for kind in KINDS]


@audited("retention.delete", says=("kind.key",))
def delete(*, by: User | None, kind: Kind) -> int:  # noqa: ARG001
    """Delete what is over its period. Returns how much that was."""
    found = find_expired(kind, timezone.now())
    if found is None:
        return 0
    n = found.count()
    if n:
        found.delete()
    return n
