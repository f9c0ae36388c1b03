"""Who calls, accounts, what was done, webhooks, and the site itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from concord_client import types
from concord_client.transport import Transport


class Account(Transport):
    """Who calls, accounts, what was done, webhooks, and the site itself."""

    def acts(self, **query: Any) -> Iterator[types.Act]:
        """What researchers did, newest first; person, study, verb, since and until narrow it down."""
        return self.rows("acts", **query)

    def add_webhook(self, url: str, events: Sequence[str]) -> types.MadeWebhook:
        """With the secret of its signatures, which is not told again."""
        return cast(types.MadeWebhook, self.post("webhooks", {"url": url, "events": list(events)}))

    def me(self) -> types.Me:
        """Who is calling, and what the token allows."""
        return cast(types.Me, self.get("me"))

    def tokens(self) -> list[types.Token]:
        """One's own tokens."""
        return cast("list[types.Token]", self.get("tokens"))

    def revoke_token(self, number: int) -> None:
        """Revoke one of one's own tokens."""
        self.send("DELETE", f"tokens/{number}")

    def people(self, **query: Any) -> Iterator[types.Person]:
        """Accounts: people, and imported or simulated annotators."""
        return self.rows("people", **query)

    def erasure(self, username: str) -> types.Erasure:
        """What erasing an account would mean."""
        return cast(types.Erasure, self.get(f"people/{username}/erase"))

    def erase_person(self, username: str, confirm: str, *, notes: bool = False) -> types.Erasure:
        """Erase an account for good; `confirm` is its username once more."""
        return cast(types.Erasure, self.post(f"people/{username}/erase", {"confirm": confirm, "notes": notes}))

    def webhooks(self, **query: Any) -> Iterator[types.Webhook]:
        """Addresses that are told of events, ended ones too."""
        return self.rows("webhooks", **query)

    def webhook(self, number: int) -> types.Webhook:
        return cast(types.Webhook, self.get(f"webhooks/{number}"))

    def end_webhook(self, number: int) -> None:
        """Tell it nothing more."""
        self.send("DELETE", f"webhooks/{number}")

    def ping_webhook(self, number: int) -> types.Delivery:
        """Send it a message, to try it."""
        return cast(types.Delivery, self.post(f"webhooks/{number}/ping"))

    def deliveries(self, number: int, **query: Any) -> Iterator[types.Delivery]:
        """What a webhook was told, and what became of it."""
        return self.rows(f"webhooks/{number}/deliveries", **query)

    def system(self) -> types.System:
        """What waits, who works, and what needs somebody."""
        return cast(types.System, self.get("system"))
