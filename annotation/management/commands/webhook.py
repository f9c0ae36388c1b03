"""`manage.py webhook`: have an address told of events; list, try and end webhooks."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from annotation.studies.models.webhooks import Webhook
from annotation.studies.services import webhooks
from core.accounts.models.users import User
from core.audit.log import audit_batch
from core.errors import InputError
from core.options.fields import split_names

MOST_SHOWN = 20


class Command(ConcordCommand):
    makes_roots = True
    help = "Have an address told of events and print the secret that signs the messages; list, try and end webhooks."
    example = "webhook --by rosa --url https://lab.example/hook --events run.finished study.finished"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--by", help="username of who makes it")
        parser.add_argument("--url", help="makes a webhook to this address")
        parser.add_argument("--events", nargs="+", default=[], help=f"among {', '.join(webhooks.EVENTS)}")
        parser.add_argument("--log", type=int, metavar="ID", help="what this webhook was told last")
        parser.add_argument("--ping", type=int, metavar="ID", help="send it a message now, to try it")
        parser.add_argument("--end", type=int, metavar="ID", help="tell it nothing more")

    def run(self, **options: Any) -> dict[str, object]:
        if options["url"]:
            if not options["by"]:
                raise InputError("Say who makes it.", field="by")
            by = User.objects.filter(username=options["by"], is_researcher=True).first()
            if by is None:
                raise InputError("There is no researcher called {options!r}.", field="by", options=options["by"])
            hook, secret = webhooks.make(by=by, url=options["url"], events=split_names(options["events"]))
            return {"secret": secret, "webhooks": [describe_webhook(hook)]}
        if options["end"] is not None:
            hook = find_webhook(options["end"], "end")
            webhooks.end(by=hook.created_by, webhook=hook)
            return {"webhooks": [describe_webhook(find_webhook(hook.pk, "end"))]}
        if options["ping"] is not None:
            return {"deliveries": [try_webhook(find_webhook(options["ping"], "ping"))]}
        if options["log"] is not None:
            return {"deliveries": log(find_webhook(options["log"], "log"))}
        return {"webhooks": [describe_webhook(hook) for hook in Webhook.objects.order_by("pk")]}

    def say(self, document: dict[str, Any]) -> None:
        if "secret" in document:
            self.stdout.write(f"Secret of its signatures, shown now: {document['secret']}")
        for hook in document.get("webhooks", []):
            state = "ended" if hook["ended_at"] else "working"
            self.stdout.write(f"{hook['id']}\t{hook['url']}\t{', '.join(hook['events'])}\t{state}")
        for one in document.get("deliveries", []):
            state = "delivered" if one["delivered_at"] else one["error"] or "waiting"
            self.stdout.write(f"{one['id']}\t{one['event']}\t{one['attempts']} attempts\t{state}")


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


def log(hook: Webhook) -> list[dict[str, object]]:
    return [describe_delivery(one) for one in hook.deliveries.order_by("-pk")[:MOST_SHOWN]]


def describe_delivery(one: Any) -> dict[str, object]:
    named = {name: getattr(one, name) for name in ("event", "subject", "attempts", "status", "error")}
    at = one.delivered_at.isoformat() if one.delivered_at else None
    return {"id": one.pk, **named, "delivered_at": at}


def describe_webhook(hook: Webhook) -> dict[str, object]:
    ended = hook.ended_at.isoformat() if hook.ended_at else None
    return {"id": hook.pk, "url": hook.url, "events": hook.events, "ended_at": ended}
