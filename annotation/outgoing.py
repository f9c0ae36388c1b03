"""One request to an address that somebody gave: to the very address that was looked at, without following redirects."""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Mapping
from typing import Any

from annotation.addresses import Address, Rule, check, port_of, split

SECONDS = 10.0
MOST_READ = 10_000


class Pinned(http.client.HTTPConnection):
    """A connection to an address that is known already; the name is only what is asked for there."""

    def __init__(self, host: str, port: int, address: Address, *, context: ssl.SSLContext | None) -> None:
        super().__init__(host, port, timeout=SECONDS)
        self.address, self.context = address, context

    def connect(self) -> None:
        plain = socket.create_connection((str(self.address), self.port), SECONDS)
        self.sock: Any = self.context.wrap_socket(plain, server_hostname=self.host) if self.context else plain


def post(url: str, body: bytes, headers: Mapping[str, str], *, rule: Rule) -> int:
    """The status of the answer. Raises ForbiddenAddressError, or OSError and HTTPException where there is none."""
    parts, address = split(url), check(url, rule)
    assert address is not None  # the rule of webhooks always looks
    context = ssl.create_default_context() if parts.scheme == "https" else None
    connection = Pinned(str(parts.hostname), port_of(parts), address, context=context)
    try:
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("POST", path, body=body, headers=dict(headers))
        answer = connection.getresponse()
        answer.read(MOST_READ)
        return answer.status
    finally:
        connection.close()
