"""`manage.py webhook`: have an address told of events; list, try and end webhooks."""

from __future__ import annotations

from typing import TypedDict

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand, Listing, to_words
from annotation.studies.models.webhooks import Webhook, WebhookDelivery
from annotation.studies.services import webhooks
from core.accounts.models.projects import Project, choose_project
from core.accounts.models.users import User
from core.audit.log import audit_batch
from core.errors import InputError
from core.options.fields import split_names

MOST_SHOWN = 20


class WebhooksDocument(TypedDict, total=False):
    secret: str
    webhooks: Listing
    deliveries: Listing


class Command(ConcordCommand[WebhooksDocument]):
    makes_roots = True
    help = "Have an address told of events and print the secret that signs the messages; list, try and end webhooks."
    example = "webhook --by rosa --url https://lab.example/hook --events run.finished study.finished"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--by", default="", help="username of who makes it")
        parser.add_argument("--url", default="", help="makes a webhook to this address")
        parser.add_argument("--events", nargs="+", default=[], help=f"among {', '.join(webhooks.EVENTS)}")
        parser.add_argument("--log", type=int, metavar="ID", help="what this webhook was told last")
        parser.add_argument("--ping", type=int, metavar="ID", help="send it a message now, to try it")
        parser.add_argument("--end", type=int, metavar="ID", help="tell it nothing more")

    def run(
        self, *, by: str, url: str, events: list[str], log: int | None, ping: int | None, end: int | None,
        project: Project | None, **_: object,
    ) -> WebhooksDocument:  # fmt: skip
        if url:
            if not by:
                raise InputError("Say who makes it.", field="by")
            maker = User.objects.filter(username=by, is_researcher=True).first()
            if maker is None:
                raise InputError("There is no researcher called {name!r}.", field="by", name=by)
            home = choose_project(None, project)
            hook, secret = webhooks.make(by=maker, url=url, events=split_names(events), project=home)
            return {"secret": secret, "webhooks": [describe_webhook(hook)]}
        if end is not None:
            hook = find_webhook(end, "end")
            webhooks.end(by=hook.created_by, webhook=hook)
            return {"webhooks": [describe_webhook(find_webhook(hook.pk, "end"))]}
        if ping is not None:
            return {"deliveries": [try_webhook(find_webhook(ping, "ping"))]}
        if log is not None:
            told = find_webhook(log, "log").deliveries.order_by("-pk")[:MOST_SHOWN]
            return {"deliveries": [describe_delivery(one) for one in told]}
        return {"webhooks": [describe_webhook(hook) for hook in Webhook.objects.order_by("pk")]}

    def write_text(self, document: WebhooksDocument) -> None:
        if secret := document.get("secret"):
            self.stdout.write(f"Secret of its signatures, shown now: {secret}")
        for hook in document.get("webhooks", ()):
            state = "ended" if hook["ended_at"] else "working"
            self.stdout.write(f"{hook['id']}\t{hook['url']}\t{to_words(hook['events'])}\t{state}")
        for one in document.get("deliveries", ()):
            fate = "delivered" if one["delivered_at"] else one["error"] or "waiting"
            self.stdout.write(f"{one['id']}\t{one['event']}\t{one['attempts']} attempts\t{fate}")


def find_webhook(pk: int, field: str) -> Webhook:
    hook = Webhook.objects.select_related("created_by").filter(pk=pk).first()
    if hook is None:
        raise InputError("There is no webhook {pk}.", field=field, pk=pk)
    return hook


def try_webhook(hook: Webhook) -> dict[str, object]:
    """A message sent by this process itself."""
    with audit_batch():
        made = webhooks.send_test_message(by=hook.created_by, webhook=hook)
    webhooks.deliver(made.pk)
    made.refresh_from_db()
    return describe_delivery(made)


def describe_delivery(one: WebhookDelivery) -> dict[str, object]:
    named = {name: getattr(one, name) for name in ("event", "subject", "attempts", "status", "error")}
    at = one.delivered_at.isoformat() if one.delivered_at else None
    return {"id": one.pk, **named, "delivered_at": at}


def describe_webhook(hook: Webhook) -> dict[str, object]:
    ended = hook.ended_at.isoformat() if hook.ended_at else None
    return {"id": hook.pk, "url": hook.url, "events": hook.events, "ended_at": ended}
