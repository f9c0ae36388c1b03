"""Webhooks: addresses are told what happened, with a signature, again and again until they answer or it is too late.

A message is a row before it is sent, written in the transaction of what it tells. A worker sends it; what a worker did
not get to, the next one's sweep finds. No lease is needed: an attempt takes seconds, and counting it puts the next one
off. The same message is told under the same number, so that a reader can leave out what came twice.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from http.client import HTTPException

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.crypto import salted_hmac

from annotation.studies.models.webhooks import Webhook, WebhookDelivery
from core import addresses
from core.accounts.models.projects import Project, choose_project
from core.accounts.models.users import User
from core.addresses import ForbiddenAddressError, Rule, check
from core.audit.log import audit_transaction, audited
from core.errors import InputError
from core.jobs import leases

TASK = "annotation.deliver"
send = partial(leases.send, TASK)
EVENTS = {
    "label.submitted": "an annotator has handed in an item",
    "study.finished": "every planned rating of a study is there",
    "study.closed": "a study takes no more labels",
    "run.finished": "a judge run has nothing left to do",
    "experiment.finished": "an experiment has nothing left to do",
    "ping": "somebody asked for a message, to try it",
}
WAITS = (60, 300, 1800, 7200, 6 * 3600, 24 * 3600)
"""Seconds after each failed attempt; after the last one it is given up."""
MOST_AT_ONCE = 100
LONGEST_ERROR = 300


@audited("webhook.make", says=("events",), prepares=True)
def make(*, by: User, url: str, events: Sequence[str], project: Project | None = None) -> tuple[Webhook, str]:
    """A webhook and the secret that its messages are signed with."""
    if unknown := [event for event in events if event not in EVENTS]:
        raise InputError(
            "{unknown!r} is not one of {events}.", field="events", unknown=unknown[0], events=", ".join(EVENTS)
        )
    if not events:
        raise InputError("Name at least one event.", field="events")
    if len(url) > 500:
        raise InputError("An address has at most 500 characters.", field="url")
    try:
        check(url, Rule.build_webhook_rule())
    except ForbiddenAddressError as error:
        raise InputError(str(error), field="url") from error
    chosen = [event for event in EVENTS if event in events]
    with audit_transaction() as done:
        hook = done.result = Webhook.objects.create(
            project=choose_project(by, project),
            url=url,
            events=chosen,
            nonce=secrets.token_urlsafe(32),
            created_by=by,
        )
    return hook, derive_secret(hook)


@audited("webhook.end", on="webhook")
def end(*, by: User, webhook: Webhook) -> None:  # noqa: ARG001
    """It is told nothing more. What it was told stays on record."""
    Webhook.objects.filter(pk=webhook.pk, ended_at=None).update(ended_at=timezone.now())
    webhook.deliveries.filter(due_at__isnull=False).update(due_at=None, error="The webhook was ended.")


def derive_secret(webhook: Webhook) -> str:
    """Follows from the site's key, so that it is kept nowhere. A new key of the site makes new secrets."""
    return salted_hmac("concord.webhook", webhook.nonce, algorithm="sha256").hexdigest()


def signature(secret: str, body: str, at: int) -> str:
    """`t=…,v1=…`: HMAC-SHA256 over the time, a full stop and the body."""
    digest = hmac.new(secret.encode(), f"{at}.{body}".encode(), hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"


def load_active(project: int) -> list[Webhook]:
    """The webhooks of a project that have not ended."""
    return list(Webhook.objects.filter(project=project, ended_at=None).order_by("pk"))


def tell(
    event: str, *, project: int, subject: str, data: Mapping[str, object], hooks: Sequence[Webhook] | None = None
) -> None:
    """Tell every webhook of the project that wants to hear of it, once for each subject. One query where none does.

    `hooks` are those in use, where the caller has read them.
    """
    wanting = [hook for hook in (load_active(project) if hooks is None else hooks) if event in hook.events]
    if not wanting:
        return
    now = timezone.now()
    body = json.dumps({"event": event, "at": now.isoformat(), "data": data}, ensure_ascii=False)
    rows = [
        WebhookDelivery(webhook=hook, event=event, subject=subject, body=body, due_at=now, created_at=now)
        for hook in wanting
    ]
    WebhookDelivery.objects.bulk_create(rows, ignore_conflicts=True)
    new = WebhookDelivery.objects.filter(event=event, subject=subject, attempts=0, due_at__isnull=False)
    keys = list(new.order_by("pk").values_list("pk", flat=True))
    transaction.on_commit(lambda: send(keys))


@audited("webhook.ping", on="webhook")
def send_test_message(*, by: User, webhook: Webhook) -> WebhookDelivery:  # noqa: ARG001
    """A message to one webhook, to try it."""
    if webhook.ended_at:
        raise InputError("This webhook has ended.", field="webhook")
    now = timezone.now()
    body = json.dumps({"event": "ping", "at": now.isoformat(), "data": {"webhook": webhook.pk}})
    made = WebhookDelivery.objects.create(webhook=webhook, event="ping", subject=now.isoformat(), body=body, due_at=now)
    transaction.on_commit(lambda: send([made.pk]))
    return made


def send_due() -> int:
    """Tasks for messages whose time has come. Returns how many."""
    late = timezone.now() - timedelta(seconds=5)
    keys = list(
        WebhookDelivery.objects.filter(due_at__lte=late)
        .order_by("due_at", "pk")
        .values_list("pk", flat=True)[:MOST_AT_ONCE]
    )
    send(keys)
    return len(keys)


def deliver(key: int) -> bool | None:
    """One attempt: whether it was taken; None if it is not due, or another worker is at it."""
    row = WebhookDelivery.objects.select_related("webhook").filter(pk=key, due_at__lte=timezone.now()).first()
    if row is None or not claim_delivery(row):
        return None
    status, error = attempt(row)
    done = status is not None and 200 <= status < 300
    told: dict[str, object] = {"status": status, "error": "" if done else error[:LONGEST_ERROR]}
    if done:
        told |= {"delivered_at": timezone.now(), "due_at": None}
    elif row.attempts >= len(WAITS):
        told |= {"due_at": None}
    WebhookDelivery.objects.filter(pk=key).update(**told)
    return done


def claim_delivery(row: WebhookDelivery) -> bool:
    """Count the attempt and put the next one off, if nobody else did. A worker that dies now has only used one up."""
    wait = timedelta(seconds=WAITS[min(row.attempts, len(WAITS) - 1)])
    same = WebhookDelivery.objects.filter(pk=row.pk, attempts=row.attempts, due_at=row.due_at)
    return same.update(attempts=F("attempts") + 1, due_at=timezone.now() + wait) == 1


def attempt(row: WebhookDelivery) -> tuple[int | None, str]:
    """The status of the answer, and what was wrong."""
    at = int(time.time())
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Concord",
        "Concord-Event": row.event,
        "Concord-Delivery": str(row.pk),
        "Concord-Signature": signature(derive_secret(row.webhook), row.body, at),
    }
    try:
        status = addresses.post(row.webhook.url, row.body.encode(), headers, rule=Rule.build_webhook_rule())
    except ForbiddenAddressError as error:
        return None, str(error)
    except (OSError, HTTPException) as error:
        return None, f"{type(error).__name__}: {error}"
    return status, f"It answered {status}."
